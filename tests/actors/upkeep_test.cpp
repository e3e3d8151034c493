// Those who look after queues, with the real queues and stores.

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

queue_settings short_lived() {
  auto settings = some_settings();
  settings.retention = 1min;
  settings.max_attempts = 1;
  settings.concurrency = 100;
  return settings;
}

/// Publishes `n` jobs and lets all of them die.
std::vector<job_id> kill_jobs(world& w, const std::string& queue, int n) {
  auto before = w.downstream().behaviour();
  w.downstream().behave(always({500}));
  std::vector<job_id> ids;
  for (int i = 0; i < n; ++i)
    ids.push_back(w.put(queue).id);
  w.advance(5s);
  w.downstream().behave(before);
  return ids;
}

api_key_record some_key() {
  api_key_record key;
  key.digest = std::string(32, 'd');
  key.project = default_project;
  key.name = "ci";
  return key;
}

api_key_record create_key(world& w) {
  return w.ask<api_key_record>(w.access(), create_api_key{some_key()});
}

} // namespace

TEST_CASE("completed and dead jobs are removed when retention is over") {
  world w;
  w.create("q", short_lived());
  auto done = w.put("q").id;
  w.advance(1s);
  auto dead = kill_jobs(w, "q", 1).front();
  w.advance(50s);
  CHECK(w.get("q").counts.completed == 1);
  CHECK(w.get("q").counts.dead == 1);
  w.advance(20s);
  CHECK(w.get("q").counts == queue_counts{});
  CHECK(w.scan("q") == queue_counts{});
  CHECK(refusal_of([&] { w.get(done); }) == errc::job_not_found);
  CHECK(refusal_of([&] { w.get(dead); }) == errc::job_not_found);
}

TEST_CASE("a key of idempotency is free again when its job is removed") {
  world w;
  w.create("q", short_lived());
  publish what;
  what.idempotency_key = "once";
  auto first = w.put("q", what).id;
  w.advance(30s);
  CHECK(w.put("q", what).id == first);
  w.advance(1min);
  CHECK(w.put("q", what).id != first);
}

TEST_CASE("retention goes on after a crash and a broken disk") {
  world w;
  w.create("q", short_lived());
  for (int i = 0; i < 600; ++i)
    w.put("q");
  w.advance(59s);
  w.faults().down = true;
  w.advance(5s);
  w.faults().down = false;
  w.crash(1h);
  w.advance(5s);
  CHECK(w.get("q").counts == queue_counts{});
  CHECK(w.scan("q") == queue_counts{});
}

TEST_CASE("a replay of all dead letters gives them another life at its pace") {
  world w;
  w.create("q", short_lived());
  kill_jobs(w, "q", 50);
  REQUIRE(w.get("q").counts.dead == 50);
  replay_dead_letters what;
  what.per_second = 10;
  auto plan = w.replay_dead_letters("q", what);
  CHECK(plan.count == 50);
  REQUIRE(plan.operation);
  w.advance(2500ms);
  CHECK(w.get(plan.operation->id).state == operation_state::running);
  CHECK(w.get(plan.operation->id).done >= 24);
  CHECK(w.get(plan.operation->id).done <= 27);
  w.advance(5s);
  auto op = w.get(plan.operation->id);
  CHECK(op.state == operation_state::done);
  CHECK(op.done == 50);
  CHECK(w.get("q").counts.completed == 50);
  CHECK(w.get("q").counts.dead == 0);
  CHECK(w.operations().size() == 1);
}

TEST_CASE("an id that is named twice is one job") {
  world w;
  auto settings = some_settings();
  settings.max_attempts = 1;
  w.create("q", settings);
  w.downstream().behave(always(response{500}));
  auto id = w.put("q").id;
  w.advance(1s);
  replay_dead_letters what;
  what.ids = {id, id, id};
  what.dry_run = true;
  CHECK(w.replay_dead_letters("q", what).count == 1);
  what.dry_run = false;
  CHECK(w.replay_dead_letters("q", what).operation->total == 1);
}

TEST_CASE("a replay survives crashes and replays nothing twice") {
  world w;
  w.create("q", short_lived());
  auto ids = kill_jobs(w, "q", 30);
  replay_dead_letters what;
  what.per_second = 20;
  auto id = w.replay_dead_letters("q", what).operation->id;
  for (int i = 0; i < 12; ++i) {
    w.advance(190ms);
    w.crash();
  }
  w.advance(10s);
  CHECK(w.get(id).state == operation_state::done);
  CHECK(w.get(id).done == 30);
  for (auto job : ids)
    CHECK(w.get(job).record.job.replays == 1);
}

