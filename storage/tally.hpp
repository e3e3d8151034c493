// What one batch does to the counters of the queues that it touches.

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "storage/sqlite.hpp"
#include "tidegate/error.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"

namespace tidegate {

/// Checks once a batch and queue that the queue exists, counts its ended jobs
/// in memory, and writes one row for each queue at the end of the batch,
/// however many jobs ended.
class tally {
public:
  explicit tally(const sqlite::connection& db);

  /// Forgets everything: a batch begins.
  void clear();

  /// Returns whether `queue` exists.
  result<bool> knows(queue_id queue);

  /// Returns why `queue` cannot be changed, nothing where it exists.
  std::optional<error> require(queue_id queue);

  /// Counts a job that ended as `how`.
  /// @pre the queue exists
  void count(queue_id queue, job_status how);

  /// Takes jobs off that are not among the ended ones any more.
  /// @pre the queue exists where there are any
  void take_off(queue_id queue, std::uint64_t completed, std::uint64_t dead);

  /// Drops what was counted for a queue that is being removed.
  void drop(queue_id queue);

  /// Adds what was counted to the stored counters.
  std::optional<error> write();

private:
  struct counts {
    std::int64_t completed = 0;
    std::int64_t dead = 0;
  };

  std::unordered_map<queue_id, counts> touched_;
  sqlite::statement exists_;
  sqlite::statement add_;
};

} // namespace tidegate
