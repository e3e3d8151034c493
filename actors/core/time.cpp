#include "tidegate/time.hpp"

#include <cmath>

namespace tidegate {

duration from_seconds(double seconds) {
  // 2.007 * 1e3 is a little more than 2007 and must not become 2008.
  constexpr auto noise = 1e-6;
  auto ms = std::ceil(seconds * 1e3 - noise);
  if (!(ms < static_cast<double>(longest_wait.count()) / 1e3))
    return longest_wait;
  return std::chrono::milliseconds{static_cast<std::int64_t>(ms)};
}

} // namespace tidegate
