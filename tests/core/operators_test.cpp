// What operators do to single jobs and to many.

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

template <class F>
queue_settings with(F change) {
  auto result = plain_settings();
  change(result);
  return result;
}

queue_settings one_by_one() {
  return with([](auto& s) { s.concurrency = 1; });
}

job_id number(std::uint64_t n) {
  return {queue_id{1}, job_seq{n}, n * 7};
}

/// Returns a queue whose one job has died at its first failure.
workbench with_dead_job() {
  workbench w{with([](auto& s) { s.max_attempts = 1; })};
  w.publish();
  w.answer(std::size_t{0}, answered(500));
  return w;
}

} // namespace

// -- run now ------------------------------------------------------------------

TEST_CASE("run now drops a delay, and the job goes once") {
  workbench w;
  auto job = w.publish(seconds(100));
  CHECK(w.run_now(job) == "ok");
  CHECK(w.flies(job));
  w.answer(job, answered(200));
  w.pass(seconds(200));
  CHECK(w.log().size() == 1);
}

TEST_CASE("run now drops a backoff and spends nothing") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(500));
  CHECK(w.run_now(job) == "ok");
  CHECK(w.in_flight().at(0).attempt == 2);
}

TEST_CASE("run now opens no gate and ends no defer") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(429, {"10"}));
  CHECK(w.run_now(job) == "ok");
  CHECK(w.blocked(job) == std::vector<std::string>{"defer", "hold"});
  auto delayed = w.publish(seconds(50));
  CHECK(w.run_now(delayed) == "ok");
  CHECK(w.blocked(delayed) == std::vector<std::string>{"hold"});
  w.restart();
  CHECK(w.blocked(delayed) == std::vector<std::string>{"hold"});
}

TEST_CASE("what has ended does not run now") {
  auto w = with_dead_job();
  CHECK(w.run_now(number(1)) == "job_dead");
  w.answer(w.publish(), answered(200));
  CHECK(w.run_now(number(2)) == "job_completed");
}

// -- cancel -------------------------------------------------------------------

TEST_CASE("a job that waits is cancelled at once") {
  workbench w;
  auto job = w.publish(seconds(100));
  CHECK(w.cancel(job) == "ok");
  CHECK(w.stored(job).dead_reason == dead_reason::cancelled);
  CHECK_FALSE(w.stored(job).dead_letter);
  CHECK(w.cancel(job) == "job_dead");
  CHECK(w.queue().live_jobs() == 0);
}

TEST_CASE("a cancelled delivery keeps its slot until its POST has ended") {
  workbench w{one_by_one()};
  w.keep_aborted_flying();
  auto job = w.publish();
  auto next = w.publish();
  CHECK(w.cancel(job) == "ok");
  CHECK(w.stored(job).status == job_status::dead);
  CHECK(w.stored(job).deliveries == 1);
  CHECK_FALSE(w.flies(next));
  w.answer(job, unanswered(delivery_errc::aborted));
  CHECK(w.flies(next));
  CHECK(w.stored(job).status == job_status::dead);
}

TEST_CASE("a cancelled probe lets the next one go when its POST has ended") {
  workbench w;
  w.keep_aborted_flying();
  w.hold(seconds(1));
  w.publish_many(2);
  w.pass(seconds(1));
  CHECK(w.cancel(number(1)) == "ok");
  w.pass(seconds(10));
  CHECK(w.gate() == gate_state::probing);
  CHECK_FALSE(w.flies(number(2)));
  w.answer(number(1), answered(200));
  CHECK(w.gate() == gate_state::probing);
  CHECK(w.in_flight().at(0).job == number(2));
}

TEST_CASE("a slot is free after a thousand of each way to lose a job") {
  auto settings = ack_settings();
  settings.lifetime = seconds(1);
  settings.max_attempts = 1;
  workbench w{settings};
  for (auto i = 0; i < 1000; ++i) {
    auto job = w.publish();
    if (i % 2)
      w.answer(job, answered(200));
    switch (i % 5) {
      case 0:
        w.cancel(job);
        break;
      case 1:
        w.change([](auto& s) { s.concurrency = 3 - s.concurrency; });
        w.nack(job);
        break;
      case 2:
        w.pass(seconds(2));
        w.purge();
        break;
      case 3:
        w.pass(seconds(302));
        break;
      default:
        w.restart(seconds(2));
        break;
    }
    w.pass(seconds(2));
    w.answer_all(answered(500));
    for (auto j : w.awaiting())
      w.nack(j);
    REQUIRE(w.queue().in_flight() == 0);
    REQUIRE(w.queue().live_jobs() == 0);
  }
}

// -- replay -------------------------------------------------------------------

