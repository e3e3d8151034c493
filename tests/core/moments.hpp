// The tests' calendar: everything happens some seconds after midnight.

#pragma once

#include "tidegate/time.hpp"

namespace tidegate::testing {

/// 2026-01-01T00:00:00Z.
inline constexpr wall_time midnight{std::chrono::seconds{1'767'225'600}};

/// What the steady clock shows at midnight.
inline constexpr steady_time steady_midnight{std::chrono::seconds{5'000}};

/// Converts to a span, exact to the microsecond.
constexpr duration seconds(double n) {
  return duration{static_cast<std::int64_t>(n * 1e6 + (n < 0 ? -0.5 : 0.5))};
}

/// Returns both clocks as they stand `n` seconds after midnight.
constexpr moment at(double n) {
  return {steady_midnight + seconds(n), midnight + seconds(n)};
}

} // namespace tidegate::testing
