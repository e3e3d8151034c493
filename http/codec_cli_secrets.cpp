// What may be secret in an answer, hidden from whoever it is shown to.

#include <nlohmann/json.hpp>

#include "actors/core/shown_url.hpp"
#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"
#include "http/json_scan.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;

constexpr unsigned depth_max = 256;

constexpr char hidden[] = R"("***")";

/// Prints an object with `change(name, value)` in place of each value; what is
/// no object as it is.
template <class F>
std::string map_members(std::string_view text, F change) {
  auto scanned = scan_json(text, depth_max);
  auto* outline = std::get_if<json_outline>(&scanned);
  if (outline == nullptr || outline->kind != json_kind::object)
    return std::string{text};
  std::string result{"{"};
  for (const auto& [key, value] : outline->parts) {
    if (result.size() > 1)
      result += ',';
    result.append(key).append(":").append(change(key, value));
  }
  return result + '}';
}

std::string hide_url(std::string_view value) {
  auto url = json::parse(value, nullptr, false);
  if (!url.is_string())
    return std::string{value};
  json_writer out;
  out.value(shown_url(url.get_ref<const std::string&>()));
  return out.take();
}

} // namespace

std::string without_secrets(std::string_view object) {
  return map_members(object, [](auto key, auto value) {
    if (key == R"("webhookUrl")")
      return hide_url(value);
    if (key == R"("headers")")
      return map_members(value, [](auto, auto) { return hidden; });
    return std::string{value};
  });
}

} // namespace tidegate::http
