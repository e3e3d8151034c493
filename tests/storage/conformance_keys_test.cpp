// What every store promises about idempotency keys that outlive a move, or end
// before their job. Each case runs on memory and SQLite.

#include <catch2/catch.hpp>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;
using namespace std::chrono_literals;

namespace {

void add_queues(store& where) {
  commit(where, {insert_queue{sample_pull_queue(1)},
                 insert_queue{sample_pull_queue(2)}});
}

// Publishes one job more and returns who had its key.
std::optional<job> publish(store& where, const insert_job& what) {
  return commit(where, {what})[0].existing;
}

std::optional<job> holder(store& where, std::uint32_t queue) {
  auto found = open_reader(where)->find_by_key(queue_id{queue}, "key");
  REQUIRE(found);
  return std::move(*found);
}

// Publishes a job under a key that is free if it was taken before `since`.
insert_job fresh(job what, wall_time since) {
  return {std::move(what), api_key_id{}, since};
}

} // namespace

// -- after a move -------------------------------------------------------------

TEMPLATE_TEST_CASE("a key stays in the queue where its message was published",
                   "", memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  auto one = sample_job(1, 1, "key");
  auto move = moved(one, 2);
  commit(world.disk(), {published(one), move});
  world.restart();
  auto expected = move.job;
  expected.id.queue = queue_id{2};
  CHECK(holder(world.disk(), 1) == expected);
  CHECK_FALSE(holder(world.disk(), 2));
  CHECK(publish(world.disk(), published(sample_job(1, 2, "key"))) == expected);
  auto other = sample_job(2, 3, "key");
  CHECK_FALSE(publish(world.disk(), published(other)));
  commit(world.disk(), {remove_jobs{queue_id{2}, {one.id.seq}}});
  CHECK_FALSE(holder(world.disk(), 1));
  CHECK(holder(world.disk(), 2) == other);
  CHECK_FALSE(publish(world.disk(), published(sample_job(1, 4, "key"))));
}

TEMPLATE_TEST_CASE("a key follows its message through several moves and ends",
                   "", memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  commit(world.disk(), {insert_queue{sample_pull_queue(3)}});
  auto one = sample_job(1, 1, "key");
  auto second = moved(one, 3).job;
  second.id.queue = queue_id{2};
  auto there = one;
  there.id.queue = queue_id{3};
  auto end = completed(there, 3);
  commit(world.disk(),
         {published(one), moved(one, 2), move_message{second, queue_id{3}}, end,
          revived(end.job), end});
  world.restart();
  CHECK(holder(world.disk(), 1)->id == there.id);
  commit(world.disk(), {remove_jobs{queue_id{3}, {one.id.seq}}});
  CHECK_FALSE(holder(world.disk(), 1));
  CHECK_FALSE(publish(world.disk(), published(sample_job(1, 2, "key"))));
}

TEMPLATE_TEST_CASE("a message that came back holds its key as before", "",
                   memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  auto one = sample_job(1, 1, "key");
  auto back = moved(one, 1);
  back.job.id.queue = queue_id{2};
  commit(world.disk(), {published(one), moved(one, 2), back});
  CHECK(holder(world.disk(), 1)->id == one.id);
  commit(world.disk(), {remove_jobs{queue_id{1}, {one.id.seq}}});
  CHECK_FALSE(holder(world.disk(), 1));
}

TEMPLATE_TEST_CASE(
  "messages that go with their queue free their keys elsewhere", "",
  memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  auto live = sample_job(1, 1, "key");
  auto ended = sample_job(1, 2, "other");
  auto end = completed(ended, 1);
  end.job.id.queue = queue_id{2};
  auto stays = sample_job(1, 3, "stays");
  commit(world.disk(), {published(live), published(ended), published(stays),
                        moved(live, 2), moved(ended, 2), end});
  commit(world.disk(), {remove_queue{queue_id{2}}});
  world.restart();
  CHECK_FALSE(message_of(world.disk(), live.id));
  CHECK_FALSE(publish(world.disk(), published(sample_job(1, 4, "key"))));
  CHECK_FALSE(publish(world.disk(), published(sample_job(1, 5, "other"))));
  CHECK(publish(world.disk(), published(sample_job(1, 6, "stays"))) == stays);
}

