// What is read from the store may be old when it arrives.

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

TEST_CASE("a job that changed while it was read is read again") {
  workbench w{ack_settings()};
  w.keep_loads_back();
  auto job = w.publish(seconds(1));
  w.ack(job, 1);
  w.nack(job, true, 1);
  // Its turn has come: now it is read for that as well.
  w.pass(seconds(1));
  w.load();
  CHECK(w.answers()[0] == "not_awaiting_outcome");
  REQUIRE(w.flies(job));
  w.answer(job, answered(200));
  w.load();
  CHECK(w.answers()[1] == "ok");
  CHECK(w.stored(job).attempts == 1);
  w.load();
  w.pass(seconds(1));
  while (w.has_loads())
    w.load();
  REQUIRE(w.flies(job));
  CHECK(w.in_flight()[0].number == 2);
  CHECK(w.in_flight()[0].attempt == 2);
}

TEST_CASE("a late ack counts no delivery twice, however old its reading is") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(500));
  w.keep_loads_back();
  w.keep_commits_back();
  w.ack(job);
  w.pass(seconds(1));
  w.load();
  w.commit_all();
  while (w.has_loads() || w.has_uncommitted()) {
    w.load();
    w.commit_all();
  }
  CHECK(w.answers()[0] == "ok");
  CHECK(w.stored(job).status == job_status::completed);
  CHECK(w.stored(job).attempts == 1);
}

TEST_CASE("a job that nobody finds any more is said to be unknown") {
  workbench w{ack_settings()};
  w.pause();
  auto job = w.publish(seconds(5));
  w.keep_loads_back();
  w.cancel(job);
  CHECK(w.purge() == 1);
  w.load();
  w.load();
  CHECK(w.answers()[0] == "job_not_found");
  CHECK(w.queue().memory().watches == 0);
}

TEST_CASE("what comes back from a wait for its ack is sent with its payload") {
  workbench w{ack_settings()};
  w.change([](auto& s) { s.backoff.delay = 0; });
  auto job = w.publish();
  w.answer(job, answered(200));
  w.keep_commits_back();
  w.nack(job);
  // Its new start waits for the disk, its payload does not.
  CHECK(w.has_uncommitted());
  w.commit_all();
  w.commit_all();
  REQUIRE(w.flies(job));
  CHECK(w.in_flight()[0].payload == w.stored(job).payload);
  CHECK(w.in_flight()[0].number == 2);
}
