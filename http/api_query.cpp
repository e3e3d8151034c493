#include "http/api_query.hpp"

#include <array>
#include <charconv>

#include "http/codec.hpp"
#include "http/codec_fields.hpp"
#include "http/iso8601.hpp"
#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t limit_max = 1000;

std::optional<std::size_t> parse_limit(std::string_view text) {
  std::size_t value = 0;
  auto end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || rest != end || value < 1 || value > limit_max)
    return std::nullopt;
  return value;
}

template <class T, std::size_t N>
std::optional<T> read_one_of(query_reader& query, std::string_view name,
                             const std::array<T, N>& choices) {
  auto text = query.find(name);
  if (!text)
    return std::nullopt;
  std::array<const char*, N> words;
  for (std::size_t i = 0; i < N; ++i) {
    words[i] = to_string(choices[i]);
    if (*text == words[i])
      return choices[i];
  }
  query.complain(name, list_of(words), *text);
  return std::nullopt;
}

std::optional<std::string> read_limit_key(query_reader& query) {
  auto text = query.find("limitKey");
  if (!text)
    return std::nullopt;
  if (!text->empty() && is_utf8(*text)
      && utf8_characters(*text) <= limit_key_max)
    return std::string{*text};
  query.complain("limitKey", "1 to 128 characters of UTF-8", *text);
  return std::nullopt;
}

std::string read_idempotency_key(query_reader& query) {
  auto text = query.find("idempotencyKey");
  if (!text)
    return {};
  if (text->empty() || text->size() > idempotency_key_max)
    query.complain("idempotencyKey", "1 to 255 bytes", *text);
  return std::string{*text};
}

bool includes_payload(query_reader& query) {
  auto text = query.find("include");
  if (text && *text != "payload")
    query.complain("include", "payload", *text);
  return text.has_value();
}

constexpr std::string_view cursor_form = "the nextCursor of an earlier page";

} // namespace

std::size_t read_limit(query_reader& query, std::size_t otherwise) {
  auto text = query.find("limit");
  if (!text)
    return otherwise;
  auto limit = parse_limit(*text);
  if (!limit)
    query.complain("limit", "1 to 1000", *text);
  return limit.value_or(otherwise);
}

std::optional<std::string> read_cursor(query_reader& query,
                                       const list_name& list) {
  auto text = query.find("cursor");
  if (!text)
    return std::nullopt;
  auto position = read_cursor(list, *text);
  if (!position)
    query.complain("cursor", cursor_form, *text);
  return position;
}

std::optional<std::uint64_t> read_number_cursor(query_reader& query,
                                                const list_name& list) {
  auto text = query.find("cursor");
  if (!text)
    return std::nullopt;
  auto position = read_number_cursor(list, *text);
  if (!position)
    query.complain("cursor", cursor_form, *text);
  return position;
}

bool read_flag(query_reader& query, std::string_view name) {
  auto text = query.find(name);
  if (text && *text != "true" && *text != "false")
    query.complain(name, "true or false", *text);
  return text && *text == "true";
}

std::optional<wall_time> read_instant(query_reader& query,
                                      std::string_view name) {
  auto text = query.find(name);
  if (!text)
    return std::nullopt;
  auto at = parse_iso8601(*text);
  if (!at)
    query.complain(name, iso8601_form, *text);
  return at;
}

std::optional<std::int64_t> read_day(query_reader& query,
                                     std::string_view name) {
  auto text = query.find(name);
  if (!text)
    return std::nullopt;
  auto day = parse_day(*text);
  if (!day)
    query.complain(name, "a day like 2026-01-31", *text);
  return day;
}

std::optional<usage_by> read_usage_by(query_reader& query) {
  return read_one_of(query, "by",
                     std::array{usage_by::queue, usage_by::key, usage_by::day});
}

job_filter read_filter(query_reader& query) {
  job_filter result;
  result.status = read_one_of(query, "status", job_statuses);
  result.limit_key = read_limit_key(query);
  result.reason = read_one_of(query, "reason", dead_reasons);
  result.since = read_instant(query, "since");
  result.until = read_instant(query, "until");
  return result;
}

list_jobs read_list_jobs(query_reader& query, const list_name& list) {
  list_jobs result;
  result.filter = read_filter(query);
  result.dead_letters = list.kind == list_kind::dead_letters;
  result.idempotency_key = read_idempotency_key(query);
  result.limit = read_limit(query);
  if (auto before = read_number_cursor(query, list))
    result.before = job_seq{*before};
  result.payloads = includes_payload(query);
  return result;
}

} // namespace tidegate::http
