// Whatever happens in whatever order: nothing is lost, nothing is flooded, and
// nobody is given what another one holds.

#include <catch2/catch.hpp>

#include "tests/simulation/random_life.hpp"

using namespace tidegate;
using namespace tidegate::testkit;

TEST_CASE("a random life ends well, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed << ", again: ./dev simulate --push --seed " << seed);
    CHECK(live(queue_kind::push, seed) == std::vector<std::string>{});
  }
}

TEST_CASE("a random life of a pull queue ends well, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed << ", again: ./dev simulate --pull --seed " << seed);
    CHECK(live(queue_kind::pull, seed) == std::vector<std::string>{});
  }
}
