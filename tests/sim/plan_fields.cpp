#include "tests/sim/plan_fields.hpp"

#include <algorithm>
#include <fstream>

#include "http/json_writer.hpp"
#include "http/printable.hpp"

namespace tidegate::sim {

namespace {

constexpr std::size_t name_max = 120;

/// Whether a terminal shows the text as it is, and XML can have it (XML 1.0,
/// section 2.2).
bool is_plain(const std::string& text) {
  return http::is_printable(text)
         && text.find("\xEF\xBF\xBE") == std::string::npos
         && text.find("\xEF\xBF\xBF") == std::string::npos;
}

std::string print(double number) {
  return http::json_writer{}.value(number).take();
}

} // namespace

object_reader::object_reader(std::string path, std::string_view token,
                             std::initializer_list<std::string_view> names,
                             http::complaints& out)
  : path_(std::move(path)), names_(names), slots_(names_.size()), out_(out) {
  auto name = path_.empty() ? std::string{"the plan"} : path_;
  auto parts = http::read_parts(name, token, http::json_kind::object, out_);
  if (!path_.empty())
    path_ += '.';
  if (parts)
    http::assign_fields(*parts, names_, slots_, path_, out_);
}

std::string_view object_reader::raw(std::string_view name) const {
  auto i = std::find(names_.begin(), names_.end(), name);
  return slots_.at(static_cast<std::size_t>(i - names_.begin()));
}

std::string object_reader::path_of(std::string_view name) const {
  return path_ + std::string{name};
}

void object_reader::require(std::string_view name) {
  if (!has(name))
    out_.add(path_of(name), "is required");
}

std::string object_reader::text(std::string_view name, std::string fallback) {
  if (!has(name))
    return fallback;
  auto value = http::read_text(path_of(name), raw(name), 1, name_max, out_);
  if (!value)
    return fallback;
  if (is_plain(*value))
    return *std::move(value);
  out_.add(path_of(name), "must have no characters that only control, got "
                            + http::shorten(raw(name)));
  return fallback;
}

duration object_reader::seconds(std::string_view name, duration fallback,
                                double min, double max) {
  if (!has(name))
    return fallback;
  return http::read_seconds(path_of(name), raw(name), min, max, out_)
    .value_or(fallback);
}

double object_reader::number(std::string_view name, double fallback, double min,
                             double max) {
  if (!has(name))
    return fallback;
  auto value = http::read_number(path_of(name), raw(name), out_);
  if (!value)
    return fallback;
  if (*value >= min && *value <= max)
    return *value;
  out_.add(path_of(name), "must be " + print(min) + " to " + print(max)
                            + ", got " + http::shorten(raw(name)));
  return fallback;
}

std::uint64_t object_reader::integer(std::string_view name,
                                     std::uint64_t fallback, std::uint64_t min,
                                     std::uint64_t max) {
  if (!has(name))
    return fallback;
  return http::read_integer(path_of(name), raw(name), min, max, out_)
    .value_or(fallback);
}

bool object_reader::flag(std::string_view name, bool fallback) {
  if (!has(name))
    return fallback;
  return http::read_boolean(path_of(name), raw(name), out_).value_or(fallback);
}

std::vector<std::pair<std::string, std::string_view>>
object_reader::elements(std::string_view name, std::size_t max) {
  std::vector<std::pair<std::string, std::string_view>> result;
  if (!has(name))
    return result;
  auto path = path_of(name);
  auto parts = http::read_parts(path, raw(name), http::json_kind::array, out_);
  if (!parts)
    return result;
  if (parts->size() > max) {
    out_.add(path, "must be at most " + std::to_string(max) + " elements, got "
                     + std::to_string(parts->size()));
    return result;
  }
  for (std::size_t i = 0; i < parts->size(); ++i)
    result.emplace_back(path + "[" + std::to_string(i) + "]",
                        (*parts)[i].value);
  return result;
}

std::optional<std::string> read_file(const std::filesystem::path& file,
                                     std::size_t bytes_max) {
  std::ifstream in{file, std::ios::binary};
  if (!in || std::filesystem::is_directory(file))
    return std::nullopt;
  std::string result;
  char block[65'536];
  while (in.read(block, sizeof block), in.gcount() > 0) {
    result.append(block, static_cast<std::size_t>(in.gcount()));
    if (result.size() > bytes_max)
      return std::nullopt;
  }
  return result;
}

} // namespace tidegate::sim
