#include "tidegate/time.hpp"

#include <cmath>

namespace tidegate {

duration from_seconds(double seconds) {
  auto ms = std::ceil(seconds * 1e3);
  if (!(ms < static_cast<double>(longest_wait.count()) / 1e3))
    return longest_wait;
  return std::chrono::milliseconds{static_cast<std::int64_t>(ms)};
}

} // namespace tidegate
