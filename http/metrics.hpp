// Metrics in the text format of Prometheus.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/process_figures.hpp"
#include "tidegate/metrics.hpp"

namespace tidegate::http {

/// The media type of what `print_metrics` prints.
inline constexpr char metrics_type[] =
  "text/plain; version=0.0.4; charset=utf-8";

/// What is told about the server besides its queues.
struct server_figures {
  process_figures process;
  std::uint64_t connections = 0;

  /// Of the data file and of its write-ahead log.
  std::uint64_t data_bytes = 0;
  std::uint64_t wal_bytes = 0;
};

/// Prints Prometheus' text format, version 0.0.4. Without `server` only what is
/// known of the queues: for those who may not see the rest.
///
/// What a queue has with labels besides its name is left out where it is 0, but
/// for one series of each metric.
std::string print_metrics(const service_metrics& what,
                          const std::optional<server_figures>& server);

} // namespace tidegate::http
