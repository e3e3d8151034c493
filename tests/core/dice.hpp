// What chance decides in a random history, out of a seed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>

#include "tidegate/time.hpp"

namespace tidegate::testing {

/// Draws lots. The same seed draws the same ones, on every machine.
class dice {
public:
  explicit dice(std::uint64_t seed) : bits_(seed) {
    // nop
  }

  /// Returns a number below `n`. @pre `n > 0`
  std::uint64_t below(std::uint64_t n) {
    return bits_() % n;
  }

  bool one_in(std::uint64_t n) {
    return below(n) == 0;
  }

  std::uint32_t from_1_to(std::uint32_t n) {
    return 1 + static_cast<std::uint32_t>(below(n));
  }

  /// Returns one or more tenths of a second, up to `most`.
  duration tenths(std::uint32_t most) {
    return std::chrono::milliseconds{100 * from_1_to(most)};
  }

  /// Returns fewer than `n` whole seconds, perhaps none.
  std::chrono::seconds seconds_below(std::uint64_t n) {
    return std::chrono::seconds{below(n)};
  }

  /// Returns fewer than `n` whole milliseconds, perhaps none.
  std::chrono::milliseconds ms_below(std::uint64_t n) {
    return std::chrono::milliseconds{below(n)};
  }

  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *std::next(list.begin(),
                      static_cast<std::ptrdiff_t>(below(list.size())));
  }

  /// Returns one of a container's elements. @pre it is not empty
  template <class Container>
  decltype(auto) any(Container& list) {
    return *std::next(std::begin(list),
                      static_cast<std::ptrdiff_t>(below(std::size(list))));
  }

private:
  std::mt19937_64 bits_;
};

} // namespace tidegate::testing
