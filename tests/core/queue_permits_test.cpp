// A queue under a cap on the deliveries of the whole server.

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

queue_settings wide() {
  auto result = plain_settings();
  result.concurrency = 10;
  return result;
}

} // namespace

TEST_CASE("no more are in flight than there are permits") {
  workbench w{wide(), 3};
  w.publish_many(10);
  CHECK(w.in_flight().size() == 3);
  for (auto i = 0; i < 10; ++i)
    w.answer(std::size_t{0}, answered(200));
  CHECK(w.store().queue().completed == 10);
  CHECK(w.free_permits() == 3);
}

TEST_CASE("a queue that waits for others says so, and goes on when it may") {
  workbench w{wide(), 2};
  w.rivals_take(2);
  auto job = w.publish();
  CHECK(w.blocked(job) == std::vector<std::string>{"global_concurrency"});
  w.rivals_take(-1);
  CHECK(w.flies(job));
}

TEST_CASE("a permit that comes too late is given back") {
  workbench w{wide(), 1};
  w.rivals_take(1);
  w.publish();
  w.pause();
  w.rivals_leave();
  CHECK(w.free_permits() == 1);
  CHECK(w.queue().permits_held() == 0);
  w.resume();
  CHECK(w.in_flight().size() == 1);
}

TEST_CASE("a job that awaits its ack needs no permit") {
  auto settings = wide();
  settings.mode = delivery_mode::ack;
  workbench w{settings, 1};
  w.publish_many(3);
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.awaiting().size() == 1);
  CHECK(w.in_flight().size() == 1);
}

TEST_CASE("a held queue keeps no permits from others") {
  workbench w{wide(), 5};
  w.publish_many(8);
  w.answer(std::size_t{0}, answered(429, {"10"}));
  w.answer_all(answered(200));
  CHECK(w.free_permits() == 5);
  w.pass(seconds(10));
  CHECK(w.in_flight().size() == 1);
  CHECK(w.free_permits() == 4);
}

TEST_CASE("an aborted POST gives its permit back when it has ended") {
  workbench w{wide(), 1};
  w.keep_aborted_flying();
  auto job = w.publish();
  w.cancel(job);
  CHECK(w.free_permits() == 0);
  w.answer(job, unanswered(delivery_errc::aborted));
  CHECK(w.free_permits() == 1);
}

TEST_CASE("what a queue has not used can be taken from it at its end") {
  push_queue q{[] {
                 queue_snapshot s;
                 s.queue.settings = wide();
                 return s;
               }(),
               at(0), true};
  q.granted(4);
  CHECK(q.permits_held() == 4);
  CHECK(q.leave_permits_unused() == 4);
  CHECK(q.permits_held() == 0);
}
