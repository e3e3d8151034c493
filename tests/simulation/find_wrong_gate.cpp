// Whether random lives find a piece of the queue with a mistake in it. Built
// once for each mistake, with the piece that has it in place of the right one.
// LIFE is the kind of queue that lives.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "tests/simulation/random_life.hpp"

int main() {
  constexpr std::uint64_t seeds = 150;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    auto complaints = tidegate::testkit::live(tidegate::queue_kind::LIFE, seed);
    if (complaints.empty())
      continue;
    std::cout << "found by seed " << seed << ": " << complaints.front() << '\n';
    return EXIT_SUCCESS;
  }
  std::cout << "not found by " << seeds << " lives\n";
  return EXIT_FAILURE;
}
