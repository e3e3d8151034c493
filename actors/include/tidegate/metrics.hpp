// Figures that tell how a service is doing, as plain values.

#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/event_stream.hpp"
#include "tidegate/job.hpp"
#include "tidegate/pull_settings.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"
#include "tidegate/view.hpp"

namespace tidegate {

/// Adds `more` to `sum`, number by number.
template <std::size_t N>
void add_to(std::array<std::uint64_t, N>& sum,
            const std::array<std::uint64_t, N>& more) {
  for (std::size_t i = 0; i < N; ++i)
    sum[i] += more[i];
}

/// How often spans fell into ranges. Counting one is a handful of comparisons.
struct latency_histogram {
  /// The longest span of each range. Unit: microseconds.
  static constexpr std::array<std::int64_t, 14> bounds = {
    500,     1'000,   2'500,     5'000,     10'000,     25'000,     50'000,
    100'000, 250'000, 1'000'000, 2'500'000, 10'000'000, 30'000'000, 120'000'000,
  };

  /// One for each range, and one for all that is longer.
  std::array<std::uint64_t, bounds.size() + 1> counts{};

  duration sum{0};

  /// Counts one span.
  void observe(duration span) {
    std::size_t i = 0;
    while (i < bounds.size() && span.count() > bounds[i])
      ++i;
    ++counts[i];
    sum += span;
  }

  /// Adds what another one counted.
  void add(const latency_histogram& more) {
    add_to(counts, more.counts);
    sum += more.sum;
  }

  bool operator==(const latency_histogram&) const = default;
};

/// What the webhook's answer meant, or that there was none.
enum class delivery_result : std::uint8_t {
  /// 2xx; in ack mode: it was taken in.
  success,
  failed,
  /// "Not now".
  deferred,
  /// Ended early by ourselves.
  aborted,
};

inline constexpr std::size_t delivery_results = 4;

/// Deliveries to a webhook.
struct delivery_counters {
  /// By result, then by the first digit of the status; 0: there was none.
  std::array<std::array<std::uint64_t, 6>, delivery_results> results{};

  /// Probes of the queue and of its limit keys, by verdict.
  std::array<std::uint64_t, 4> probes{};

  /// From the start of a POST to its end.
  latency_histogram latency;

  /// Counts a delivery that has ended.
  void count(delivery_result result, std::optional<std::uint16_t> status,
             duration took) {
    auto first = status ? std::min(*status / 100, 5) : 0;
    ++results[static_cast<std::size_t>(result)]
             [static_cast<std::size_t>(first)];
    latency.observe(took);
  }

  /// Counts a probe that has ended.
  void count(probe_verdict verdict) {
    ++probes[static_cast<std::size_t>(verdict)];
  }

  /// Adds what another one counted.
  void add(const delivery_counters& more) {
    for (std::size_t i = 0; i < delivery_results; ++i)
      add_to(results[i], more.results[i]);
    add_to(probes, more.probes);
    latency.add(more.latency);
  }

  bool operator==(const delivery_counters&) const = default;
};

/// What has happened on a queue since the process took it up. Plain numbers
/// that are counted where it happens.
struct queue_counters {
  delivery_counters deliveries;

  /// Jobs or messages that were stored, repeats of a key not counted.
  std::uint64_t published = 0;
  std::uint64_t completed = 0;

  /// Deliveries that ended in "not now", by the webhook's word or the worker's.
  std::uint64_t defers = 0;

  /// By `dead_reason`.
  std::array<std::uint64_t, 8> dead{};

  /// From the arrival of a publish to its commit.
  latency_histogram publish_latency;

  /// For how long the gate was not open, up to when it opened last.
  duration held{0};

  /// Adds what another one counted.
  void add(const queue_counters& more) {
    deliveries.add(more.deliveries);
    published += more.published;
    completed += more.completed;
    defers += more.defers;
    add_to(dead, more.dead);
    publish_latency.add(more.publish_latency);
    held += more.held;
  }

  bool operator==(const queue_counters&) const = default;
};

/// One queue, or several summed up.
struct queue_metrics {
  /// Empty where it is several.
  std::string project;
  std::string name;

  queue_kind kind = queue_kind::push;

  /// Of a pull queue: `pending` are the available messages, `scheduled` the
  /// delayed ones, and `processing` those in flight.
  queue_counts counts;

  /// Age of the oldest live job or message; of several queues, of the oldest.
  std::optional<duration> oldest_age;

  /// Of one queue whose gate is not open: since when, and its release time.
  std::optional<wall_time> shut_since{};
  std::optional<wall_time> held_until{};

  /// How many queues are in each state, by `gate_state`, and paused.
  std::array<std::uint64_t, 3> gates{};
  std::uint64_t paused = 0;

  /// `held` reaches up to now.
  queue_counters counters;

  /// Of pull queues, since they were made.
  pull_totals totals;

  /// Sums up; whose it is stays.
  void add(const queue_metrics& more);
};

/// What PERSISTENCE has done since the service was started.
struct commit_metrics {
  /// The largest batch of each range. Unit: records.
  static constexpr std::array<std::uint64_t, 8> batch_bounds = {
    1, 4, 16, 64, 256, 1024, 4096, 16'384};

  std::array<std::uint64_t, batch_bounds.size() + 1> batches{};
  std::uint64_t records = 0;

  /// Commits that failed.
  std::uint64_t failures = 0;

  latency_histogram latency;

  /// Records that wait for their commit now.
  std::uint64_t backlog = 0;
};

// -- to the METRICS actor -----------------------------------------------------

/// Asks for `service_metrics`. Fails with `overloaded` where too many ask at
/// once.
struct collect_metrics {
  /// None: of all projects.
  std::optional<std::string> project;

  /// Most queues with figures of their own; the others are summed up.
  std::size_t queues_max = 1000;
};

/// Answer to `collect_metrics`.
struct service_metrics {
  /// By project and name. Queues that are being recovered are left out.
  std::vector<queue_metrics> queues;

  /// All those beyond `queues_max`, by kind; none where there are none.
  std::optional<queue_metrics> other_push;
  std::optional<queue_metrics> other_pull;

  commit_metrics commits;
  event_figures events;

  /// Actors that run in the whole actor system.
  std::uint64_t actors = 0;
};

} // namespace tidegate
