#include "http/cursor.hpp"

#include <algorithm>

#include "http/base64.hpp"
#include "http/keys.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t check_bytes = 8;

/// Also the version: a cursor of another kind has another check.
constexpr std::string_view purpose = "tidegate queues 1:";

std::string check_of(std::string_view name) {
  auto digest = digest_of(std::string{purpose}.append(name));
  return {digest.begin(), digest.begin() + check_bytes};
}

} // namespace

// The alphabet is that of RFC 4648, section 5, without padding.

std::string make_queue_cursor(std::string_view name) {
  auto text = to_base64(check_of(name).append(name));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> read_queue_cursor(std::string_view cursor) {
  if (cursor.find_first_of("+/=") != std::string_view::npos)
    return std::nullopt;
  std::string text{cursor};
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  auto bytes = from_base64(text);
  if (!bytes || bytes->size() < check_bytes)
    return std::nullopt;
  auto name = bytes->substr(check_bytes);
  if (bytes->compare(0, check_bytes, check_of(name)) != 0)
    return std::nullopt;
  return name;
}

} // namespace tidegate::http
