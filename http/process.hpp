// The server as a process: threads, signals, start and stop in their order.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/keys.hpp"
#include "http/log.hpp"
#include "http/server.hpp"
#include "http/target_policy.hpp"
#include "tidegate/alert.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate::http {

/// What a server process is made of.
struct process_options {
  server_options server;

  /// Threads that run sockets and actors; at least 1.
  std::uint32_t threads = 1;

  /// Which addresses deliveries may go to.
  target_policy targets;

  /// See `client_options`.
  std::string trusted_ca_file;
  std::vector<std::string> dns_servers;

  /// Who may call the API besides those whose keys are stored.
  key_set keys;

  /// Most requests a second with one key; 0: no limit. See `key_ring`.
  std::uint32_t request_rate_max = 0;

  /// How long a stop waits for running deliveries.
  duration drain_timeout{};

  /// See `service_options`.
  std::uint64_t in_flight_max = 0;

  /// See `service_options`. Without `encode`, which is the codec's.
  std::optional<alert_options> alerts;

  /// See `api_options`.
  double publish_price = 0;

  std::unique_ptr<tidegate::store> store;

  /// What `store` keeps its data in, for the metrics.
  std::filesystem::path data_file;

  /// See `collect_metrics`.
  std::size_t metrics_queues = 1000;

  /// Called with the port once connections are accepted.
  std::function<void(std::uint16_t port)> on_listening;
};

/// Serves until SIGTERM or SIGINT; reads the certificate again at SIGHUP. Stops
/// in order: no new deliveries, running ones finish, then listener, gateways,
/// queues, persistence. A second signal ends the process at once, which loses
/// nothing that was acknowledged.
///
/// Must be called from the process' first thread, once. Returns the exit code:
/// 0, or 1 where it could not start, which the log explains.
int run_process(process_options options, log& out);

} // namespace tidegate::http
