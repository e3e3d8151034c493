// Lives through a plan in virtual time.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/plan.hpp"
#include "tests/sim/tally.hpp"

namespace tidegate::sim {

/// What became of one variant of a plan. Every instant is counted from the
/// start of the plan.
struct outcome {
  std::string name;
  bool naive = false;

  // As the queue counts them.
  std::uint64_t published = 0;
  std::uint64_t completed = 0;
  std::uint64_t dead = 0;
  std::map<std::string, std::uint64_t> dead_by_reason;

  /// Deliveries that the queue took for real failures: each cost an attempt.
  std::uint64_t burned = 0;

  /// Neither completed nor dead when the plan was over.
  std::uint64_t unfinished = 0;

  // As the downstream counts them.
  std::uint64_t deliveries = 0;
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight_max = 0;
  std::optional<std::uint64_t> recovery_in_flight_max;
  std::optional<std::uint64_t> recovery_deliveries_max;

  /// Publishes that the queue refused.
  std::uint64_t publishes_refused = 0;

  /// When the last job ended; nothing where jobs were left.
  std::optional<duration> drained_at;

  /// From the last publish or the end of the last outage, whichever is later,
  /// to `drained_at`.
  std::optional<duration> drain;

  std::uint64_t holds = 0;
  std::uint64_t probes = 0;
  std::uint64_t key_holds = 0;
  duration shut{0};

  /// From publish to success, of all jobs and by stream.
  percentiles latency;
  std::vector<std::pair<std::string, percentiles>> streams;

  timeline times{duration{1}};
};

/// Runs the real actors with a memory store against the downstream of the plan.
/// The same arguments give the same outcome. Throws `std::runtime_error` where
/// the actors refuse what no plan may ask of them: a bug.
outcome simulate(const plan& what, const variant& which, std::uint64_t seed);

/// Returns how wide the spans of a plan's timeline are at first.
duration first_width(duration length);

} // namespace tidegate::sim
