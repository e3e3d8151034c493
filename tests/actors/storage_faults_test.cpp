// The disk says no.

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

using publish_answer = std::shared_ptr<std::optional<result<publish_result>>>;

publish_answer begin_publish(world& w, const queue_actor& queue) {
  publish what;
  what.payload = payload{"{}"};
  return w.system().begin_ask<publish_result>(queue, what);
}

} // namespace

TEST_CASE("what was not stored is neither acknowledged nor delivered") {
  world w;
  w.create("q");
  auto queue = w.queue("q");
  w.faults().commits_until_failure = 0;
  auto answer = begin_publish(w, queue);
  w.advance(10s);
  REQUIRE(*answer);
  REQUIRE_FALSE(**answer);
  CHECK((**answer).reason().code == errc::storage_unavailable);
  CHECK(w.downstream().arrivals().empty());
  CHECK(w.get("q").counts == queue_counts{});
}

TEST_CASE("after a failed commit the queue goes on by itself") {
  world w;
  w.create("q");
  auto before = w.put("q").id;
  w.advance(1s);
  auto queue = w.queue("q");
  w.faults().commits_until_failure = 0;
  begin_publish(w, queue);
  w.advance(5s);
  auto after = w.put("q").id;
  w.advance(5s);
  CHECK(w.get(before).record.job.status == job_status::completed);
  CHECK(w.get(after).record.job.status == job_status::completed);
}

TEST_CASE("while the disk is gone publishes fail, then everything goes on") {
  world w;
  w.create("q");
  for (int i = 0; i < 100; ++i)
    w.put("q");
  w.advance(30ms);
  w.faults().down = true;
  auto queue = w.queue("q");
  std::vector<publish_answer> answers;
  for (int i = 0; i < 60; ++i) {
    answers.push_back(begin_publish(w, queue));
    w.advance(1s);
  }
  for (auto& answer : answers) {
    REQUIRE(*answer);
    REQUIRE_FALSE(**answer);
    CHECK((**answer).reason().code == errc::storage_unavailable);
  }
  auto ready = w.system().ask<ready_for_work>(w.registry(), check_ready{});
  REQUIRE(ready);
  REQUIRE_FALSE(*ready);
  CHECK((*ready).reason().code == errc::storage_unavailable);
  auto list = w.system().ask<queue_list>(w.registry(), list_queues{});
  REQUIRE(list);
  REQUIRE_FALSE(*list);
  CHECK((*list).reason().code == errc::storage_unavailable);
  w.faults().down = false;
  w.advance(1min);
  auto q = w.get("q");
  CHECK(q.counts.completed == 100);
  CHECK(w.scan("q").completed == 100);
  std::vector<event_kind> kinds;
  for (const auto& e : w.events())
    kinds.push_back(e.kind);
  CHECK(kinds
        == std::vector{event_kind::queue_created, event_kind::store_failed,
                       event_kind::store_recovered});
  CHECK(w.events()[1].detail == "the disk said no");
}

TEST_CASE("every commit of a story may fail and nothing is lost") {
  for (bool kept : {false, true}) {
    for (std::uint64_t n = 0;; ++n) {
      world w{n + 1};
      w.create("q");
      auto queue = w.queue("q");
      w.downstream().behave(in_turn({{429, "1"}, {500}, {200}}));
      w.faults().failure_keeps_data = kept;
      w.faults().commits_until_failure = n;
      std::vector<publish_answer> answers;
      for (int i = 0; i < 4; ++i) {
        answers.push_back(begin_publish(w, queue));
        w.advance(300ms);
      }
      w.advance(10min);
      std::uint64_t accepted = 0;
      for (auto& answer : answers) {
        REQUIRE(*answer);
        accepted += **answer ? 1 : 0;
      }
      auto q = w.get("q");
      INFO("commit " << n << (kept ? " stored" : " lost"));
      CHECK(q.counts.dead == 0);
      CHECK(q.counts.completed >= accepted);
      CHECK(q.counts.completed <= 4);
      CHECK(w.scan("q").completed == q.counts.completed);
      if (w.faults().failures == 0)
        break;
    }
  }
}

TEST_CASE("a queue is not there when its creation was not stored") {
  world w;
  w.faults().commits_until_failure = 0;
  auto answer = w.system().ask<put_queue_result>(
    w.registry(), create_queue{"q", some_settings()});
  REQUIRE(answer);
  CHECK_FALSE(*answer);
  CHECK(w.create("q").queue.name == "q");
}
