// Looks names up in /etc/hosts and by DNS.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/ip_address.hpp"
#include "tidegate/error.hpp"

namespace tidegate::http {

/// What a name resolves to: addresses in the order to try them, or why there
/// are none, for people.
struct lookup_result {
  std::vector<ip_address> addresses;
  std::string error;
};

/// Takes the result of a look-up.
using lookup_callback = std::function<void(lookup_result)>;

struct dns_options {
  /// Whom to ask: literal addresses with their ports, `192.0.2.1:53` or
  /// `[2001:db8::1]:53`, at most 8. Empty: those that `resolv_conf` names.
  std::vector<std::string> servers;

  /// The file of resolv.conf(5), which is read again when it has changed, and
  /// the port of the servers in there.
  std::string resolv_conf = "/etc/resolv.conf";
  std::uint16_t port = 53;

  /// How long a server is waited for; the second time twice as long.
  std::chrono::milliseconds timeout{2000};

  /// How often each server is asked.
  int tries = 2;

  /// Most addresses that are taken of one answer.
  std::size_t addresses_max = 64;
};

/// A client of DNS (RFC 1034, 1035) on top of c-ares, with a thread of its own
/// that never blocks for longer than it takes to read `/etc/hosts`. As many
/// look-ups are under way as are asked for, and a server that is dead holds up
/// none but its own.
class dns_client {
public:
  /// The error says what is wrong with `options`.
  static result<std::shared_ptr<dns_client>> make(dns_options options);

  dns_client(const dns_client&) = delete;

  dns_client& operator=(const dns_client&) = delete;

  /// Ends the look-ups that are under way with an error, and does not wait
  /// until they have heard of it.
  ~dns_client();

  /// Starts to look `host` up, IPv4 and IPv6 alike; addresses come in the order
  /// of RFC 6724. Any thread. `done` runs once, on the client's thread; it must
  /// be quick and must not throw.
  void look_up(const std::string& host, lookup_callback done);

private:
  class loop;

  explicit dns_client(std::shared_ptr<loop> what);

  std::shared_ptr<loop> loop_;
};

} // namespace tidegate::http
