// The limit on deliveries that start within a span of time.

#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Lets at most `max` starts into any span of length `window`.
///
/// Starts that lie within 1/64 of the window count as if all had happened at
/// the latest of them. So at most 65 groups are kept, whatever the limit, and
/// what is let out may be a little less than allowed, never more. Starts that
/// are farther apart are exact.
class rate_window {
public:
  /// No limit where `max` is empty.
  rate_window(std::optional<std::uint32_t> max, duration window);

  /// Takes up what had been started before a restart.
  void restore(const std::vector<rate_start>& starts, moment now);

  /// Changes the limit. What has started still counts.
  void limit(std::optional<std::uint32_t> max, duration window);

  bool limited() const {
    return max_.has_value();
  }

  std::optional<std::uint32_t> max() const {
    return max_;
  }

  duration window() const {
    return window_;
  }

  /// Returns whether a start is too much now.
  bool full(steady_time now) const;

  /// Returns the earliest time at which `full` is false, `now` if it is.
  steady_time next_start(steady_time now) const;

  /// Returns until when there are starts that count, if there are any.
  std::optional<steady_time> busy_until(steady_time now) const;

  /// Counts one start. @pre `!full(now)`
  void count(steady_time now);

  /// Returns what must be known after a restart, oldest first.
  std::vector<rate_start> to_record(moment now) const;

private:
  struct group {
    steady_time first;
    steady_time latest;
    std::uint32_t count;
  };

  bool counts(const group& g, steady_time now) const {
    return now < after(g.latest, window_);
  }

  std::optional<std::uint32_t> max_;
  duration window_;
  // Most queues have none, and an empty deque takes half a KiB.
  std::list<group> groups_;
};

} // namespace tidegate
