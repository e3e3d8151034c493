// Figures after stories whose end is known, in virtual time.

#include <catch2/catch.hpp>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

service_metrics collect(world& w, collect_metrics what = {}) {
  return w.ask<service_metrics>(w.metrics_handle(), std::move(what));
}

std::uint64_t count(const queue_metrics& queue, delivery_result result,
                    std::size_t status_class) {
  return queue.counters.deliveries
    .results[static_cast<std::size_t>(result)][status_class];
}

std::uint64_t count(const queue_metrics& queue, probe_verdict verdict) {
  return queue.counters.deliveries.probes[static_cast<std::size_t>(verdict)];
}

template <std::size_t N>
std::uint64_t sum(const std::array<std::uint64_t, N>& all) {
  std::uint64_t result = 0;
  for (auto x : all)
    result += x;
  return result;
}

} // namespace

TEST_CASE("the 20 wasted deliveries of a hold are counted as deferred") {
  world w{7};
  auto settings = some_settings();
  settings.concurrency = 16;
  w.create("q", settings);
  w.pause("q");
  for (int i = 0; i < 1'000; ++i)
    w.put("q");
  w.downstream().behave(outage(10s, "2"));
  w.resume("q");
  w.advance(1s);
  auto held = collect(w).queues.front();
  CHECK(held.gates[static_cast<std::size_t>(gate_state::held)] == 1);
  CHECK(held.counts.held > 900);
  w.advance(1min);
  auto all = collect(w);
  REQUIRE(all.queues.size() == 1);
  const auto& q = all.queues.front();
  CHECK(q.project == default_project);
  CHECK(q.name == "q");
  CHECK(count(q, delivery_result::deferred, 4) == 20);
  CHECK(count(q, delivery_result::success, 2) == 1'000);
  CHECK(count(q, probe_verdict::deferred) == 4);
  CHECK(count(q, probe_verdict::success) == 1);
  CHECK(q.counters.defers == 20);
  CHECK(q.counters.published == 1'000);
  CHECK(q.counters.completed == 1'000);
  CHECK(sum(q.counters.dead) == 0);
  CHECK(q.counters.held >= 10s);
  CHECK(q.counters.held < 12s);
  CHECK(sum(q.counters.deliveries.latency.counts) == 1'020);
  CHECK(sum(q.counters.publish_latency.counts) == 1'000);
  CHECK(q.gates[static_cast<std::size_t>(gate_state::open)] == 1);
  CHECK_FALSE(q.oldest_age);
  CHECK(all.commits.records >= 2'000);
  CHECK(sum(all.commits.batches) == sum(all.commits.latency.counts));
  CHECK(all.commits.failures == 0);
  CHECK(all.actors > 5);
}

TEST_CASE("the time of a hold is counted while it lasts") {
  world w;
  w.create("q");
  w.hold("q", 100s);
  w.advance(30s);
  CHECK(collect(w).queues.front().counters.held == 30s);
}

TEST_CASE("dead jobs are counted by their reason") {
  world w;
  auto settings = some_settings();
  settings.max_attempts = 2;
  w.create("q", settings);
  w.downstream().behave(always({500}));
  for (int i = 0; i < 3; ++i)
    w.put("q");
  w.advance(1min);
  w.pause("q");
  w.cancel(w.put("q").id);
  auto q = collect(w).queues.front();
  auto dead = [&](dead_reason why) {
    return q.counters.dead[static_cast<std::size_t>(why)];
  };
  CHECK(dead(dead_reason::attempts_exhausted) == 3);
  CHECK(dead(dead_reason::cancelled) == 1);
  CHECK(count(q, delivery_result::failed, 5) == 6);
  CHECK(q.paused == 1);
}

TEST_CASE("a job that is published again under its key is counted once") {
  world w;
  w.create("q");
  publish job;
  job.idempotency_key = "k";
  w.put("q", job);
  w.put("q", job);
  CHECK(collect(w).queues.front().counters.published == 1);
}

TEST_CASE("what was counted outlives a commit that fails") {
  world w;
  w.create("q");
  w.put("q");
  w.advance(1s);
  w.faults().down = true;
  CHECK(refusal_of([&] { w.put("q"); }) == errc::storage_unavailable);
  w.faults().down = false;
  w.advance(5s);
  auto all = collect(w);
  CHECK(all.queues.front().counters.completed == 1);
  CHECK(all.commits.failures > 0);
}

TEST_CASE("queues beyond the bound are summed up") {
  world w;
  for (auto name : {"a", "b", "c", "d"}) {
    w.create(name);
    w.put(name);
  }
  w.pause("d");
  w.put("d");
  w.advance(10s);
  collect_metrics what;
  what.queues_max = 2;
  auto all = collect(w, what);
  REQUIRE(all.queues.size() == 2);
  CHECK(all.queues[1].name == "b");
  REQUIRE(all.other_push);
  CHECK_FALSE(all.other_pull);
  CHECK(all.other_push->counters.published == 3);
  CHECK(all.other_push->counts.pending == 1);
  CHECK(all.other_push->paused == 1);
  CHECK(all.other_push->gates[static_cast<std::size_t>(gate_state::open)] == 2);
  CHECK(all.other_push->oldest_age == 10s);
}

TEST_CASE("a project is told of its own queues only") {
  world w;
  w.create("a");
  collect_metrics what;
  what.project = "acme";
  CHECK(collect(w, what).queues.empty());
}

TEST_CASE("200 queues are all asked, a few at a time") {
  world w;
  for (int i = 0; i < 200; ++i)
    w.create("q" + std::to_string(i));
  collect_metrics what;
  what.queues_max = 100;
  auto all = collect(w, what);
  CHECK(all.queues.size() == 100);
  CHECK(all.other_push.value().gates[0] == 100);
}
