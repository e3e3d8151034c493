// Why a job is not running, in words.

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

using words = std::vector<std::string>;

/// Returns the one thing that blocks the queue.
blocked_by only(const std::vector<blocked_by>& blocked) {
  REQUIRE(blocked.size() == 1);
  return blocked.front();
}

} // namespace

TEST_CASE("an idle queue blocks nobody") {
  workbench w;
  auto v = w.view();
  CHECK(v.blocked.empty());
  CHECK(v.counts == queue_counts{});
  CHECK_FALSE(v.oldest_age);
}

TEST_CASE("a job that is being delivered is not blocked") {
  workbench w;
  auto job = w.publish();
  auto v = w.view(job);
  CHECK(v.blocked.empty());
  CHECK(v.record.job.status == job_status::processing);
  CHECK(v.record.job.deliveries == 1);
  CHECK(v.queue_name == "test");
  CHECK(v.max_attempts == 3);
  CHECK(v.max_defers == 50);
}

TEST_CASE("a job that has ended is not blocked") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(200));
  w.pause();
  CHECK(w.view(job).blocked.empty());
  CHECK(w.view(job).record.job.status == job_status::completed);
}

TEST_CASE("a held queue says until when, why, and whose fault it is") {
  workbench w;
  auto culprit = w.publish();
  w.pass(seconds(3));
  w.answer(culprit, answered(529, {"7"}));
  auto waiting = w.publish();
  auto b = only(w.view(waiting).blocked);
  CHECK(b.gate == gate_kind::hold);
  CHECK(b.since == at(3).wall);
  CHECK(b.until == at(10).wall);
  CHECK(b.caused_by_job == culprit);
  CHECK(b.reason == "the downstream answered 529");
  CHECK(only(w.view().blocked) == b);
  CHECK(w.blocked(culprit) == words{"defer", "hold"});
}

TEST_CASE("a queue that probes says so and cannot say until when") {
  workbench w;
  auto culprit = w.publish();
  w.answer(culprit, answered(429, {"1"}));
  auto waiting = w.publish();
  w.publish();
  w.pass(seconds(1));
  auto third = job_id{queue_id{1}, job_seq{3}, 21};
  auto b = only(w.view(third).blocked);
  CHECK(b.gate == gate_kind::probe);
  // When the probe went out, and which one it is.
  CHECK(b.since == at(1).wall);
  CHECK_FALSE(b.until);
  CHECK(b.caused_by_job == waiting);
  CHECK(w.view(waiting).blocked.empty());
}

TEST_CASE("a hold that is set while the probe is out is told beside it") {
  workbench w;
  w.answer(w.publish(), answered(429, {"1"}));
  w.pass(seconds(1));
  w.hold(seconds(60), "deploy");
  auto blocked = w.view().blocked;
  REQUIRE(blocked.size() == 2);
  CHECK(blocked[0].gate == gate_kind::probe);
  CHECK_FALSE(blocked[0].until);
  CHECK(blocked[1].gate == gate_kind::hold);
  CHECK(blocked[1].until == at(61).wall);
  CHECK(blocked[1].reason == "an operator holds the queue: deploy");
}

TEST_CASE("a hold after a probe without a verdict names the probe") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(429, {"1"}));
  w.pass(seconds(1));
  w.answer(job, unanswered(delivery_errc::timeout));
  auto b = only(w.view().blocked);
  CHECK(b.gate == gate_kind::hold);
  CHECK(b.until == at(2).wall);
  CHECK(b.reason == "the last probe told nothing about the downstream");
  CHECK(b.caused_by_job == job);
}

TEST_CASE("a paused queue says since when") {
  workbench w;
  w.pass(seconds(5));
  w.pause();
  w.pass(seconds(5));
  auto b = only(w.view(w.publish()).blocked);
  CHECK(b.gate == gate_kind::paused);
  CHECK(b.since == at(5).wall);
  CHECK_FALSE(b.until);
}

TEST_CASE("a job behind busy slots is told of them") {
  workbench w;
  w.publish_many(2);
  auto b = only(w.view(w.publish()).blocked);
  CHECK(b.gate == gate_kind::concurrency);
  CHECK(b.reason == "2 deliveries are in flight, the limit is 2");
}

TEST_CASE("a job behind the rate limit is told when there is room") {
  workbench w;
  w.change([](auto& s) {
    s.rate_limit_max = 1;
    s.rate_limit_window = seconds(10);
  });
  w.publish();
  w.pass(seconds(4));
  auto b = only(w.view(w.publish()).blocked);
  CHECK(b.gate == gate_kind::rate);
  CHECK(b.until == at(10).wall);
  CHECK(b.reason == "as many have started as may: 1 delivery in 10 s");
}

TEST_CASE("a job's own wait is told with both its ends") {
  workbench w;
  auto delayed = w.publish(seconds(100));
  w.pass(seconds(5));
  auto failing = w.publish();
  w.answer(failing, answered(500));
  auto b = only(w.view(delayed).blocked);
  CHECK(b.gate == gate_kind::delay);
  CHECK(b.since == at(0).wall);
  CHECK(b.until == at(100).wall);
  b = only(w.view(failing).blocked);
  CHECK(b.gate == gate_kind::backoff);
  CHECK(b.since == at(5).wall);
  CHECK(b.until == at(6).wall);
}

TEST_CASE("all gates that are shut are told, the job's own first") {
  workbench w;
  w.change([](auto& s) {
    s.rate_limit_max = 3;
    s.rate_limit_window = seconds(600);
  });
  auto culprit = w.publish();
  w.publish_many(2);
  w.answer(culprit, answered(429, {"60"}));
  w.change([](auto& s) {
    s.concurrency = 1;
    s.rate_limit_max = 2;
  });
  w.pause();
  auto job = w.publish(seconds(30));
  CHECK(w.blocked(job)
        == words{"delay", "paused", "hold", "concurrency", "rate"});
}

TEST_CASE("a wait that is over is told no more") {
  workbench w;
  auto job = w.publish(seconds(10));
  w.pause();
  w.pass(seconds(10));
  CHECK(w.blocked(job) == words{"paused"});
  CHECK(w.view(job).record.job.waits_for == wait_kind::none);
}

TEST_CASE("after a step of the wall clock the new reading is told") {
  workbench w;
  auto job = w.publish(seconds(100));
  w.step_wall_clock(std::chrono::hours{1});
  auto v = w.view(job);
  CHECK(only(v.blocked).until == at(3700).wall);
  CHECK(v.record.job.due == at(3700).wall);
}

TEST_CASE("counts tell each live job once, and the subsets besides") {
  workbench w;
  w.change([](auto& s) { s.concurrency = 3; });
  auto first = w.publish();
  w.publish_many(2);
  w.publish(seconds(50));
  w.pass(seconds(2));
  w.answer(first, answered(429, {"10"}));
  w.publish_many(3);
  auto c = w.view().counts;
  CHECK(c.pending == 4);
  CHECK(c.processing == 3);
  CHECK(c.in_flight == 2);
  CHECK(c.scheduled == 2);
  CHECK(c.held == 3);
  CHECK(w.view().oldest_age == seconds(2));
}

TEST_CASE("the queue tells its last probe and the verdict") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(429, {"1"}));
  w.pass(seconds(1));
  w.answer(job, answered(404));
  auto last = w.view().queue.gate.last;
  REQUIRE(last);
  CHECK(*last == last_probe{job, 2, probe_verdict::refused, at(1).wall});
}
