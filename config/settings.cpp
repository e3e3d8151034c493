#include "config/settings.hpp"

#include "config/keys.hpp"

namespace tidegate::config {

const char* to_string(log_level level) {
  switch (level) {
    case log_level::error:
      return "error";
    case log_level::warn:
      return "warn";
    case log_level::info:
      return "info";
    case log_level::debug:
      return "debug";
  }
  return "unknown";
}

const char* to_string(log_format format) {
  switch (format) {
    case log_format::json:
      return "json";
    case log_format::text:
      return "text";
  }
  return "unknown";
}

std::vector<field_error> validate(const settings& what) {
  std::vector<field_error> result;
  for (const auto& entry : keys()) {
    // What can be written down and read again is within bounds, so that the
    // bounds stand in one place.
    settings scratch;
    if (auto refusal = entry.read(entry.show(what), scratch))
      result.push_back({entry.name, std::move(*refusal)});
  }
  return result;
}

} // namespace tidegate::config
