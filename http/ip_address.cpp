#include "http/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace tidegate::http {

namespace {

// Returns the number that one part of an inet_aton address spells.
std::optional<std::uint64_t> parse_part(std::string_view text) {
  auto base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  auto last = text.data() + text.size();
  auto [end, failure] = std::from_chars(text.data(), last, value, base);
  if (failure != std::errc{} || end != last)
    return std::nullopt;
  return value;
}

std::optional<ip_address> parse_inet_aton(std::string_view text) {
  std::uint64_t number = 0;
  for (auto bits_left = 32; bits_left > 0; bits_left -= 8) {
    auto dot = text.find('.');
    auto part = parse_part(text.substr(0, dot));
    if (!part)
      return std::nullopt;
    if (dot == std::string_view::npos) {
      if (*part >> bits_left != 0)
        return std::nullopt;
      return make_v4(static_cast<std::uint32_t>(number << bits_left | *part));
    }
    if (*part > 0xff)
      return std::nullopt;
    number = number << 8 | *part;
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view name = "localhost";
  if (host.ends_with('.'))
    host.remove_suffix(1);
  if (host.size() < name.size())
    return false;
  auto above = host.size() - name.size();
  auto same_letter = [](char x, char y) { return (x | 0x20) == y; };
  return std::equal(name.begin(), name.end(), host.begin() + above,
                    [&](char y, char x) { return same_letter(x, y); })
         && (above == 0 || host[above - 1] == '.');
}

} // namespace

ip_address make_v4(std::uint32_t number) {
  ip_address result;
  for (auto i = 0; i < 4; ++i)
    result.bytes[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return result;
}

std::uint32_t v4_number(const ip_address& address) {
  std::uint32_t result = 0;
  for (auto i = 0; i < 4; ++i)
    result = result << 8 | address.bytes[i];
  return result;
}

std::string to_string(const ip_address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(address.is_v4 ? AF_INET : AF_INET6, address.bytes.data(), text,
            sizeof(text));
  return text;
}

std::optional<ip_address> parse_ip_address(std::string_view text) {
  // inet_pton wants a terminated string; what has a NUL inside is no address.
  std::string terminated{text};
  if (terminated.find('\0') != std::string::npos)
    return std::nullopt;
  ip_address result;
  result.is_v4 = text.find(':') == std::string_view::npos;
  if (inet_pton(result.is_v4 ? AF_INET : AF_INET6, terminated.c_str(),
                result.bytes.data())
      != 1)
    return std::nullopt;
  return result;
}

std::optional<ip_address> parse_literal_host(std::string_view host) {
  if (host.ends_with('.'))
    host.remove_suffix(1);
  if (auto strict = parse_ip_address(host))
    return strict;
  return parse_inet_aton(host);
}

std::vector<ip_address> addresses_without_lookup(std::string_view host) {
  if (is_localhost(host))
    return {*parse_ip_address("::1"), *parse_ip_address("127.0.0.1")};
  if (auto literal = parse_literal_host(host))
    return {*literal};
  return {};
}

} // namespace tidegate::http
