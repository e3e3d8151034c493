#include "http/request_meter.hpp"

#include <algorithm>
#include <chrono>

namespace tidegate::http {

bool request_meter::take(std::uint32_t per_second, steady_time now) {
  using std::chrono::nanoseconds;
  constexpr std::int64_t second = nanoseconds{std::chrono::seconds{1}}.count();
  auto share = second / per_second;
  auto at = nanoseconds{now.time_since_epoch()}.count();
  auto seen = paid_until_.load(std::memory_order_relaxed);
  std::int64_t next = 0;
  do {
    next = std::max(seen, at) + share;
    if (next > at + second)
      return false;
  } while (
    !paid_until_.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  return true;
}

} // namespace tidegate::http
