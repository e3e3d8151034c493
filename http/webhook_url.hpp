// A webhook's URL, taken apart into what a connection and a request need.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/ip_address.hpp"
#include "tidegate/error.hpp"

namespace tidegate::http {

/// Parts of an `http` or `https` URL (RFC 3986).
struct webhook_url {
  /// Whether the scheme is `https`.
  bool tls = false;

  /// A name in lower case or an address without brackets.
  std::string host;

  std::uint16_t port = 80;

  /// What stands in the request line: path and query, at least `/`.
  std::string target;

  /// What stands in the `Host` field: brackets around IPv6, the port where it
  /// is not the scheme's own.
  std::string authority;

  /// Key of the connections that can be shared: scheme, host and port.
  std::string origin;
};

/// Longest URL that is taken, in bytes.
inline constexpr std::size_t webhook_url_max = 2048;

/// Reads `url`. The error's message is one sentence that says what is wrong.
///
/// A fragment is dropped. Refused are other schemes, user-info, an empty or
/// percent-encoded host, zone ids, port 0 and names outside of ASCII: who has
/// an internationalised name gives its `xn--` form.
result<webhook_url> parse_webhook_url(std::string_view url);

} // namespace tidegate::http
