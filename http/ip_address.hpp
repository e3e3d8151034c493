// An IP address as a value, and every way in which people spell one.

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::http {

/// An IPv4 or IPv6 address. A scope id (`%eth0`) is not part of it.
struct ip_address {
  /// In network order; the first four count where `is_v4`, the rest are 0.
  std::array<std::uint8_t, 16> bytes{};
  bool is_v4 = true;

  auto operator<=>(const ip_address&) const = default;
};

/// Returns the IPv4 address whose number is `number`: 127.0.0.1 is 0x7f000001.
ip_address make_v4(std::uint32_t number);

/// @pre `address.is_v4`
std::uint32_t v4_number(const ip_address& address);

/// Prints `192.0.2.1` or `2001:db8::1` (RFC 5952), without brackets.
std::string to_string(const ip_address& address);

/// Returns the address that `text` spells in the strict form: four decimal
/// parts, or RFC 4291 without brackets.
std::optional<ip_address> parse_ip_address(std::string_view text);

/// Returns the address that a resolver would take `host` for without asking
/// anybody: the strict forms and those of `inet_aton`, that is one to four
/// parts in decimal, octal (`0177`) or hexadecimal (`0x7f`) of which the last
/// fills the remaining bytes. One trailing dot is ignored. `host` has no
/// brackets.
std::optional<ip_address> parse_literal_host(std::string_view host);

/// Returns the addresses of `host` where they are known without a look-up: the
/// literal forms above, and both loopback addresses for `localhost` and names
/// below it (RFC 6761 section 6.3). Else empty.
std::vector<ip_address> addresses_without_lookup(std::string_view host);

} // namespace tidegate::http
