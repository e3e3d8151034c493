#include "tests/bench/latencies.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tidegate::bench {

std::uint64_t now_us() {
  using namespace std::chrono;
  auto now = steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<microseconds>(now).count());
}

std::uint64_t latencies::percentile(double p) const {
  if (values_.empty())
    return 0;
  auto sorted = values_;
  auto rank = std::ceil(p * static_cast<double>(sorted.size()));
  auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

} // namespace tidegate::bench
