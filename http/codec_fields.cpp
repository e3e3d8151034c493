#include "http/codec_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include <nlohmann/json.hpp>

#include "http/iso8601.hpp"
#include "http/json_writer.hpp"
#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t name_shown_max = 120;

constexpr double pace_min = 0.1;
constexpr double pace_max = 10'000;

void complain_of_kind(std::string_view name, const char* wanted,
                      std::string_view token, complaints& out) {
  out.add(std::string{name}, std::string{"must be "} + wanted + ", got "
                               + to_string(kind_of(token)));
}

/// Returns the name that a key spells, as far as it can be shown.
std::string name_of(std::string_view key) {
  auto name = unquote(key).value_or(std::string{key});
  if (name.size() > name_shown_max)
    name.resize(name_shown_max);
  return name;
}

} // namespace

std::variant<json_outline, malformed, complaints>
outline_of(std::string_view body, unsigned depth_max) {
  if (body.empty())
    return malformed{"The body is empty, it must be a JSON object"};
  auto scanned = scan_json(body, depth_max);
  if (auto fault = std::get_if<json_fault>(&scanned))
    return malformed{std::string{"The body is not valid JSON: "} + fault->what
                     + " at byte " + std::to_string(fault->at)};
  auto& outline = std::get<json_outline>(scanned);
  if (outline.kind != json_kind::object)
    return complaints{{std::string{"The body must be an object, got "}
                       + to_string(outline.kind)},
                      {}};
  return std::move(outline);
}

std::optional<std::string> unquote(std::string_view token) {
  auto content = token.substr(1, token.size() - 2);
  if (content.find('\\') == std::string_view::npos)
    return std::string{content};
  auto json = nlohmann::json::parse(token, nullptr, false);
  if (!json.is_string())
    return std::nullopt;
  return std::move(json.get_ref<std::string&>());
}

double to_double(std::string_view token) {
  double result = 0;
  auto end = token.data() + token.size();
  if (std::from_chars(token.data(), end, result).ec == std::errc{})
    return result;
  // Too large or too small: only this one tells which.
  return std::strtod(std::string{token}.c_str(), nullptr);
}

std::string shorten(std::string_view token) {
  constexpr std::size_t shown_max = 40;
  if (token.size() <= shown_max)
    return std::string{token};
  auto end = shown_max;
  while ((static_cast<unsigned char>(token[end]) & 0xc0) == 0x80)
    --end;
  return std::string{token.substr(0, end)}.append("...");
}

std::optional<std::string>
read_string(std::string_view name, std::string_view token, complaints& out) {
  if (kind_of(token) != json_kind::string) {
    complain_of_kind(name, "a string", token, out);
    return std::nullopt;
  }
  auto result = unquote(token);
  if (!result)
    out.add(std::string{name}, "must not escape half a surrogate pair");
  return result;
}

std::optional<double> read_number(std::string_view name, std::string_view token,
                                  complaints& out) {
  if (kind_of(token) != json_kind::number) {
    complain_of_kind(name, "a number", token, out);
    return std::nullopt;
  }
  return to_double(token);
}

std::optional<std::uint64_t>
read_integer(std::string_view name, std::string_view token, complaints& out) {
  if (kind_of(token) != json_kind::number) {
    complain_of_kind(name, "an integer", token, out);
    return std::nullopt;
  }
  if (token.find_first_of(".eE") != std::string_view::npos) {
    out.add(std::string{name},
            "must be an integer without fraction or exponent, got "
              + shorten(token));
    return std::nullopt;
  }
  if (token == "-0")
    return 0;
  std::uint64_t value = 0;
  auto end = token.data() + token.size();
  if (std::from_chars(token.data(), end, value).ec != std::errc{})
    return std::numeric_limits<std::uint64_t>::max();
  return value;
}

std::optional<std::uint64_t>
read_integer(std::string_view name, std::string_view token, std::uint64_t min,
             std::uint64_t max, complaints& out) {
  auto value = read_integer(name, token, out);
  if (!value || (*value >= min && *value <= max))
    return value;
  out.add(std::string{name}, "must be " + std::to_string(min) + " to "
                               + std::to_string(max) + ", got "
                               + shorten(token));
  return std::nullopt;
}

