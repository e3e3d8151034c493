#include "http/cursor.hpp"

#include <algorithm>
#include <charconv>

#include "http/base64.hpp"
#include "http/keys.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t check_bytes = 8;

/// Also the version: a cursor of another kind has another check.
std::string_view purpose_of(list_kind kind) {
  switch (kind) {
    case list_kind::queues:
      return "tidegate queues 2:";
    case list_kind::jobs:
      return "tidegate jobs 2:";
    case list_kind::dead_letters:
      return "tidegate dead letters 2:";
    case list_kind::limit_keys:
      return "tidegate limit keys 2:";
    case list_kind::operations:
      return "tidegate operations 2:";
    case list_kind::api_keys:
      return "tidegate api keys 2:";
    case list_kind::pull_queues:
      return "tidegate pull queues 2:";
    case list_kind::dead_messages:
      return "tidegate dead messages 2:";
  }
  return "tidegate:";
}

/// Names have no slash in them, so no two lists share a check.
std::string check_of(const list_name& list, std::string_view position) {
  std::string text{purpose_of(list.kind)};
  text.append(list.project).append("/").append(list.queue).append("/");
  auto digest = digest_of(text.append(position));
  return {digest.begin(), digest.begin() + check_bytes};
}

} // namespace

// The alphabet is that of RFC 4648, section 5, without padding.

std::string make_cursor(const list_name& list, std::string_view position) {
  auto text = to_base64(check_of(list, position).append(position));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> read_cursor(const list_name& list,
                                       std::string_view cursor) {
  if (cursor.find_first_of("+/=") != std::string_view::npos)
    return std::nullopt;
  std::string text{cursor};
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  auto bytes = from_base64(text);
  if (!bytes || bytes->size() < check_bytes)
    return std::nullopt;
  auto position = bytes->substr(check_bytes);
  if (bytes->compare(0, check_bytes, check_of(list, position)) != 0)
    return std::nullopt;
  return position;
}

std::string make_cursor(const list_name& list, std::uint64_t position) {
  return make_cursor(list, std::to_string(position));
}

std::optional<std::uint64_t> read_number_cursor(const list_name& list,
                                                std::string_view cursor) {
  auto position = read_cursor(list, cursor);
  if (!position)
    return std::nullopt;
  std::uint64_t value = 0;
  auto end = position->data() + position->size();
  auto [rest, code] = std::from_chars(position->data(), end, value);
  if (code != std::errc{} || rest != end)
    return std::nullopt;
  return value;
}

} // namespace tidegate::http
