// Sums of instants and spans stop at the ends.

#include "tidegate/time.hpp"

#include <catch2/catch.hpp>

#include <limits>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

TEST_CASE("sums stop at the far future and never wrap") {
  CHECK(after(midnight, duration::max()) == far_future);
  CHECK(after(far_future, duration{1}) == far_future);
  CHECK(after(steady_midnight, duration::max())
        == steady_midnight + longest_wait);
  CHECK(after(midnight, seconds(1)) == midnight + seconds(1));
}

TEST_CASE("an instant on one clock leads to the same instant on the other") {
  auto now = at(10);
  CHECK(to_wall(at(70).steady, now) == at(70).wall);
  CHECK(to_steady(at(70).wall, now) == at(70).steady);
  CHECK(to_wall(at(-70).steady, now) == at(-70).wall);
  CHECK(to_steady(wall_time{}, now) < now.steady);
}

TEST_CASE("seconds become milliseconds, rounded up") {
  CHECK(from_seconds(0) == duration{0});
  CHECK(from_seconds(1.5) == seconds(1.5));
  CHECK(from_seconds(0.0001) == seconds(0.001));
  CHECK(from_seconds(0.0011) == seconds(0.002));
  CHECK(from_seconds(1e300) == longest_wait);
  CHECK(from_seconds(std::numeric_limits<double>::infinity()) == longest_wait);
}

TEST_CASE("a whole number of milliseconds stays what it is") {
  for (std::int64_t ms = 0; ms < 100'000; ++ms)
    REQUIRE(from_seconds(static_cast<double>(ms) / 1e3)
            == std::chrono::milliseconds{ms});
  CHECK(from_seconds(2'591'999.999) == seconds(2'591'999.999));
}

TEST_CASE("a setting in milliseconds is shown as it was given") {
  for (auto given : {2.007, 2.011, 0.135, 14.999})
    CHECK(to_seconds(from_seconds(given)) == given);
}
