// SQLite and memory are asked the same and must answer the same.

#include <catch2/catch.hpp>

#include "random_history.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

bool same(const commit_answer& left, const commit_answer& right) {
  return left.existing == right.existing && left.done == right.done
         && left.completed == right.completed && left.dead == right.dead
         && left.live == right.live && left.key == right.key;
}

bool same(const std::vector<commit_answer>& left,
          const std::vector<commit_answer>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](auto& a, auto& b) { return same(a, b); });
}

} // namespace

TEST_CASE("SQLite and memory agree after any history") {
  auto seed = GENERATE(range(1, 13));
  CAPTURE(seed);
  memory_world memory;
  sqlite_world sqlite;
  random_history history{static_cast<std::uint64_t>(seed)};
  for (auto round = 0; round < 60; ++round) {
    auto batch = history.next(memory.disk());
    auto expected = commit(memory.disk(), batch);
    REQUIRE(same(commit(sqlite.disk(), batch), expected));
    if (round % 20 == 19)
      sqlite.restart();
    if (round % 5 == 4)
      REQUIRE((take_picture(sqlite.disk(), history.ids())
               == take_picture(memory.disk(), history.ids())));
  }
}

TEMPLATE_TEST_CASE("the counters of a queue equal a full scan", "",
                   memory_world, sqlite_world) {
  auto seed = GENERATE(range(100, 105));
  CAPTURE(seed);
  TestType world;
  random_history history{static_cast<std::uint64_t>(seed)};
  for (auto round = 0; round < 60; ++round)
    commit(world.disk(), history.next(world.disk()));
  auto counted = count_ended(world.disk(), history.ids());
  auto queues = world.disk().load_queues();
  REQUIRE(queues);
  for (auto& snapshot : *queues) {
    auto& [completed, dead] = counted[snapshot.queue.id];
    CHECK(snapshot.queue.completed == completed);
    CHECK(snapshot.queue.dead == dead);
  }
}
