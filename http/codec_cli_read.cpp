#include "http/codec_cli_read.hpp"

#include <nlohmann/json.hpp>

#include "http/cli_text.hpp"
#include "http/iso8601.hpp"
#include "http/json_scan.hpp"

namespace tidegate::http {

using nlohmann::json;

namespace {

constexpr unsigned raw_depth_max = 256;

} // namespace

error not_tidegate() {
  return {errc::validation_failed,
          "the answer is not that of a Tidegate server"};
}

result<json> read_object(std::string_view body) {
  auto document = json::parse(body, nullptr, false);
  if (!document.is_object())
    return not_tidegate();
  return document;
}

const json& member_of(const json& object, const char* name) {
  static const json nothing;
  if (!object.is_object())
    return nothing;
  auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::string_view raw_member(std::string_view object, std::string_view name) {
  auto scanned = scan_json(object, raw_depth_max);
  if (auto* outline = std::get_if<json_outline>(&scanned))
    for (const auto& part : outline->parts)
      if (part.key.size() == name.size() + 2
          && part.key.substr(1, name.size()) == name)
        return part.value;
  return {};
}

std::vector<std::string_view> raw_elements(std::string_view array) {
  std::vector<std::string_view> result;
  auto scanned = scan_json(array, raw_depth_max);
  if (auto* outline = std::get_if<json_outline>(&scanned))
    for (const auto& part : outline->parts)
      result.push_back(part.value);
  return result;
}

std::string text_of(const json& value) {
  if (value.is_null())
    return {};
  if (value.is_string())
    return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string cell_of(const json& value) {
  auto text = text_of(value);
  return text.empty() ? "-" : text;
}

std::uint64_t count_of(const json& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::optional<wall_time> time_of(const json& value) {
  if (!value.is_string())
    return std::nullopt;
  return parse_iso8601(value.get_ref<const std::string&>());
}

std::string age_cell(const json& value, wall_time now) {
  auto at = time_of(value);
  return at ? print_span(now - *at) : "-";
}

std::string gate_cell(const json& gate, wall_time now) {
  auto state = cell_of(member_of(gate, "state"));
  auto release = time_of(member_of(gate, "releaseAt"));
  if (state != "held" || !release)
    return state;
  return "held (" + print_span(*release - now) + ')';
}

} // namespace tidegate::http