TEMPLATE_TEST_CASE("a moved message outlives the queue where it was published",
                   "", memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  auto one = sample_job(1, 1, "key");
  commit(world.disk(), {published(one), moved(one, 2)});
  commit(world.disk(), {remove_queue{queue_id{1}}});
  world.restart();
  CHECK(message_of(world.disk(), one.id));
  CHECK_FALSE(holder(world.disk(), 1));
  auto other = sample_job(2, 2, "key");
  CHECK_FALSE(publish(world.disk(), published(other)));
  commit(world.disk(), {remove_jobs{queue_id{2}, {one.id.seq}}});
  CHECK(holder(world.disk(), 2) == other);
}

// -- after a time -------------------------------------------------------------

TEMPLATE_TEST_CASE("a key is taken over from a job that is too old, no later",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto ended = GENERATE(false, true);
  add_queues(world.disk());
  auto old = sample_job(1, 1, "key");
  auto end = completed(old, 1);
  commit(world.disk(), {published(old)});
  if (ended)
    commit(world.disk(), {end});
  auto expected = ended ? end.job : old;
  auto next = sample_job(1, 2, "key");
  CHECK(publish(world.disk(), fresh(next, old.created_at)) == expected);
  CHECK_FALSE(publish(world.disk(), fresh(next, old.created_at + 1us)));
  world.restart();
  CHECK(holder(world.disk(), 1) == next);
  CHECK(message_of(world.disk(), old.id) == expected);
  CHECK(publish(world.disk(), published(sample_job(1, 3, "key"))) == next);
}

TEMPLATE_TEST_CASE("a job that lost its key leaves it to who has it now", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto is_moved = GENERATE(false, true);
  add_queues(world.disk());
  auto old = sample_job(1, 1, "key");
  auto next = sample_job(1, 2, "key");
  commit(world.disk(), {published(old)});
  if (is_moved)
    commit(world.disk(), {moved(old, 2)});
  commit(world.disk(), {fresh(next, at(1000))});
  auto where = queue_id{is_moved ? 2u : 1u};
  auto removed = GENERATE(false, true);
  if (removed)
    commit(world.disk(), {remove_jobs{where, {old.id.seq}}});
  else if (is_moved)
    commit(world.disk(), {remove_queue{where}});
  CHECK(holder(world.disk(), 1) == next);
  commit(world.disk(), {remove_jobs{queue_id{1}, {next.id.seq}}});
  CHECK_FALSE(holder(world.disk(), 1));
}

TEMPLATE_TEST_CASE("a key that was taken over is given back with its batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  auto old = sample_job(1, 1, "key");
  commit(world.disk(), {published(old)});
  std::vector<record> batch{fresh(sample_job(1, 2, "key"), at(1000)),
                            remove_queue{queue_id{9}}};
  CHECK_FALSE(world.disk().commit(batch));
  CHECK_FALSE(world.disk().reopen());
  CHECK(holder(world.disk(), 1) == old);
}

TEMPLATE_TEST_CASE("a successor takes a key over like any message", "",
                   memory_world, sqlite_world) {
  TestType world;
  add_queues(world.disk());
  auto one = sample_job(1, 1);
  auto old = sample_job(2, 2, "key");
  auto next = sample_job(2, 3, "key");
  commit(world.disk(), {published(one), published(old)});
  auto answers = commit(world.disk(),
                        {hand_over{acked(one, 1), fresh(next, at(1000))}});
  CHECK(answers[0].done);
  CHECK_FALSE(answers[0].existing);
  CHECK(holder(world.disk(), 2) == next);
}
