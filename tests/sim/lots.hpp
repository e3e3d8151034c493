// What chance decides, out of a seed.

#pragma once

#include <cstdint>
#include <random>

#include "tests/sim/plan.hpp"

namespace tidegate::sim {

/// Draws lots. The same seed gives the same lots: unlike the distributions of
/// the standard library, these are the same everywhere but for the rounding of
/// `std::log` and `std::cos`.
class lots {
public:
  explicit lots(std::uint64_t seed) : bits_(seed) {
    // nop
  }

  std::uint64_t bits() {
    return bits_();
  }

  /// Returns a number of [0, 1), all alike.
  double share() {
    return static_cast<double>(bits_() >> 11) * 0x1p-53;
  }

  /// Returns a number below `n`. @pre `n > 0`
  std::uint64_t below(std::uint64_t n) {
    return bits_() % n;
  }

  /// Returns a number of the exponential distribution with this mean.
  double exponential(double mean);

  /// Returns a number of the normal distribution with mean 0 and deviation 1.
  double normal();

  /// Returns how long something takes.
  duration draw(const latency_model& model);

private:
  std::mt19937_64 bits_;
};

/// Returns `seconds` as a span, to the next microsecond.
duration to_duration(double seconds);

} // namespace tidegate::sim
