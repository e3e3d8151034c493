// The newest events, numbered.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "tidegate/event_stream.hpp"

namespace tidegate {

/// Numbers events and keeps the newest of them, as many as fit into a number
/// and into bytes. The newest one is kept in any case.
class event_buffer {
public:
  /// @pre `count_max > 0`
  event_buffer(wall_time era, std::size_t count_max, std::size_t bytes_max);

  const numbered_event& add(service_event&& event);

  /// Returns the number of the newest event, or the one before the first.
  event_id newest() const {
    return {era_, next_ - 1};
  }

  /// Returns the number before that of the oldest event that is there.
  event_id oldest_place() const {
    return {era_, next_ - 1 - events_.size()};
  }

  /// Returns whether every event after `id` is still there. Not where `id` is
  /// none of this buffer's.
  bool reaches_back_to(event_id id) const;

  /// Returns the event that follows `id`, null where there is none yet. Valid
  /// until the next `add`. @pre `reaches_back_to(id)`
  const numbered_event* after(event_id id) const;

  std::size_t size() const {
    return events_.size();
  }

private:
  void drop_oldest();

  std::int64_t era_;
  std::size_t count_max_;
  std::size_t bytes_max_;
  std::uint64_t next_ = 1;
  std::size_t bytes_ = 0;
  std::deque<numbered_event> events_;
};

} // namespace tidegate
