// How long a job waits after a real failure.

#include "actors/core/retry_schedule.hpp"

#include <catch2/catch.hpp>

#include <cmath>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

using kind = backoff_settings::kind;

backoff_settings exponential(double delay, double factor, double max_delay) {
  backoff_settings result;
  result.delay = delay;
  result.factor = factor;
  result.max_delay = max_delay;
  result.jitter = 0;
  return result;
}

backoff_settings ladder(std::vector<double> steps) {
  backoff_settings result;
  result.type = kind::ladder;
  result.steps = std::move(steps);
  result.jitter = 0;
  return result;
}

constexpr auto almost_one = 0x1.fffffffffffffp-1;

} // namespace

TEST_CASE("by default the n-th failure waits 1, 2, 4 … 3600 s") {
  backoff_settings settings;
  for (std::uint64_t n = 1; n <= 40; ++n)
    CHECK(retry_wait(settings, n, 0)
          == seconds(std::min(3600.0, std::ldexp(1, static_cast<int>(n) - 1))));
}

TEST_CASE("an exponential wait does not overflow for any n") {
  auto n = GENERATE(std::uint64_t{1'000}, std::uint64_t{1} << 32,
                    std::uint64_t{1} << 63, UINT64_MAX);
  CHECK(retry_wait(exponential(1, 2, 3600), n, 0) == seconds(3600));
  CHECK(retry_wait(exponential(1, 100, 2'592'000), n, 0) == seconds(2'592'000));
  CHECK(retry_wait(exponential(5, 1, 3600), n, 0) == seconds(5));
  CHECK(retry_wait(exponential(0, 2, 3600), n, 0) == seconds(0));
  CHECK(retry_wait(exponential(1, 2, 0), n, 0) == seconds(0));
}

TEST_CASE("the base delay is bounded by the largest one too") {
  CHECK(retry_wait(exponential(10, 2, 4), 1, 0) == seconds(4));
}

TEST_CASE("a factor of one keeps the delay") {
  CHECK(retry_wait(exponential(3, 1, 60), 9, 0) == seconds(3));
}

TEST_CASE("a fixed wait is the same every time") {
  backoff_settings settings;
  settings.type = kind::fixed;
  settings.delay = 30;
  settings.jitter = 0;
  settings.max_delay = 1;
  for (auto n : {std::uint64_t{1}, std::uint64_t{2}, UINT64_MAX})
    CHECK(retry_wait(settings, n, 0.9) == seconds(30));
}

TEST_CASE("the last step of a ladder repeats") {
  auto settings = ladder({60, 300, 1800});
  CHECK(retry_wait(settings, 1, 0) == seconds(60));
  CHECK(retry_wait(settings, 2, 0) == seconds(300));
  CHECK(retry_wait(settings, 3, 0) == seconds(1800));
  CHECK(retry_wait(settings, 4, 0) == seconds(1800));
  CHECK(retry_wait(settings, std::uint64_t{1} << 63, 0) == seconds(1800));
  CHECK(retry_wait(ladder({7}), 2, 0) == seconds(7));
}

TEST_CASE("jitter spreads a wait d over [d * (1 - jitter), d]") {
  backoff_settings settings;
  settings.delay = 100;
  CHECK(retry_wait(settings, 1, 0) == seconds(100));
  CHECK(retry_wait(settings, 1, 0.5) == seconds(90));
  CHECK(retry_wait(settings, 1, almost_one) >= seconds(80));
  CHECK(retry_wait(settings, 1, almost_one) <= seconds(80.001));
  settings.jitter = 1;
  CHECK(retry_wait(settings, 1, almost_one) <= seconds(0.001));
  CHECK(retry_wait(settings, 1, almost_one) >= seconds(0));
}

TEST_CASE("jitter never makes a wait longer") {
  for (auto ms = 1; ms < 20'000; ++ms) {
    backoff_settings settings;
    settings.type = kind::fixed;
    settings.delay = ms / 1e3;
    REQUIRE(retry_wait(settings, 1, 0) == std::chrono::milliseconds{ms});
    REQUIRE(retry_wait(settings, 1, 0.3) <= std::chrono::milliseconds{ms});
  }
}

TEST_CASE("jitter applies after the bound, so that the crowd spreads") {
  auto settings = exponential(1, 2, 100);
  settings.jitter = 0.2;
  CHECK(retry_wait(settings, 50, 0.5) == seconds(90));
}
