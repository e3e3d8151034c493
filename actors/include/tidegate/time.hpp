// Instants, spans and the pair of clocks that every decision is given.

#pragma once

#include <chrono>
#include <cstdint>

namespace tidegate {

/// A span of time. Unit: microseconds, signed 64 bit.
using duration = std::chrono::microseconds;

/// Tag of the clock that people read. It may step in either direction.
struct wall_clock {
  /// @cond
  using rep = std::int64_t;
  using period = std::micro;
  using duration = tidegate::duration;
  using time_point = std::chrono::time_point<wall_clock, duration>;
  static constexpr bool is_steady = false;
  /// @endcond
};

/// Tag of the clock that never steps. Its origin means nothing and differs
/// between two runs of the process, so these instants are never stored.
struct steady_clock {
  /// @cond
  using rep = std::int64_t;
  using period = std::micro;
  using duration = tidegate::duration;
  using time_point = std::chrono::time_point<steady_clock, duration>;
  static constexpr bool is_steady = true;
  /// @endcond
};

/// Microseconds since the Unix epoch, UTC: what is stored and shown.
using wall_time = wall_clock::time_point;

/// Microseconds since some origin: what waits are measured on.
using steady_time = steady_clock::time_point;

/// The farthest instant that is ever stored or shown:
/// 9999-12-31T23:59:59.999999Z. Sums saturate here, they never wrap.
inline constexpr wall_time far_future{duration{253'402'300'799'999'999}};

/// The longest wait: anything longer is this long. About 10,000 years.
inline constexpr duration longest_wait{far_future.time_since_epoch()};

/// Both clocks, read at the same moment. The logic never reads a clock, it is
/// given one of these with every event.
struct moment {
  steady_time steady{};
  wall_time wall{};
};

/// Returns `start + wait` on either clock. `wait` counts as `longest_wait`
/// where it is longer, and a wall-clock sum stops at `far_future`.
constexpr steady_time after(steady_time start, duration wait) {
  return start + (wait < longest_wait ? wait : longest_wait);
}

/// The same on the wall clock.
constexpr wall_time after(wall_time start, duration wait) {
  auto room = far_future - start;
  return wait < room ? start + wait : far_future;
}

/// Returns the wall-clock reading at which the steady clock will show `at`,
/// if the wall clock does not step until then.
constexpr wall_time to_wall(steady_time at, moment now) {
  return after(now.wall, at - now.steady);
}

/// Returns the steady-clock reading at which the wall clock will show `at`,
/// if the wall clock does not step until then.
constexpr steady_time to_steady(wall_time at, moment now) {
  return after(now.steady, at - now.wall);
}

/// Converts `seconds`, rounded up to the next millisecond, as `Retry-After`
/// and the API's fractional seconds are. Saturates at `longest_wait`.
/// @pre `seconds >= 0`
duration from_seconds(double seconds);

/// Converts to seconds, the unit of every duration in the API.
constexpr double to_seconds(duration d) {
  return static_cast<double>(d.count()) / 1e6;
}

} // namespace tidegate
