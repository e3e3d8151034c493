#include "tidegate/random.hpp"

#include <random>

namespace tidegate {

std::uint64_t draw_random() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

} // namespace tidegate