std::optional<duration> read_seconds(std::string_view name,
                                     std::string_view token, double min,
                                     double max, complaints& out) {
  auto seconds = read_number(name, token, out);
  if (!seconds)
    return std::nullopt;
  if (*seconds >= min && *seconds <= max)
    return from_seconds(*seconds);
  out.add(std::string{name}, "must be " + json_writer{}.value(min).take()
                               + " to " + json_writer{}.value(max).take()
                               + ", got " + shorten(token));
  return std::nullopt;
}

std::optional<double> read_pace(std::string_view name, std::string_view token,
                                complaints& out) {
  auto value = read_number(name, token, out);
  if (!value || (*value >= pace_min && *value <= pace_max))
    return value;
  out.add(std::string{name}, "must be 0.1 to 10000, got " + shorten(token));
  return std::nullopt;
}

std::optional<bool> read_boolean(std::string_view name, std::string_view token,
                                 complaints& out) {
  if (kind_of(token) == json_kind::boolean)
    return token == "true";
  complain_of_kind(name, "a boolean", token, out);
  return std::nullopt;
}

std::optional<std::string> read_text(std::string_view name,
                                     std::string_view token, std::size_t min,
                                     std::size_t max, complaints& out) {
  auto text = read_string(name, token, out);
  if (!text)
    return std::nullopt;
  auto length = utf8_characters(*text);
  if (length >= min && length <= max)
    return text;
  auto range = min == 0 ? "at most " + std::to_string(max)
                        : std::to_string(min) + " to " + std::to_string(max);
  out.add(std::string{name},
          "must be " + range + " characters, got " + std::to_string(length));
  return std::nullopt;
}

std::optional<wall_time> read_time(std::string_view name,
                                   std::string_view token, complaints& out) {
  auto text = read_string(name, token, out);
  if (!text)
    return std::nullopt;
  if (auto at = parse_iso8601(*text))
    return at;
  out.add(std::string{name}, std::string{"must be "} + iso8601_form + ", got '"
                               + shorten(*text) + "'");
  return std::nullopt;
}

std::optional<std::vector<header>> read_headers(std::string_view token,
                                                complaints& out) {
  constexpr std::string_view name = "headers";
  auto parts = read_parts(name, token, json_kind::object, out);
  if (!parts)
    return std::nullopt;
  std::vector<header> result;
  for (const auto& part : *parts) {
    auto header_name = read_string(name, part.key, out);
    if (!header_name)
      return std::nullopt;
    auto full_name = "headers." + shorten(*header_name);
    auto value = read_string(full_name, part.value, out);
    if (!value)
      return std::nullopt;
    result.emplace_back(std::move(*header_name), std::move(*value));
  }
  return result;
}

std::optional<std::vector<json_part>>
read_parts(std::string_view name, std::string_view token, json_kind kind,
           complaints& out) {
  if (kind_of(token) != kind) {
    complain_of_kind(name, to_string(kind), token, out);
    return std::nullopt;
  }
  // How deep it may be was checked with the whole.
  constexpr auto any_depth = std::numeric_limits<unsigned>::max();
  return std::get<json_outline>(scan_json(token, any_depth)).parts;
}

void assign_fields(std::span<const json_part> object,
                   std::span<const std::string_view> names,
                   std::span<std::string_view> slots, std::string_view prefix,
                   complaints& out) {
  for (const auto& part : object) {
    auto bare = part.key.substr(1, part.key.size() - 2);
    auto i = std::find(names.begin(), names.end(), bare);
    std::string name;
    if (i == names.end()) {
      name = name_of(part.key);
      i = std::find(names.begin(), names.end(), name);
    }
    auto index = static_cast<std::size_t>(i - names.begin());
    if (i == names.end())
      out.add(std::string{prefix} + name, "is not a known field");
    else if (!slots[index].empty())
      out.add(std::string{prefix}.append(*i), "is given more than once");
    else
      slots[index] = part.value;
  }
}

std::string list_of(std::span<const char* const> words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0)
      result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

} // namespace tidegate::http
