// Whatever happens in whatever order: nothing is lost, nothing is flooded.

#include <catch2/catch.hpp>

#include "tests/simulation/random_life.hpp"

using namespace tidegate::testkit;

TEST_CASE("a random life ends well, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed << ", again: ./dev simulate --seed " << seed);
    CHECK(live(seed) == std::vector<std::string>{});
  }
}
