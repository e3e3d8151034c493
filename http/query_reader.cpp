#include "http/query_reader.hpp"

#include <utility>

namespace tidegate::http {

namespace {

constexpr std::size_t shown_max = 80;

} // namespace

query_reader::query_reader(const std::vector<query_field>& fields)
  : fields_(fields), known_(fields.size()) {
  // nop
}

std::optional<std::string_view> query_reader::find(std::string_view name) {
  std::optional<std::string_view> result;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].first != name)
      continue;
    known_[i] = true;
    if (result)
      out_.add(std::string{name}, "is given more than once");
    result = fields_[i].second;
  }
  return result;
}

void query_reader::complain(std::string_view name, std::string_view wanted,
                            std::string_view value) {
  // What is pasted into the wrong place may be a key.
  constexpr std::string_view key_mark = "sq_live_";
  if (value.find(key_mark) != std::string_view::npos)
    value = "sq_live_***";
  std::string message{"must be "};
  message.append(wanted).append(", got '");
  message.append(value.substr(0, shown_max)).append("'");
  out_.add(std::string{name}, std::move(message));
}

complaints query_reader::finish() {
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (!known_[i])
      out_.add(fields_[i].first.substr(0, shown_max),
               "is not a known parameter");
  return std::move(out_);
}

} // namespace tidegate::http
