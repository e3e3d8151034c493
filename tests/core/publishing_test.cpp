// What publishers may say of a job, and what becomes of it.

#include <catch2/catch.hpp>

#include <limits>

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

job_id publish_with_priority(workbench& w, std::uint8_t priority) {
  tidegate::publish what;
  what.priority = priority;
  return w.publish(what);
}

job_id publish_at(workbench& w, double when) {
  tidegate::publish what;
  what.run_at = at(when).wall;
  return w.publish(what);
}

/// Answers everything with 200 until nothing flies; returns who went, in order.
std::vector<std::uint64_t> run_dry(workbench& w) {
  while (!w.in_flight().empty())
    w.answer(std::size_t{0}, answered(200));
  std::vector<std::uint64_t> result;
  for (const auto& s : w.log())
    result.push_back(s.what.job.seq.value);
  return result;
}

using list = std::vector<std::uint64_t>;

} // namespace

// -- order --------------------------------------------------------------------

TEST_CASE("the higher priority goes first, then the earlier due") {
  workbench w{one_by_one()};
  w.pause();
  for (auto p : {0, 9, 5, 9, 0})
    publish_with_priority(w, static_cast<std::uint8_t>(p));
  w.resume();
  CHECK(run_dry(w) == list{2, 4, 3, 1, 5});
}

TEST_CASE("priorities are kept over a restart") {
  workbench w{one_by_one()};
  w.pause();
  for (auto p : {0, 9, 5})
    publish_with_priority(w, static_cast<std::uint8_t>(p));
  w.restart();
  w.resume();
  CHECK(run_dry(w) == list{2, 3, 1});
}

TEST_CASE("a background replay goes after everything else") {
  workbench w{with([](auto& s) {
    s.concurrency = 1;
    s.max_attempts = 1;
  })};
  tidegate::publish urgent;
  urgent.priority = 9;
  auto job = w.publish(urgent);
  w.answer(job, answered(500));
  w.pause();
  CHECK(w.replay(job, {}, true) == "ok");
  w.pass(seconds(5));
  w.publish_many(2);
  w.restart();
  w.resume();
  CHECK(run_dry(w) == list{1, 2, 3, 1});
}

// -- wall clock ---------------------------------------------------------------

TEST_CASE("run_at follows a step of the wall clock, a delay does not") {
  workbench w;
  auto named = publish_at(w, 3600);
  auto delayed = w.publish(seconds(3600));
  w.pass(seconds(10));
  CHECK(w.queue().follows_wall_clock());
  w.step_wall_clock(seconds(1800));
  w.look();
  w.pass(seconds(1789.999999));
  CHECK(w.log().empty());
  w.pass(duration{1});
  CHECK(w.flies(named));
  CHECK_FALSE(w.flies(delayed));
  CHECK_FALSE(w.queue().follows_wall_clock());
  w.pass(seconds(1800));
  CHECK(w.flies(delayed));
}

TEST_CASE("a clock that is set back makes run_at wait") {
  workbench w;
  auto job = publish_at(w, 100);
  w.step_wall_clock(seconds(-50));
  w.look();
  w.pass(seconds(149.999999));
  CHECK_FALSE(w.flies(job));
  w.pass(duration{1});
  CHECK(w.flies(job));
}

TEST_CASE("a clock that is set past run_at lets the job go at once") {
  workbench w;
  auto job = publish_at(w, 100);
  w.step_wall_clock(seconds(500));
  w.look();
  CHECK(w.flies(job));
}

TEST_CASE("run_at follows a step that came while its publish was stored") {
  workbench w;
  w.keep_commits_back();
  auto job = publish_at(w, 100);
  w.step_wall_clock(seconds(50));
  w.look();
  w.commit();
  w.pass(seconds(49.999999));
  CHECK_FALSE(w.flies(job));
  w.pass(duration{1});
  CHECK(w.flies(job));
}

TEST_CASE("a run_at that has passed is now") {
  workbench w;
  w.pass(seconds(10));
  auto job = publish_at(w, 5);
  CHECK(w.flies(job));
  CHECK(w.stored(job).eligible_at == at(10).wall);
}

// -- depth --------------------------------------------------------------------

TEST_CASE("a queue with a depth has room for the rest") {
  workbench w{with([](auto& s) { s.max_depth = 3; })};
  CHECK(w.queue().room() == 3);
  w.publish();
  CHECK(w.queue().room() == 2);
  w.keep_commits_back();
  w.publish_many(2);
  CHECK(w.queue().room() == 0);
  w.commit_all();
  CHECK(w.queue().room() == 0);
  w.change([](auto& s) { s.max_depth = 1; });
  CHECK(w.queue().room() == 0);
  w.commit_all();
  w.answer_all(answered(200));
  w.commit_all();
  w.answer_all(answered(200));
  w.commit_all();
  CHECK(w.queue().room() == 1);
}

TEST_CASE("a job that was there already takes no room") {
  workbench w{with([](auto& s) { s.max_depth = 3; })};
  tidegate::publish what;
  what.idempotency_key = "once";
  w.publish(what);
  w.publish(what);
  CHECK(w.queue().room() == 2);
  CHECK(w.log().size() == 1);
}

TEST_CASE("without a depth there is always room") {
  workbench w;
  w.publish_many(3);
  CHECK(w.queue().room() == std::numeric_limits<std::uint64_t>::max());
}

// -- headers ------------------------------------------------------------------

TEST_CASE("a job's own headers go before those of the queue") {
  workbench w{with([](auto& s) {
    s.headers = {{"x-a", "queue"}, {"x-b", "queue"}};
  })};
  tidegate::publish what;
  job_context::values v;
  v.headers = {{"X-A", "job"}};
  v.traceparent = "00-1";
  v.tracestate = "k=v";
  what.context = job_context{v};
  w.publish(what);
  const auto& d = w.in_flight()[0];
  CHECK(d.headers == std::vector<header>{{"X-A", "job"}, {"x-b", "queue"}});
  CHECK(d.traceparent == "00-1");
  CHECK(d.tracestate == "k=v");
}
