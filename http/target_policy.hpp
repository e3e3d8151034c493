// Which addresses deliveries may go to.
//
// Whoever may set a webhook URL could otherwise make the server call its own
// neighbours: a metadata service, an admin page on loopback. The address that
// is about to be connected to is what is judged, on every new connection, so
// that neither DNS nor an odd spelling gets around it.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/ip_address.hpp"
#include "tidegate/error.hpp"

namespace tidegate::http {

/// All addresses that share the first `prefix` bits of `base`.
struct ip_network {
  ip_address base;
  int prefix = 0;

  bool contains(const ip_address& address) const;

  bool operator==(const ip_network&) const = default;
};

std::string to_string(const ip_network& network);

/// Reads `192.168.0.0/16`, `fc00::/7`, or a single address. Refuses, with a
/// sentence that names `text`, what is neither, a prefix that is too long, and
/// bits set behind the prefix.
result<ip_network> parse_ip_network(std::string_view text);

/// Public unicast addresses may be called, and whatever the operator listed.
/// Immutable after construction, so safe to use from several threads.
class target_policy {
public:
  target_policy() = default;

  /// Allows the networks in `allowed` on top of the public addresses.
  explicit target_policy(std::vector<ip_network> allowed);

  /// Returns nothing where `address` may be called, else what kind of address
  /// it is that is not public, e.g. `a loopback address`.
  ///
  /// An IPv6 address that wraps an IPv4 one (mapped, NAT64, 6to4, Teredo) is
  /// what the wrapped one is.
  std::optional<std::string> objection(const ip_address& address) const;

  /// Returns the sentence that refuses `host`, a URL's host without brackets,
  /// where none of its addresses may be called and no look-up is needed to
  /// know them (see `addresses_without_lookup`). Else nothing.
  std::optional<std::string> literal_objection(std::string_view host) const;

private:
  std::vector<ip_network> allowed_;
};

/// Returns the sentence that refuses a call to `address`, which is `kind`, and
/// names the setting that would allow it.
std::string blocked_text(const ip_address& address, std::string_view kind);

/// Returns the sentence that refuses `url` as a webhook: where it is no URL
/// that can be called, and where its host is a literal blocked address (see
/// `target_policy::literal_objection`). Else nothing.
std::optional<std::string> complaint_about_webhook(const target_policy& policy,
                                                   std::string_view url);

} // namespace tidegate::http
