// Holds and probes, through the real actors in virtual time.

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

queue_settings with_concurrency(std::uint32_t n) {
  auto result = some_settings();
  result.concurrency = n;
  return result;
}

std::size_t count(const world& w, event_kind kind) {
  return static_cast<std::size_t>(
    std::count_if(w.events().begin(), w.events().end(),
                  [&](const auto& e) { return e.kind == kind; }));
}

} // namespace

TEST_CASE("an outage of 10 s costs 20 deliveries and no attempt") {
  world w{7};
  w.create("q", with_concurrency(16));
  w.pause("q");
  for (int i = 0; i < 1'000; ++i)
    w.put("q");
  w.downstream().behave(outage(10s, "2"));
  w.resume("q");
  w.advance(9s);
  CHECK(w.downstream().in_flight() <= 1);
  w.advance(1min);
  CHECK(w.downstream().answered(429) == 20);
  CHECK(w.downstream().answered(200) == 1'000);
  CHECK(w.downstream().in_flight_max() == 16);
  auto q = w.get("q");
  CHECK(q.counts.completed == 1'000);
  CHECK(q.counts.dead == 0);
  CHECK(count(w, event_kind::queue_opened) == 1);
  CHECK(count(w, event_kind::queue_probing) == 5);
  std::uint64_t defers = 0;
  for (const auto& a : w.downstream().arrivals()) {
    CHECK(a.what.attempt == 1);
    defers = std::max(defers, a.what.defers);
  }
  CHECK(defers >= 1);
}

TEST_CASE("after a kill in the hold the queue is held until the same time") {
  world w;
  w.create("q");
  w.downstream().behave(always({429, "30"}));
  for (int i = 0; i < 5; ++i)
    w.put("q");
  w.advance(1s);
  auto before = w.get("q");
  REQUIRE(before.queue.gate.state == gate_state::held);
  w.downstream().forget();
  w.downstream().behave(always({200}));
  w.crash(5s);
  auto after = w.get("q");
  CHECK(after.queue.gate.state == gate_state::held);
  CHECK(after.queue.gate.release_at == before.queue.gate.release_at);
  w.advance(23s);
  CHECK(w.downstream().arrivals().empty());
  w.advance(10s);
  CHECK(w.downstream().arrivals().front().at.wall
        == before.queue.gate.release_at);
  CHECK(w.get("q").counts.completed == 5);
}

TEST_CASE("after a kill of the probe there is one more probe") {
  world w;
  w.create("q", with_concurrency(1));
  w.downstream().behave(in_turn({{429, "2"}, {200, "", 10s}}));
  for (int i = 0; i < 5; ++i)
    w.put("q");
  w.advance(5s);
  auto q = w.get("q");
  REQUIRE(q.queue.gate.state == gate_state::probing);
  REQUIRE(q.counts.in_flight == 1);
  auto probe = w.downstream().arrivals().back().what;
  CHECK(probe.probe);
  w.downstream().forget();
  w.crash();
  w.advance(5s);
  CHECK(w.downstream().arrivals().size() == 1);
  CHECK(w.downstream().in_flight_max() == 1);
  auto again = w.downstream().arrivals().back().what;
  CHECK(again.probe);
  CHECK(again.job == probe.job);
  CHECK(again.number == probe.number + 1);
  CHECK(again.attempt == probe.attempt);
  w.advance(1min);
  CHECK(w.get("q").counts.completed == 5);
  auto job = w.get(probe.job);
  auto interrupted = std::count_if(
    job.record.history.begin(), job.record.history.end(),
    [](const auto& e) { return e.status == delivery_status::interrupted; });
  CHECK(interrupted == 1);
}

TEST_CASE("every movement of the gate is an event that says why") {
  world w;
  w.create("q", with_concurrency(1));
  w.downstream().behave(in_turn({{503, "3"}, {500}, {200}}));
  auto id = w.put("q").id;
  w.put("q");
  w.advance(1min);
  std::vector<event_kind> kinds;
  for (const auto& e : w.events())
    kinds.push_back(e.kind);
  CHECK(kinds
        == std::vector{event_kind::queue_created, event_kind::queue_held,
                       event_kind::queue_probing, event_kind::queue_held,
                       event_kind::queue_probing, event_kind::queue_opened});
  REQUIRE(w.events().size() == 6);
  const auto& held = w.events()[1];
  CHECK(held.job == id);
  CHECK(held.cause == hold_cause::downstream);
  CHECK(held.http_status == 503);
  CHECK(held.release_at);
  CHECK(w.events()[2].job);
  CHECK(w.events()[3].cause == hold_cause::probe_failed);
  CHECK(w.events()[3].verdict == probe_verdict::no_verdict);
  CHECK(w.events()[5].verdict == probe_verdict::success);
}

TEST_CASE("a hanging downstream does not hold up another queue") {
  world w;
  w.create("slow", with_concurrency(2));
  w.create("fast", with_concurrency(2));
  w.downstream().behave([](const delivery& d, moment) {
    return response{200, "", d.queue_name == "slow" ? 10s : 50ms};
  });
  for (int i = 0; i < 20; ++i)
    w.put("slow");
  for (int i = 0; i < 1'000; ++i)
    w.put("fast");
  w.advance(26s);
  CHECK(w.get("fast").counts.completed == 1'000);
}

TEST_CASE("after the pause call has answered nothing starts") {
  world w{3};
  w.create("q", with_concurrency(4));
  for (int i = 0; i < 100; ++i)
    w.put("q");
  w.advance(50ms);
  w.pause("q");
  w.downstream().forget();
  w.advance(1h);
  CHECK(w.downstream().arrivals().empty());
  CHECK(w.get("q").counts.in_flight == 0);
  w.resume("q");
  w.advance(1min);
  CHECK(w.get("q").counts.completed == 100);
  CHECK(w.downstream().in_flight_max() <= 4);
}
