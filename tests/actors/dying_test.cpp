// What becomes of jobs when the process stops or dies.

#include <catch2/catch.hpp>

#include <caf/actor_cast.hpp>

#include "actors/registry_actor.hpp"
#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

TEST_CASE("a delivery that was under way is made again, at no cost") {
  world w;
  w.create("q");
  w.downstream().behave(always({200, "", 5s}));
  auto id = w.put("q").id;
  w.advance(1s);
  REQUIRE(w.downstream().in_flight() == 1);
  w.crash();
  w.advance(1min);
  auto job = w.get(id);
  CHECK(job.record.job.status == job_status::completed);
  CHECK(job.record.job.attempts == 1);
  CHECK(w.downstream().arrivals().size() == 2);
}

TEST_CASE("fifty restarts multiply nothing") {
  world w;
  w.create("q");
  w.downstream().behave(always({500}));
  for (int i = 0; i < 10; ++i)
    w.put("q");
  for (int i = 0; i < 50; ++i) {
    w.advance(10ms);
    w.crash();
  }
  auto counts = w.get("q").counts;
  CHECK(counts.pending + counts.processing + counts.dead == 10);
}

TEST_CASE("counters and backoff survive a restart") {
  world w;
  auto settings = some_settings();
  settings.max_attempts = 5;
  settings.backoff.type = backoff_settings::kind::fixed;
  settings.backoff.delay = 100;
  settings.backoff.jitter = 0;
  w.create("q", settings);
  w.downstream().behave(in_turn({{429, "1"}, {500}, {200}}));
  auto id = w.put("q").id;
  w.advance(10s);
  auto before = w.get(id);
  REQUIRE(before.record.job.attempts == 1);
  REQUIRE(before.record.job.defers == 1);
  w.crash(20s);
  auto after = w.get(id);
  CHECK(after.record.job == before.record.job);
  CHECK(after.record.history == before.record.history);
  w.advance(100s);
  CHECK(w.get(id).record.job.status == job_status::completed);
  CHECK(w.get(id).record.job.deliveries == 3);
}

TEST_CASE("a step of the wall clock moves no relative wait") {
  for (auto step : {-24h, -1h, 1h, 24h}) {
    world w;
    w.create("q");
    publish later;
    later.delay = 600s;
    w.put("q", later);
    w.advance(300s);
    w.system().step_wall_clock(step);
    w.advance(299s);
    CHECK(w.downstream().arrivals().empty());
    w.advance(2s);
    CHECK(w.downstream().arrivals().size() == 1);
  }
}

TEST_CASE("a rate limit holds across restarts") {
  world w;
  auto settings = some_settings();
  settings.rate_limit_max = 5;
  settings.rate_limit_window = 60s;
  w.create("q", settings);
  for (int i = 0; i < 30; ++i)
    w.put("q");
  for (int i = 0; i < 40; ++i) {
    w.advance(3s);
    w.crash();
  }
  const auto& seen = w.downstream().arrivals();
  CHECK(seen.size() >= 10);
  for (std::size_t i = 5; i < seen.size(); ++i)
    CHECK(seen[i].at.steady - seen[i - 5].at.steady >= 60s);
}

TEST_CASE("a drain records what is under way and starts nothing more") {
  world w{5};
  auto settings = some_settings();
  settings.concurrency = 20;
  w.create("q", settings);
  w.create("idle");
  w.downstream().behave(always({200, "", 5s}));
  for (int i = 0; i < 30; ++i)
    w.put("q");
  w.advance(1s);
  auto queue = w.queue("q");
  auto registry = caf::actor_cast<registry_impl_actor>(w.registry());
  auto drained = w.system().begin_ask<queue_drained>(registry, drain_all{});
  w.advance(1s);
  CHECK_FALSE(*drained);
  auto refused = w.system().ask<publish_result>(queue, publish{});
  REQUIRE(refused);
  REQUIRE_FALSE(*refused);
  CHECK((*refused).reason().code == errc::draining);
  CHECK(w.get("q").counts.in_flight == 20);
  w.advance(5s);
  REQUIRE(*drained);
  CHECK(**drained);
  CHECK(w.downstream().arrivals().size() == 20);
  CHECK(w.scan("q").completed == 20);
  w.crash();
  w.advance(1min);
  CHECK(w.downstream().arrivals().size() == 30);
  CHECK(w.get("q").counts.completed == 30);
}

TEST_CASE("who still waits for an answer gets one when the service ends") {
  world w;
  w.create("q");
  auto queue = w.queue("q");
  auto answer = w.system().begin_ask<publish_result>(queue, publish{});
  w.crash();
  REQUIRE(*answer);
  CHECK_FALSE(**answer);
}