TEST_CASE("a replay goes on when the disk works again") {
  for (bool kept : {false, true}) {
    for (std::uint64_t n = 0; n < 8; ++n) {
      world w{n + 1};
      w.create("q", short_lived());
      auto ids = kill_jobs(w, "q", 30);
      replay_dead_letters what;
      what.per_second = 50;
      auto id = w.replay_dead_letters("q", what).operation->id;
      w.faults().failure_keeps_data = kept;
      w.faults().commits_until_failure = n;
      w.advance(20s);
      INFO("commit " << n << (kept ? " stored" : " lost"));
      CHECK(w.get(id).state == operation_state::done);
      CHECK(w.get(id).done == 30);
      for (auto job : ids)
        CHECK(w.get(job).record.job.replays == 1);
    }
  }
}

TEST_CASE("a cancelled replay leaves the rest dead") {
  world w;
  w.create("q", short_lived());
  kill_jobs(w, "q", 30);
  replay_dead_letters what;
  what.per_second = 10;
  auto id = w.replay_dead_letters("q", what).operation->id;
  w.advance(1s);
  auto op = w.cancel(id);
  CHECK(op.state == operation_state::cancelled);
  w.crash();
  w.advance(10s);
  CHECK(w.get(id).state == operation_state::cancelled);
  CHECK(w.get("q").counts.dead == 30 - op.done);
  CHECK(w.get("q").counts.completed == op.done);
}

TEST_CASE("a replay ends with its queue") {
  world w;
  w.create("q", short_lived());
  kill_jobs(w, "q", 30);
  replay_dead_letters what;
  what.per_second = 1;
  auto id = w.replay_dead_letters("q", what).operation->id;
  w.remove("q", true);
  w.advance(5s);
  CHECK(w.get(id).state == operation_state::failed);
  w.crash();
  w.create("q");
  w.advance(5s);
  CHECK(w.get(id).state == operation_state::failed);
}

TEST_CASE("API keys are kept over a crash and told again") {
  world w;
  CHECK(w.api_keys().empty());
  auto key = create_key(w);
  CHECK(w.api_keys() == std::vector{key});
  w.crash();
  CHECK(w.api_keys() == std::vector{key});
  w.ask<api_key_revoked>(w.access(), revoke_api_key{key.id});
  CHECK(w.api_keys().empty());
  CHECK(create_key(w).id != key.id);
}

TEST_CASE("a key that failed with the disk can be made when that works again") {
  world w;
  w.faults().commits_until_failure = 0;
  CHECK(refusal_of([&] { create_key(w); }) == errc::storage_unavailable);
  create_key(w);
  CHECK(w.api_keys().size() == 1);
}

TEST_CASE("over all queues no more is in flight than may be") {
  for (std::uint64_t seed : {0, 1, 2}) {
    world w{seed, 7};
    w.downstream().behave(always({200, "", 100ms}));
    auto settings = some_settings();
    settings.concurrency = 50;
    for (auto name : {"a", "b", "c"}) {
      w.create(name, settings);
      for (int i = 0; i < 60; ++i)
        w.put(name);
    }
    w.advance(500ms);
    for (auto name : {"a", "b", "c"})
      CHECK(w.get(name).counts.completed > 0);
    w.crash();
    w.advance(1min);
    CHECK(w.downstream().in_flight_max() == 7);
    for (auto name : {"a", "b", "c"})
      CHECK(w.get(name).counts.completed == 60);
  }
}

TEST_CASE("a queue that is deleted in full flight gives its permits back") {
  world w{3, 4};
  w.downstream().behave(always({200, "", 10min}));
  auto settings = some_settings();
  settings.timeout = 15min;
  w.create("greedy", settings);
  w.create("modest", settings);
  for (int i = 0; i < 20; ++i)
    w.put("greedy");
  w.advance(1s);
  w.downstream().behave(always({200}));
  w.put("modest");
  w.advance(1s);
  CHECK(w.get("modest").counts.completed == 0);
  w.remove("greedy", true);
  w.advance(1s);
  CHECK(w.get("modest").counts.completed == 1);
}
