// Counts what happens to one variant of a plan.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/downstream.hpp"
#include "tests/sim/plan.hpp"
#include "tests/sim/timeline.hpp"
#include "tidegate/event.hpp"

namespace tidegate::sim {

/// How a number of spans is spread, by nearest rank.
struct percentiles {
  std::uint64_t count = 0;
  duration p50{0};
  duration p90{0};
  duration p99{0};
  duration max{0};

  bool operator==(const percentiles&) const = default;
};

/// Returns the percentiles of `values`, whose order it changes.
percentiles percentiles_of(std::vector<duration>& values);

/// Follows a queue's gate and those of its limit keys by their events.
class gate_log {
public:
  void take(const service_event& event, duration at, timeline& times);

  /// The end: what is shut has been so until now.
  void finish(duration at, timeline& times);

  /// How often the queue's gate shut, was tested by a probe, and for how long
  /// it was not open.
  std::uint64_t holds = 0;
  std::uint64_t probes = 0;
  duration shut{0};

  /// The same of limit keys.
  std::uint64_t key_holds = 0;

private:
  void move_to(gate_state next, duration at, timeline& times);

  gate_state state_ = gate_state::open;
  duration since_{0};
  std::map<std::string, duration> keys_;
};

/// Every instant is counted from the start of the plan.
class tally {
public:
  /// `what` outlives the tally. `width`: see `timeline`.
  tally(const plan& what, duration width);

  /// A delivery began, `in_flight` being open with it.
  void delivery_began(const verdict& judged, duration at,
                      std::uint64_t in_flight);

  /// A job was published at `published` and has succeeded.
  void job_completed(std::size_t stream, duration published, duration at);

  void event_happened(const service_event& event, duration at);

  timeline times;
  gate_log gate;
  std::uint64_t deliveries = 0;
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight_max = 0;

  /// In the first second after each outage, counted from the first delivery
  /// that begins then: the most of them; nothing where there was none.
  std::optional<std::uint64_t> recovery_in_flight_max;
  std::optional<std::uint64_t> recovery_deliveries_max;

  /// When a job was completed or given up on last.
  duration last_end{0};

  /// From publish to success, by stream.
  std::vector<std::vector<duration>> latencies;

private:
  void watch_recovery(duration at, std::uint64_t in_flight);

  const plan& plan_;

  /// Outages that are over.
  std::size_t over_ = 0;
  std::optional<duration> recovering_since_;
  std::uint64_t recovering_ = 0;
};

} // namespace tidegate::sim
