// How a queue comes back from a hold step by step.

#include "actors/core/ramp.hpp"

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

recovery_settings ramp_of(std::uint32_t start, double factor) {
  return {recovery_settings::kind::ramp, start, factor};
}

/// Returns the limits that a ramp goes through, each after as many successes as
/// it was.
std::vector<std::uint32_t> steps(const recovery_settings& how,
                                 std::uint32_t concurrency) {
  std::vector<std::uint32_t> result;
  ramp r;
  r.begin(how, concurrency);
  while (r.limit() > 0 && result.size() < 100) {
    result.push_back(r.limit());
    for (auto n = r.limit(); n > 1; --n)
      REQUIRE_FALSE(r.succeeded(how, concurrency));
    REQUIRE(r.succeeded(how, concurrency));
  }
  return result;
}

using limits = std::vector<std::uint32_t>;

queue_settings ramping(std::uint32_t concurrency) {
  auto result = plain_settings();
  result.concurrency = concurrency;
  result.recovery = ramp_of(1, 2);
  return result;
}

/// Returns a queue with many jobs whose probe has just been taken.
workbench opened() {
  workbench w{ramping(10)};
  w.hold(seconds(1));
  w.publish_many(40);
  w.pass(seconds(1));
  REQUIRE(w.in_flight().size() == 1);
  w.answer(std::size_t{0}, answered(200));
  return w;
}

} // namespace

TEST_CASE("a ramp grows by its factor with each full round, then ends") {
  CHECK(steps(ramp_of(1, 2), 10) == limits{1, 2, 4, 8});
  CHECK(steps(ramp_of(3, 2), 10) == limits{3, 6});
  CHECK(steps(ramp_of(1, 1.1), 4) == limits{1, 2, 3});
  CHECK(steps(ramp_of(2, 1.5), 10) == limits{2, 3, 5, 8});
  CHECK(steps(ramp_of(1, 100), 10'000) == limits{1, 100});
  CHECK(steps(ramp_of(1, 2), 1).empty());
  CHECK(steps(ramp_of(10, 2), 10).empty());
  CHECK(steps({}, 10).empty());
}

TEST_CASE("a ramp that is not under way limits nothing") {
  ramp r;
  CHECK_FALSE(r.full(1000));
  CHECK_FALSE(r.succeeded(ramp_of(1, 2), 10));
  r.begin(ramp_of(2, 2), 10);
  CHECK_FALSE(r.full(1));
  CHECK(r.full(2));
  r.end();
  CHECK_FALSE(r.full(2));
}

TEST_CASE("after a hold the queue runs 1, 2, 4, 8 and then all") {
  auto w = opened();
  for (auto n : {1u, 2u, 4u, 8u}) {
    CHECK(w.in_flight().size() == n);
    for (auto left = n; left > 0; --left)
      w.answer(std::size_t{0}, answered(200));
  }
  CHECK(w.in_flight().size() == 10);
  CHECK(w.store().queue().gate.ramp == 0);
}

TEST_CASE("a failure does not move the ramp") {
  auto w = opened();
  w.answer(std::size_t{0}, answered(200));
  REQUIRE(w.in_flight().size() == 2);
  for (auto i = 0; i < 5; ++i)
    w.answer(std::size_t{0}, answered(500));
  CHECK(w.in_flight().size() == 2);
}

TEST_CASE("a new hold ends the ramp, and the next opening begins it anew") {
  auto w = opened();
  w.answer(std::size_t{0}, answered(200));
  w.answer(std::size_t{0}, answered(429, {"1"}));
  w.answer_all(answered(200));
  CHECK(w.view().queue.gate.ramp == 0);
  w.pass(seconds(1));
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.in_flight().size() == 1);
  CHECK(w.view().queue.gate.ramp == 1);
}

TEST_CASE("a ramp goes on where it was after a restart") {
  auto w = opened();
  w.answer(std::size_t{0}, answered(200));
  w.restart();
  CHECK(w.in_flight().size() == 2);
  w.answer_all(answered(200));
  CHECK(w.in_flight().size() == 4);
}

TEST_CASE("what waits for the ramp is told so") {
  auto w = opened();
  auto waiting = w.publish();
  CHECK(w.blocked(waiting) == std::vector<std::string>{"ramp"});
}

TEST_CASE("full recovery ends a ramp that is under way, for good") {
  auto w = opened();
  w.change([](auto& s) { s.recovery = {}; });
  CHECK(w.in_flight().size() == 10);
  w.restart();
  CHECK(w.in_flight().size() == 10);
}

TEST_CASE("in ack mode the ack is the success that the ramp counts") {
  auto settings = ramping(10);
  settings.mode = delivery_mode::ack;
  workbench w{settings};
  w.hold(seconds(1));
  w.publish_many(20);
  w.pass(seconds(1));
  w.answer(std::size_t{0}, answered(200));
  w.ack(w.awaiting().front());
  CHECK(w.in_flight().size() == 1);
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.in_flight().empty());
  w.ack(w.awaiting().front());
  CHECK(w.in_flight().size() == 2);
}
