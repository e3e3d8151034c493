// How long things took.

#pragma once

#include <cstdint>
#include <vector>

namespace tidegate::bench {

/// Microseconds on a clock that all processes of the machine share.
std::uint64_t now_us();

/// Collects latencies. Unit: microseconds.
class latencies {
public:
  void add(std::uint64_t us) {
    values_.push_back(us);
  }

  void clear() {
    values_.clear();
  }

  /// Returns the smallest value that at least the share `p` of all does not
  /// exceed; 0 where there is none.
  /// @pre `0 < p && p <= 1`
  std::uint64_t percentile(double p) const;

private:
  std::vector<std::uint64_t> values_;
};

} // namespace tidegate::bench
