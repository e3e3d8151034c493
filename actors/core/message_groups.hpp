// The groups of a fifo queue that wait for one of their messages.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/core/due_heap.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Knows which lanes of a heap are shut because one of their messages is out,
/// or is to be received again later: within a group there is never more than
/// one under way, and none overtakes another.
class message_groups {
public:
  /// A message of the group is out.
  void shut(lane_id group, job_seq message, due_heap& jobs);

  /// The message comes back at `when`, and its group with it.
  /// @pre `shut` was called for it
  void open_at(lane_id group, job_seq message, steady_time when);

  /// The message is gone, or is back. Does nothing where the group does not
  /// wait for it.
  void open(lane_id group, job_seq message, due_heap& jobs);

  /// Opens the groups whose time has come.
  void wake(steady_time now, due_heap& jobs);

  std::optional<steady_time> next_wakeup() const;

  /// Returns when this message comes back, where its group waits for that.
  std::optional<steady_time> back_at(lane_id group, job_seq message) const;

  /// How many messages wait for a time.
  std::size_t waiting() const {
    return wakeups_.size();
  }

private:
  using key = std::pair<lane_id, job_seq>;

  /// Messages that are out or wait, and until when.
  std::map<key, std::optional<steady_time>> shut_;
  std::set<std::pair<steady_time, key>> wakeups_;
};

} // namespace tidegate