TEST_CASE("a replay has fresh budgets and keeps the count of deliveries") {
  auto w = with_dead_job();
  w.pause();
  CHECK(w.replay(number(1)) == "ok");
  const auto& j = w.stored(number(1));
  CHECK(j.status == job_status::pending);
  CHECK(j.attempts == 0);
  CHECK(j.deliveries == 1);
  CHECK(j.replays == 1);
  CHECK_FALSE(j.dead_letter);
  CHECK_FALSE(j.ended_at);
  CHECK(w.view().counts.dead == 0);
  CHECK(w.view().counts.pending == 1);
  w.resume();
  CHECK(w.in_flight().at(0).attempt == 1);
  CHECK(w.in_flight().at(0).number == 2);
  w.answer(number(1), answered(200));
  REQUIRE(w.history(number(1)).size() == 3);
  CHECK(w.history(number(1))[1].status == delivery_status::replayed);
  CHECK(w.events()[2].kind == event_kind::job_replayed);
  CHECK(w.events()[2].job == number(1));
}

TEST_CASE("an edited payload is sent, and the one before is kept") {
  auto w = with_dead_job();
  auto before = w.stored(number(1)).payload;
  CHECK(w.replay(number(1), payload{"[1]"}) == "ok");
  CHECK(w.in_flight().at(0).payload == payload{"[1]"});
  CHECK(w.history(number(1))[1].replaced == before);
  w.restart();
  CHECK(w.in_flight().at(0).payload == payload{"[1]"});
}

TEST_CASE("a replay starts a new lifetime") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  w.pause();
  auto job = w.publish();
  w.pass(seconds(10));
  CHECK(w.stored(job).dead_reason == dead_reason::lifetime_exceeded);
  w.pass(seconds(5));
  CHECK(w.replay(job) == "ok");
  w.pass(seconds(9.999999));
  CHECK(w.stored(job).status == job_status::pending);
  w.pass(duration{1});
  CHECK(w.stored(job).status == job_status::dead);
}

TEST_CASE("only the dead are replayed, and once at a time") {
  auto w = with_dead_job();
  auto live = w.publish(seconds(5));
  CHECK(w.replay(live) == "not_dead");
  w.answer(w.publish(), answered(200));
  CHECK(w.replay(number(3)) == "not_dead");
  w.keep_commits_back();
  CHECK(w.replay(number(1)).empty());
  CHECK(w.replay(number(1)) == "not_dead");
  w.commit_all();
  CHECK(w.log().size() == 3);
}

TEST_CASE("a replay of what has been removed meanwhile does nothing") {
  auto w = with_dead_job();
  w.keep_commits_back();
  w.remove_ended({number(1)});
  w.replay(number(1));
  w.commit_all();
  CHECK(w.queue().live_jobs() == 0);
  CHECK(w.view().counts.dead == 0);
  CHECK(w.log().size() == 1);
}

// -- many ---------------------------------------------------------------------

TEST_CASE("a purge by status leaves alone what is in flight") {
  auto settings = ack_settings();
  settings.concurrency = 4;
  workbench w{settings};
  w.publish_many(4);
  w.answer(number(1), answered(500));
  w.answer(number(2), answered(500));
  w.answer(number(3), answered(200));
  w.pause();
  w.publish_many(3);
  w.publish(seconds(50));
  workbench pending = w;
  CHECK(pending.purge(false) == 4);
  CHECK(pending.view().counts.pending == 0);
  CHECK(pending.view().counts.processing == 3);
  workbench processing = w;
  CHECK(processing.purge(true) == 2);
  CHECK(processing.view().counts.pending == 4);
  CHECK(w.purge() == 6);
  CHECK(w.flies(number(4)));
  CHECK(w.ack(number(3)) == "ok");
  CHECK(w.queue().live_jobs() == 1);
}

TEST_CASE("a purge finds jobs that came back out of order") {
  auto w = with_dead_job();
  w.pause();
  w.publish_many(10);
  w.replay(number(1));
  CHECK(w.purge() == 11);
  CHECK(w.queue().live_jobs() == 0);
}

TEST_CASE("ended jobs are removed, and those that live again are not") {
  auto w = with_dead_job();
  w.answer(w.publish(), answered(200));
  w.pause();
  w.replay(number(1));
  w.remove_ended({number(1), number(2), number(9)});
  CHECK(w.stored(number(1)).status == job_status::pending);
  CHECK_FALSE(w.store().find(number(2)));
  CHECK(w.view().counts.completed == 0);
}

TEST_CASE("what ended may be removed after the retention") {
  workbench w{with([](auto& s) { s.retention = seconds(60); })};
  auto job = w.publish();
  w.pass(seconds(1));
  w.answer(job, answered(200));
  CHECK(w.stored(job).remove_at == at(61).wall);
}

TEST_CASE("dead letters are kept unless the queue has that switched off") {
  auto w = with_dead_job();
  CHECK(w.stored(number(1)).dead_letter);
  w.change([](auto& s) { s.dead_letter = false; });
  w.answer(w.publish(), answered(500));
  CHECK_FALSE(w.stored(number(2)).dead_letter);
}
