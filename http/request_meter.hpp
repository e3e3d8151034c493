// How many requests a second one API key may make.

#pragma once

#include <atomic>
#include <cstdint>

#include "tidegate/time.hpp"

namespace tidegate::http {

/// Counts the requests of one key. Safe to use from any thread.
///
/// This is the generic cell rate algorithm (ITU-T I.371, annex A): each request
/// pushes the time at which all of them have been paid for one share of a
/// second farther away, and may do so while that time is no more than a second
/// off. So `per_second` requests may come at once, and as many in each second
/// after; a thousandth more where shares are rounded down to a nanosecond.
class request_meter {
public:
  /// Counts a request, unless it is one too many: returns whether it was
  /// counted. Of those that are not, a second later one would be.
  /// @pre `per_second` is from 1 to 1,000,000
  bool take(std::uint32_t per_second, steady_time now);

private:
  /// Nanoseconds of the steady clock.
  std::atomic<std::int64_t> paid_until_ = INT64_MIN;
};

} // namespace tidegate::http
