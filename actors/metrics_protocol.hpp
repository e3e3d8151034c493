// What the METRICS actor asks, and what is counted for it.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/metrics.hpp"

namespace tidegate {

/// Asks a queue for `queue_metrics`, without its name and project. Fails while
/// it is being recovered.
struct get_queue_metrics {};

/// A queue as METRICS sees it.
using queue_meter =
  caf::typed_actor<caf::replies_to<get_queue_metrics>::with<queue_metrics>>;

/// Asks REGISTRY for the meters of all queues.
struct list_meters {};

struct meter_list {
  struct item {
    std::string project;
    std::string name;
    queue_meter meter;
  };

  /// By project and name.
  std::vector<item> items;
};

using meter_directory =
  caf::typed_actor<caf::replies_to<list_meters>::with<meter_list>>;

/// Counts commits. PERSISTENCE writes, anybody reads: so that it can be read
/// while a commit hangs on the disk.
class commit_counters {
public:
  /// A commit of so many records has succeeded. One thread at a time.
  void count(std::size_t records, duration took);

  /// One has failed.
  void count_failure();

  /// Any thread. Numbers that belong together may be one commit apart.
  commit_metrics read() const;

private:
  using number = std::atomic<std::uint64_t>;

  std::array<number, commit_metrics::batch_bounds.size() + 1> batches_{};
  std::array<number, latency_histogram::bounds.size() + 1> latencies_{};
  number micros_{0};
  number records_{0};
  number failures_{0};
};

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_queue_metrics)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_metrics)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_meters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::meter_list)
