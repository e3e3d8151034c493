// What every store promises about queues. Each case runs on memory and SQLite.

#include <catch2/catch.hpp>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

queue_record only_queue(store& where) {
  auto queues = where.load_queues();
  REQUIRE(queues);
  REQUIRE(queues->size() == 1);
  return queues->front().queue;
}

} // namespace

TEMPLATE_TEST_CASE("a new store is empty and starts counting at nothing", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto queues = world.disk().load_queues();
  REQUIRE(queues);
  CHECK(queues->empty());
  CHECK(*world.disk().last_job_seq() == job_seq{0});
  CHECK(*world.disk().last_queue_id() == queue_id{0});
  CHECK(*world.disk().last_operation_id() == operation_id{0});
}

TEMPLATE_TEST_CASE("a queue comes back with every field after a restart", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto queue = sample_queue(3);
  queue.paused = true;
  queue.paused_since = at(8);
  queue.gate = sample_gate();
  queue.rate = {{at(1), 4}, {at(2), 100000}};
  queue.completed = 5;
  queue.dead = 6;
  commit(world.disk(), {insert_queue{queue}});
  world.restart();
  CHECK(only_queue(world.disk()) == queue);
}

TEMPLATE_TEST_CASE("settings without a limit and without headers come back so",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto queue = sample_queue(1);
  queue.settings = queue_settings{};
  queue.settings.webhook_url = "https://example.org/";
  queue.previous_secret.clear();
  commit(world.disk(), {insert_queue{queue}});
  world.restart();
  CHECK(only_queue(world.disk()) == queue);
}

TEMPLATE_TEST_CASE("new settings leave gate, rate, secret and counters alone",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto queue = sample_queue(1);
  queue.gate = sample_gate();
  queue.rate = {{at(1), 4}};
  queue.completed = 5;
  commit(world.disk(), {insert_queue{queue}});
  queue.settings.concurrency = 99;
  queue.settings.rate_limit_max.reset();
  queue.settings.headers = {{"x-c", "3"}};
  queue.paused = true;
  queue.paused_since = at(50);
  queue.updated_at = at(51);
  commit(world.disk(),
         {update_queue{queue.id, queue.settings, true, at(50), at(51)}});
  CHECK(only_queue(world.disk()) == queue);
}

TEMPLATE_TEST_CASE("a gate that has opened again remembers nothing of the hold",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto queue = sample_queue(1);
  queue.gate = sample_gate();
  commit(world.disk(), {insert_queue{queue}});
  queue.gate = gate_record{};
  commit(world.disk(), {update_gate{queue.id, queue.gate}});
  CHECK(only_queue(world.disk()) == queue);
}

TEMPLATE_TEST_CASE("what counts against the rate limit is replaced as a whole",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto queue = sample_queue(1);
  queue.rate = {{at(1), 4}, {at(2), 1}};
  commit(world.disk(), {insert_queue{queue}});
  queue.rate = {{at(2), 1}, {at(3), 8}, {far_future, 1}};
  commit(world.disk(), {update_rate{queue.id, queue.rate}});
  CHECK(only_queue(world.disk()) == queue);
  queue.rate.clear();
  commit(world.disk(), {update_rate{queue.id, queue.rate}});
  CHECK(only_queue(world.disk()) == queue);
}

TEMPLATE_TEST_CASE("new secrets take the place of both old ones", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto queue = sample_queue(1);
  commit(world.disk(), {insert_queue{queue}});
  queue.secret = "whsec_bmV3";
  queue.previous_secret.clear();
  queue.previous_secret_until = at(99);
  commit(world.disk(), {update_secrets{queue.id, "whsec_bmV3", "", at(99)}});
  world.restart();
  CHECK(only_queue(world.disk()) == queue);
}

TEMPLATE_TEST_CASE("two projects may have queues of the same name", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto theirs = sample_queue(2, "queue-1");
  theirs.project = "other";
  commit(world.disk(), {insert_queue{sample_queue(1)}, insert_queue{theirs}});
  auto queues = world.disk().load_queues();
  REQUIRE(queues);
  REQUIRE(queues->size() == 2);
  CHECK(queues->at(1).queue == theirs);
}

TEMPLATE_TEST_CASE("queues come back in the order of their numbers", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(),
         {insert_queue{sample_queue(9)}, insert_queue{sample_queue(2)},
          insert_queue{sample_queue(4)}});
  auto queues = world.disk().load_queues();
  REQUIRE(queues);
  REQUIRE(queues->size() == 3);
  CHECK(queues->at(0).queue.id == queue_id{2});
  CHECK(queues->at(1).queue.id == queue_id{4});
  CHECK(queues->at(2).queue.id == queue_id{9});
}

TEMPLATE_TEST_CASE("the number of a removed queue is remembered", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(7)}});
  commit(world.disk(), {remove_queue{queue_id{7}}});
  world.restart();
  CHECK(world.disk().load_queues()->empty());
  CHECK(*world.disk().last_queue_id() == queue_id{7});
}

TEMPLATE_TEST_CASE("removing a queue takes its jobs and keys and no others", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 10, "a");
  auto ended = sample_job(1, 11, "b");
  auto other = sample_job(2, 5, "a");
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          published(live), published(ended), published(other), retried(live, 1),
          retried(other, 1), completed(ended, 1)});
  commit(world.disk(), {remove_queue{queue_id{1}}});
  CHECK_FALSE(find(world.disk(), live.id));
  CHECK_FALSE(find(world.disk(), ended.id));
  auto kept = find(world.disk(), other.id);
  REQUIRE(kept);
  CHECK(kept->history.size() == 1);
  CHECK(*world.disk().last_job_seq() == job_seq{11});
  auto again = sample_job(3, 12, "a");
  auto answers = commit(world.disk(), {insert_queue{sample_queue(3, "queue-1")},
                                       published(again)});
  CHECK_FALSE(answers[1].existing);
  CHECK(find(world.disk(), again.id));
}

TEMPLATE_TEST_CASE("a queue can be made and removed in the same batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(job), completed(job, 1),
          remove_queue{queue_id{1}}, insert_queue{sample_queue(2, "queue-1")}});
  CHECK(only_queue(world.disk()) == sample_queue(2, "queue-1"));
}

TEMPLATE_TEST_CASE("a change of a queue that is not there fails its batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  auto bad = GENERATE(as<record>{}, update_queue{queue_id{2}, {}},
                      update_gate{queue_id{2}, {}},
                      update_rate{queue_id{2}, {}}, remove_queue{queue_id{2}},
                      update_secrets{queue_id{2}, "", "", {}},
                      update_limit_key{queue_id{2}, sample_limit_key("a")},
                      update_limit_key{queue_id{2}, limit_key_record{}},
                      published(sample_job(2, 1)),
                      insert_queue{sample_queue(1, "other")},
                      insert_queue{sample_queue(2, "queue-1")});
  std::vector<record> batch{published(sample_job(1, 50)), bad};
  auto answers = world.disk().commit(batch);
  REQUIRE_FALSE(answers);
  CHECK(answers.reason().code == errc::storage_unavailable);
  CHECK_FALSE(world.disk().reopen());
  CHECK_FALSE(find(world.disk(), sample_job(1, 50).id));
  CHECK(only_queue(world.disk()) == sample_queue(1));
}
