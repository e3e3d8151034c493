// What is told of a delivery when it has ended.

#include <catch2/catch.hpp>

#include "tests/core/pull_bench.hpp"
#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

/// Returns the last account that was given.
delivery_account last(const workbench& w) {
  REQUIRE_FALSE(w.accounts().empty());
  return w.accounts().back();
}

delivery_account last(const pull_bench& w) {
  REQUIRE_FALSE(w.accounts().empty());
  return w.accounts().back();
}

} // namespace

TEST_CASE("a delivery that went well is told once") {
  workbench w;
  tidegate::publish what;
  what.limit_key = "tenant";
  what.context = job_context{{{}, "00-1-2-01", {}}};
  auto job = w.publish(what);
  CHECK(w.accounts().empty());
  auto reply = answered(200);
  reply.took = seconds(0.25);
  w.answer(job, reply);
  REQUIRE(w.accounts().size() == 1);
  delivery_account expected;
  expected.project = w.view().queue.project;
  expected.queue = "test";
  expected.limit_key = "tenant";
  expected.job = job;
  expected.delivery = 1;
  expected.attempt = 1;
  expected.http_status = 200;
  expected.took = seconds(0.25);
  expected.decision = delivery_decision::completed;
  expected.traceparent = "00-1-2-01";
  CHECK(last(w) == expected);
}

TEST_CASE(
  "a failure is told with the time of the retry, the last one with the "
  "reason") {
  workbench w;
  w.change([](auto& s) { s.max_attempts = 2; });
  auto job = w.publish();
  w.answer(job, unanswered(delivery_errc::timeout));
  CHECK(last(w).decision == delivery_decision::retry);
  CHECK(last(w).error_code == delivery_errc::timeout);
  CHECK_FALSE(last(w).http_status);
  CHECK_FALSE(last(w).reported);
  CHECK(last(w).until == at(1).wall);
  w.pass(seconds(1));
  w.answer(job, answered(500));
  CHECK(last(w).decision == delivery_decision::dead);
  CHECK(last(w).reason == dead_reason::attempts_exhausted);
  CHECK(last(w).attempt == 2);
  CHECK(last(w).delivery == 2);
  CHECK_FALSE(last(w).until);
}

TEST_CASE(
  "a defer is told with the hold that it caused, and the probe as a "
  "probe") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(429, {"7"}));
  CHECK(last(w).decision == delivery_decision::defer);
  CHECK(last(w).until == at(7).wall);
  CHECK(last(w).gate == gate_state::held);
  CHECK(last(w).held_until == at(7).wall);
  CHECK(last(w).cause == hold_cause::downstream);
  CHECK_FALSE(last(w).probe);
  w.pass(seconds(7));
  w.answer(job, answered(503, {"1"}));
  CHECK(last(w).probe);
  CHECK(last(w).held_until == at(8).wall);
  w.pass(seconds(1));
  w.answer(job, answered(200));
  CHECK(last(w).probe);
  CHECK(last(w).decision == delivery_decision::completed);
  CHECK(last(w).gate == gate_state::open);
  CHECK(last(w).attempt == 1);
  CHECK(w.accounts().size() == 3);
}

TEST_CASE("a hold of a limit key is told as one of the key") {
  workbench w;
  w.change([](auto& s) { s.backpressure_scope = backpressure_scope::key; });
  auto job = w.publish_for("tenant");
  w.answer(job, answered(429, {"7"}));
  CHECK(last(w).gate_of_key);
  CHECK(last(w).gate == gate_state::held);
  CHECK(last(w).held_until == at(7).wall);
}

TEST_CASE("in ack mode the webhook's answer and the outcome are told") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(202));
  CHECK(last(w).decision == delivery_decision::awaiting_ack);
  CHECK(last(w).http_status == 202);
  CHECK(last(w).until == at(300).wall);
  w.pass(seconds(2));
  w.ack(job);
  CHECK(last(w).decision == delivery_decision::completed);
  CHECK(last(w).reported);
  auto other = w.publish();
  w.answer(other, answered(200));
  w.pass(seconds(300));
  CHECK(last(w).decision == delivery_decision::retry);
  CHECK(last(w).error_code == delivery_errc::ack_timeout);
  CHECK_FALSE(last(w).reported);
  CHECK(w.accounts().size() == 4);
}

TEST_CASE("what a cancelled delivery comes to is told, too") {
  workbench w;
  w.keep_aborted_flying();
  auto job = w.publish();
  w.cancel(job);
  w.answer(job, answered(200));
  CHECK(last(w).decision == delivery_decision::known);
  CHECK(last(w).http_status == 200);
  CHECK(last(w).job == job);
}

TEST_CASE(
  "a delivery that a restart interrupted is told as one that is made "
  "again") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.restart();
  CHECK(last(w).decision == delivery_decision::again);
  CHECK(last(w).delivery == 1);
  CHECK(last(w).job == job);
}

TEST_CASE("nothing is told before it is stored") {
  workbench w;
  auto job = w.publish();
  w.keep_commits_back();
  w.answer(job, answered(200));
  CHECK(w.accounts().empty());
  w.commit_all();
  CHECK(w.accounts().size() == 1);
}

TEST_CASE("where nobody keeps account none is given") {
  workbench w;
  w.queue().keep_accounts(false);
  w.answer(w.publish(), answered(200));
  w.answer(w.publish(), answered(500));
  CHECK(w.accounts().empty());
}

TEST_CASE("a message that is pushed is told like a job") {
  pull_settings settings;
  settings.max_receive_count = 2;
  pull_bench w{settings};
  w.subscribe();
  auto id = w.publish();
  w.answer(answered(429, {"3"}));
  CHECK(last(w).is_message);
  CHECK(last(w).queue == "q");
  CHECK(last(w).job == w.row(id).id);
  CHECK(last(w).decision == delivery_decision::defer);
  CHECK(last(w).held_until == at(3).wall);
  w.pass(seconds(3));
  w.answer(answered(500));
  CHECK(last(w).probe);
  CHECK(last(w).decision == delivery_decision::retry);
  CHECK(last(w).attempt == 1);
  w.pass(seconds(2));
  w.answer(answered(500));
  CHECK(last(w).decision == delivery_decision::dead);
  CHECK(last(w).attempt == 2);
  CHECK(w.accounts().size() == 3);
  w.publish();
  w.pass(seconds(60));
  w.answer(answered(200));
  CHECK(last(w).decision == delivery_decision::completed);
}

TEST_CASE(
  "a message that was settled by hand before the webhook answered is "
  "told as known") {
  pull_bench w;
  w.subscribe();
  auto id = w.publish();
  w.say(settle_message::kind::ack, id);
  w.answer(answered(500));
  CHECK(last(w).decision == delivery_decision::known);
}
