#include "http/codec_pull_fields.hpp"

#include <algorithm>
#include <charconv>

namespace tidegate::http {

namespace {

constexpr std::size_t group_id_max = 128;
constexpr std::size_t deduplication_id_max = 128;
constexpr std::size_t headers_max = 32;
constexpr std::size_t header_name_max = 128;
constexpr std::size_t header_value_max = 4096;

std::optional<std::uint64_t> parse_whole(std::string_view token) {
  if (token == "-0")
    return 0;
  std::uint64_t value = 0;
  auto end = token.data() + token.size();
  auto [rest, failed] = std::from_chars(token.data(), end, value);
  if (failed != std::errc{} || rest != end)
    return std::nullopt;
  return value;
}

bool has_controls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

/// Returns what is wrong with a header, empty where nothing is.
std::string complaint_about(const header& h) {
  const auto& [name, value] = h;
  if (name.empty() || name.size() > header_name_max)
    return "must have names of 1 to 128 bytes, got "
           + std::to_string(name.size());
  if (value.size() > header_value_max)
    return "must have values of at most 4096 bytes, got "
           + std::to_string(value.size()) + " for '" + shorten(name) + "'";
  if (has_controls(name) || has_controls(value))
    return "must have no control characters";
  return {};
}

std::vector<header> read_message_headers(const std::string& name,
                                         std::string_view token,
                                         complaints& out) {
  complaints wrong;
  auto headers = read_headers(token, wrong);
  for (auto& x : wrong.fields)
    out.add(name + x.field.substr(std::string_view{"headers"}.size()),
            std::move(x.message));
  if (!headers)
    return {};
  if (headers->size() > headers_max)
    out.add(name, "must be at most 32, got " + std::to_string(headers->size()));
  for (auto i = headers->begin(); i != headers->end(); ++i) {
    if (auto complaint = complaint_about(*i); !complaint.empty())
      out.add(name, std::move(complaint));
    auto same = [i](const header& x) { return x.first == i->first; };
    if (std::any_of(headers->begin(), i, same))
      out.add(name, "must not name '" + shorten(i->first) + "' twice");
    if (out.fields.size() >= headers_max)
      break;
  }
  return std::move(*headers);
}

std::string read_key(const std::string& name, std::string_view token,
                     complaints& out) {
  auto key = read_string(name, token, out);
  if (auto wrong = key ? complaint_about_key(*key) : std::nullopt)
    out.add(name, std::move(*wrong));
  return std::move(key).value_or(std::string{});
}

} // namespace

std::optional<std::string> complaint_about_key(std::string_view key) {
  if (!key.empty() && key.size() <= idempotency_key_max)
    return std::nullopt;
  return "must be 1 to " + std::to_string(idempotency_key_max) + " bytes, got "
         + std::to_string(key.size());
}

std::optional<std::uint64_t>
read_whole(std::string_view name, std::string_view token, std::uint64_t min,
           std::uint64_t max, complaints& out) {
  auto value = parse_whole(token);
  if (value && *value >= min && *value <= max)
    return value;
  out.add(std::string{name},
          "must be a whole number from " + std::to_string(min) + " to "
            + std::to_string(max) + ", got " + shorten(token));
  return std::nullopt;
}

std::optional<duration>
read_whole_seconds(std::string_view name, std::string_view token,
                   std::uint64_t min, std::uint64_t max, complaints& out) {
  auto value = read_whole(name, token, min, max, out);
  if (!value)
    return std::nullopt;
  return std::chrono::seconds{*value};
}

std::string read_queue_name(std::string_view name, std::string_view token,
                            complaints& out) {
  if (token.empty()) {
    out.add(std::string{name}, "is required");
    return {};
  }
  auto text = read_string(name, token, out);
  if (auto finding = text ? validate_queue_name(*text) : std::nullopt)
    out.add(std::string{name}, std::move(finding->message));
  return std::move(text).value_or(std::string{});
}

publish_message read_message(std::span<const std::string_view> slots,
                             const std::string& prefix, complaints& out) {
  namespace field = message_field;
  auto name = [&](field::field f) {
    return prefix + std::string{field::names[f]};
  };
  publish_message result;
  auto content = slots[field::payload];
  if (content.empty())
    out.add(name(field::payload), "is required");
  else if (kind_of(content) == json_kind::null)
    out.add(name(field::payload), "must be any JSON value but null");
  if (auto token = slots[field::delay_seconds]; !token.empty())
    result.delay = read_whole_seconds(name(field::delay_seconds), token, 0,
                                      message_delay_max, out);
  if (auto token = slots[field::priority]; !token.empty())
    if (auto value = read_whole(name(field::priority), token, 0, priority_max,
                                out))
      result.priority = static_cast<std::uint8_t>(*value);
  if (auto token = slots[field::headers]; !token.empty())
    result.headers = read_message_headers(name(field::headers), token, out);
  if (auto token = slots[field::idempotency_key]; !token.empty())
    result.idempotency_key = read_key(name(field::idempotency_key), token, out);
  if (auto token = slots[field::message_group_id]; !token.empty())
    result.group = read_text(name(field::message_group_id), token, 1,
                             group_id_max, out)
                     .value_or(std::string{});
  if (auto token = slots[field::deduplication_id]; !token.empty()) {
    if (!result.idempotency_key.empty())
      out.add(name(field::deduplication_id),
              "cannot be given together with idempotency_key");
    result.idempotency_key = read_text(name(field::deduplication_id), token, 1,
                                       deduplication_id_max, out)
                               .value_or(std::string{});
    result.deduplicates = true;
  }
  if (out.empty())
    result.payload = payload{std::string{content}};
  return result;
}

} // namespace tidegate::http
