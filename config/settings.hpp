// Everything that can be set from outside when the server starts.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tidegate/error.hpp"

namespace tidegate::config {

/// How much is logged: each level includes the ones before it.
enum class log_level : std::uint8_t { error, warn, info, debug };

/// How a line of the log looks.
enum class log_format : std::uint8_t {
  /// One JSON object a line, for programs.
  json,
  /// Words, for people.
  text,
};

const char* to_string(log_level level);
const char* to_string(log_format format);

/// What `tidegate serve` runs with. A default-constructed value is what it
/// runs with where nothing is said.
struct settings {
  /// Address to accept connections on: an IP address, no name.
  std::string listen_host = "127.0.0.1";

  /// Port to accept connections on; 0 picks a free one.
  std::uint16_t listen_port = 8080;

  /// PEM files with the certificate, followed by its chain, and the key that
  /// the server speaks TLS with. Both empty: it does not.
  std::filesystem::path tls_cert;
  std::filesystem::path tls_key;

  /// Where queues, jobs and the first key are kept. Made if missing.
  std::filesystem::path data = "./data";

  /// Threads that run actors and sockets; 0: one for each core.
  std::uint32_t threads = 0;

  /// Networks in CIDR notation that webhooks may be in although they are not
  /// public. Empty: public addresses only.
  std::vector<std::string> allow_target;

  /// DNS servers that are asked for the addresses of webhooks, as `ADDR:PORT`.
  /// Empty: those of /etc/resolv.conf.
  std::vector<std::string> dns_server;

  /// PEM file of authorities that webhooks' certificates may come from besides
  /// the system's. Empty: the system's only.
  std::filesystem::path trusted_ca;

  /// Most deliveries in flight at once, over all queues; 0: no limit.
  std::uint32_t max_in_flight = 0;

  /// Most requests a second with one API key; 0: no limit.
  std::uint32_t max_request_rate = 0;

  /// Largest body of a request. Unit: bytes.
  std::uint64_t max_body = 1'048'576;

  /// Longest wait for running deliveries when the server stops.
  std::chrono::seconds drain_timeout{30};

  /// Webhook that alerts are sent to; empty: there are none.
  std::string alert_url;

  /// Whether jobs that were given up on are told.
  bool alert_dead = true;

  /// For how long a queue is held, and how old its oldest job is, before that
  /// is told; 0: never.
  std::chrono::seconds alert_held{900};
  std::chrono::seconds alert_age{0};

  /// How many live jobs a queue may have before that is told; 0: never.
  std::uint64_t alert_depth = 0;

  /// From one alert to the next of the same cause and queue at least.
  std::chrono::seconds alert_window{900};

  /// What discovery says that one publish costs. Unit: US dollars.
  double publish_price = 0;

  /// Most queues with metrics of their own; the others are summed up.
  std::uint32_t metrics_queues = 1000;

  /// Least important lines that are still logged.
  config::log_level log_level = config::log_level::info;

  /// How the lines look.
  config::log_format log_format = config::log_format::json;

  bool operator==(const settings&) const = default;
};

/// Returns what is wrong with `what`, one entry for each bad key, named as in
/// the config file. Whatever `parse_command_line` and `check_file` let through
/// is right; this is for settings that were put together by hand.
std::vector<field_error> validate(const settings& what);

} // namespace tidegate::config
