// A push queue in ack mode: what workers say and when they say it.

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

template <class F>
queue_settings with(F change) {
  auto result = ack_settings();
  change(result);
  return result;
}

/// Returns a queue whose probe, job 2, awaits its ack; job 3 waits.
workbench probe_awaits(const queue_settings& settings = ack_settings()) {
  workbench w{settings};
  auto first = w.publish();
  w.publish_many(2);
  w.hold(seconds(1));
  w.answer(first, answered(200));
  w.ack(first);
  w.answer(std::size_t{0}, answered(500));
  w.pass(seconds(1));
  w.answer(std::size_t{0}, answered(200));
  return w;
}

job_id number(std::uint64_t n) {
  return {queue_id{1}, job_seq{n}, n * 7};
}

} // namespace

// -- the way that it goes -----------------------------------------------------

TEST_CASE("the deadline of an ack is shown before it is stored") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.pass(seconds(3));
  w.keep_commits_back();
  w.answer(job, answered(202));
  auto shown = w.view(job).record.job;
  CHECK(shown.status == job_status::awaiting_ack);
  CHECK(shown.due == at(3).wall + w.queue().settings().ack_timeout);
}

TEST_CASE("a 2xx says only that the job was taken") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(202));
  CHECK(w.stored(job).status == job_status::awaiting_ack);
  CHECK(w.stored(job).attempts == 0);
  CHECK(w.history(job).empty());
  CHECK(w.view().counts.awaiting_ack == 1);
  w.pass(seconds(7));
  CHECK(w.ack(job) == "ok");
  CHECK(w.stored(job).status == job_status::completed);
  CHECK(w.stored(job).attempts == 1);
  REQUIRE(w.history(job).size() == 1);
  CHECK(w.history(job)[0].status == delivery_status::success);
  CHECK(w.history(job)[0].took == seconds(7));
}

TEST_CASE("a job that awaits its ack keeps its slot") {
  workbench w{ack_settings()};
  w.publish_many(3);
  w.answer_all(answered(200));
  CHECK(w.log().size() == 2);
  w.ack(number(1));
  CHECK(w.log().size() == 3);
}

TEST_CASE("a start is stored before the POST goes out") {
  workbench w{ack_settings()};
  w.keep_commits_back();
  w.publish();
  w.commit();
  CHECK(w.log().empty());
  CHECK(w.stored(number(1)).started_delivery == 0);
  w.commit();
  CHECK(w.log().size() == 1);
  CHECK(w.stored(number(1)).started_delivery == 1);
}

TEST_CASE("a worker may be faster than its own 200") {
  workbench w{ack_settings()};
  auto job = w.publish();
  CHECK(w.ack(job) == "ok");
  CHECK(w.stored(job).status == job_status::completed);
  CHECK(w.queue().in_flight() == 1);
  w.answer(job, answered(200));
  CHECK(w.queue().in_flight() == 0);
  CHECK(w.history(job).size() == 1);
}

TEST_CASE("an accepted callback is final: a 429 afterwards only holds") {
  auto status = static_cast<std::uint16_t>(GENERATE(429, 503, 529));
  workbench w{ack_settings()};
  auto job = w.publish();
  w.ack(job);
  w.answer(job, answered(status, {"10"}));
  CHECK(w.stored(job).status == job_status::completed);
  CHECK(w.stored(job).defers == 0);
  CHECK(w.view().queue.gate.release_at == at(10).wall);
  CHECK(w.view().queue.gate.http_status == status);
}

TEST_CASE("whatever else the webhook says after a callback is not heard") {
  auto reply = GENERATE(answered(200), answered(500), answered(404),
                        unanswered(delivery_errc::timeout));
  workbench w{ack_settings()};
  auto job = w.publish();
  w.nack(job);
  CHECK(w.stored(job).attempts == 1);
  w.answer(job, reply);
  CHECK(w.stored(job).attempts == 1);
  CHECK(w.gate() == gate_state::open);
  CHECK(w.queue().in_flight() == 0);
}

TEST_CASE("a job that a worker sent back may go out beside its old POST") {
  workbench w{with([](auto& s) { s.backoff.delay = 0; })};
  auto job = w.publish();
  w.nack(job);
  CHECK(w.in_flight().size() == 2);
  CHECK(w.queue().in_flight() == 2);
  w.answer(std::size_t{0}, answered(500));
  CHECK(w.queue().in_flight() == 1);
  CHECK(w.stored(job).attempts == 1);
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.awaiting().size() == 1);
}

// -- its time -----------------------------------------------------------------

TEST_CASE("no outcome in time is a real failure with the usual backoff") {
  workbench w{with([](auto& s) { s.ack_timeout = seconds(5); })};
  auto job = w.publish();
  w.answer(job, answered(200));
  w.pass(seconds(4.999999));
  CHECK(w.stored(job).status == job_status::awaiting_ack);
  w.pass(duration{1});
  CHECK(w.stored(job).attempts == 1);
  CHECK(w.stored(job).waits_for == wait_kind::backoff);
  CHECK(w.stored(job).due == at(6).wall);
  CHECK(w.history(job)[0].error_code == delivery_errc::ack_timeout);
  CHECK(w.queue().in_flight() == 0);
}

TEST_CASE("a timeout with action dead gives the job up at once") {
  workbench w{
    with([](auto& s) { s.ack_timeout_action = ack_timeout_action::dead; })};
  auto job = w.publish();
  w.answer(job, answered(200));
  w.pass(seconds(300));
  CHECK(w.stored(job).dead_reason == dead_reason::ack_timeout);
  CHECK(w.stored(job).attempts == 1);
}

TEST_CASE("a touch starts the wait anew, as often as one likes") {
  workbench w{with([](auto& s) { s.ack_timeout = seconds(5); })};
  auto job = w.publish();
  w.answer(job, answered(200));
  for (auto i = 0; i < 5; ++i) {
    w.pass(seconds(4));
    CHECK(w.touch(job, seconds(5)) == "ok");
  }
  w.pass(seconds(4.999999));
  CHECK(w.stored(job).status == job_status::awaiting_ack);
  w.pass(duration{1});
  CHECK(w.stored(job).attempts == 1);
}

TEST_CASE("the wait for an ack goes on over a restart") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(200));
  w.pass(seconds(100));
  w.restart(seconds(100));
  CHECK(w.queue().in_flight() == 1);
  CHECK(w.log().size() == 1);
  w.pass(seconds(99.999999));
  CHECK(w.stored(job).status == job_status::awaiting_ack);
  w.pass(duration{1});
  CHECK(w.stored(job).attempts == 1);
}

TEST_CASE("an ack is taken after a restart") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(200));
  w.restart(seconds(1));
  CHECK(w.ack(job, 1) == "ok");
  CHECK(w.stored(job).status == job_status::completed);
  CHECK(w.queue().in_flight() == 0);
}

TEST_CASE("a lifetime that ends does not tear away what awaits its ack") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  auto job = w.publish();
  w.answer(job, answered(200));
  w.pass(seconds(50));
  CHECK(w.ack(job) == "ok");
  CHECK(w.stored(job).status == job_status::completed);
}

TEST_CASE("a job whose lifetime ended before its ack timed out is dead") {
  workbench w{with([](auto& s) {
    s.lifetime = seconds(3);
    s.ack_timeout = seconds(4);
    s.backoff.delay = 0;
  })};
  auto job = w.publish();
  w.keep_commits_back();
  w.answer(job, answered(200));
  w.pass(seconds(4));
  w.commit_all();
  CHECK(w.stored(job).dead_reason == dead_reason::lifetime_exceeded);
  CHECK(w.stored(job).attempts == 1);
  CHECK(w.log().size() == 1);
}

TEST_CASE("retries after timeouts are spread, not all at one instant") {
  workbench w{with([](auto& s) {
    s.concurrency = 50;
    s.backoff.jitter = 0.5;
    s.backoff.delay = 100;
  })};
  for (std::uint64_t n = 0; n < 50; ++n)
    w.publish();
  w.answer_all(answered(200));
  w.pass(seconds(300));
  std::set<wall_time> dues;
  for (const auto& [seq, r] : w.store().live())
    dues.insert(r.job.due);
  CHECK(dues.size() > 40);
  CHECK(*dues.begin() >= at(350).wall);
  CHECK(*dues.rbegin() <= at(400).wall);
}

// -- defers -------------------------------------------------------------------

TEST_CASE("defers by callback overlap like those of the downstream") {
  workbench w{with([](auto& s) { s.concurrency = 3; })};
  w.publish_many(4);
  w.answer_all(answered(200));
  w.defer(number(1), seconds(5));
  w.pass(seconds(4));
  w.defer(number(2), seconds(2));
  w.pass(seconds(1));
  w.defer(number(3), seconds(0.5));
  CHECK(w.view().queue.gate.release_at == at(6).wall);
  w.pass(seconds(0.999999));
  CHECK(w.log().size() == 3);
  w.pass(duration{1});
  CHECK(w.log().size() == 4);
}

TEST_CASE("a defer past the lifetime is fatal, taken, and holds") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  auto job = w.publish();
  w.answer(job, answered(200));
  CHECK(w.defer(job, seconds(60)) == "ok");
  CHECK(w.stored(job).dead_reason == dead_reason::retry_after_exceeds_lifetime);
  CHECK(w.stored(job).defers == 1);
  CHECK(w.view().queue.gate.release_at == at(60).wall);
}

TEST_CASE("a defer says who, why and for how long") {
  workbench w{ack_settings()};
  auto job = w.publish();
  report what;
  what.what = report::kind::defer;
  what.job = job;
  what.wait = seconds(8);
  what.reason = "quota of \xff spent";
  CHECK(w.report_to_queue(what) == "ok");
  auto g = w.view().queue.gate;
  CHECK(g.cause == hold_cause::worker);
  CHECK(g.caused_by == job);
  CHECK(g.reason == "quota of \xEF\xBF\xBD spent");
  CHECK(w.history(job)[0].error == g.reason);
  CHECK(w.history(job)[0].retry_after == seconds(8));
}

TEST_CASE("a defer of the job alone holds nobody else, and no longer") {
  workbench w{with([](auto& s) { s.concurrency = 3; })};
  auto job = w.publish();
  w.publish_many(2);
  w.defer(job, seconds(5), defer_scope::job);
  CHECK(w.gate() == gate_state::open);
  CHECK(w.blocked(job) == std::vector<std::string>{"defer", "concurrency"});
  w.release();
  w.answer(job, answered(200));
  w.pass(seconds(4.9));
  CHECK_FALSE(w.flies(job));
  w.pass(seconds(0.1));
  CHECK(w.stored(job).deliveries == 2);
}

TEST_CASE("a late defer of the job puts it later, never earlier") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(500));
  CHECK(w.defer(job, seconds(0.5), defer_scope::job) == "ok");
  CHECK(w.stored(job).due == at(1).wall);
  CHECK(w.defer(job, seconds(5), defer_scope::job) == "ok");
  CHECK(w.stored(job).due == at(5).wall);
  CHECK(w.stored(job).waits_for == wait_kind::job_defer);
  CHECK(w.stored(job).defers == 0);
  w.restart(seconds(2));
  w.pass(seconds(2.999999));
  CHECK_FALSE(w.flies(job));
  w.pass(duration{1});
  CHECK(w.flies(job));
}

// -- probes -------------------------------------------------------------------

TEST_CASE("the probe's 200 alone opens nothing, its ack does") {
  auto w = probe_awaits();
  CHECK(w.gate() == gate_state::probing);
  w.publish_many(3);
  CHECK(w.in_flight().empty());
  w.ack(w.awaiting().front());
  CHECK(w.gate() == gate_state::open);
  CHECK(w.in_flight().size() == 2);
}

TEST_CASE("a late ack of an earlier probe does not move the gate") {
  auto w = probe_awaits(with([](auto& s) { s.ack_timeout = seconds(3); }));
  auto first = w.awaiting().front();
  w.pass(seconds(3));
  CHECK(w.gate() == gate_state::held);
  w.pass(seconds(1));
  CHECK(w.gate() == gate_state::probing);
  CHECK(w.ack(first) == "ok");
  CHECK(w.gate() == gate_state::probing);
}

TEST_CASE(
  "a probe that awaits its ack and is cancelled makes room for another") {
  auto w = probe_awaits();
  auto probe = w.awaiting().front();
  CHECK(w.cancel(probe) == "ok");
  CHECK(w.gate() == gate_state::probing);
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job != probe);
  CHECK(w.in_flight()[0].probe);
}

TEST_CASE("in ack mode the webhook's own refusal is no verdict") {
  auto status = static_cast<std::uint16_t>(GENERATE(400, 404, 302, 500));
  workbench w{ack_settings()};
  w.hold(seconds(1));
  w.publish_many(2);
  w.pass(seconds(1));
  w.answer(std::size_t{0}, answered(status));
  CHECK(w.gate() == gate_state::held);
  CHECK(w.view().queue.gate.release_at == at(2).wall);
}

TEST_CASE("each word about the probe does to the gate what it should") {
  struct word {
    const char* name;
    void (*say)(workbench&, job_id);
    gate_state then;
  };
  const word words[] = {
    {"ack", [](workbench& w, job_id j) { w.ack(j); }, gate_state::open},
    {"nack", [](workbench& w, job_id j) { w.nack(j); }, gate_state::held},
    {"nack for good", [](workbench& w, job_id j) { w.nack(j, false); },
     gate_state::open},
    {"defer", [](workbench& w, job_id j) { w.defer(j, seconds(9)); },
     gate_state::held},
    {"defer of the job",
     [](workbench& w, job_id j) { w.defer(j, seconds(9), defer_scope::job); },
     gate_state::probing},
    {"cancel", [](workbench& w, job_id j) { w.cancel(j); },
     gate_state::probing},
    {"silence", [](workbench& w, job_id) { w.pass(seconds(300)); },
     gate_state::held},
  };
  for (const auto& each : words) {
    INFO(each.name);
    auto w = probe_awaits();
    w.publish();
    auto probe = w.awaiting().front();
    each.say(w, probe);
    CHECK(w.gate() == each.then);
    if (each.then == gate_state::probing)
      CHECK(w.in_flight().at(0).job != probe);
  }
}

TEST_CASE("the doubling after probes without a word is stored") {
  auto w = probe_awaits();
  w.nack(w.awaiting().front());
  CHECK(w.view().queue.gate.failed_probes == 1);
  w.pass(seconds(1));
  w.answer(std::size_t{0}, answered(200));
  w.nack(w.awaiting().front());
  CHECK(w.view().queue.gate.release_at == w.now().wall + seconds(2));
  w.restart();
  w.pass(seconds(2));
  w.answer(std::size_t{0}, answered(200));
  w.nack(w.awaiting().front());
  CHECK(w.view().queue.gate.release_at == w.now().wall + seconds(4));
}

// -- mode ---------------------------------------------------------------------

TEST_CASE("what awaited its ack is finished when the mode has changed") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.answer(job, answered(200));
  w.change([](auto& s) { s.mode = delivery_mode::standard; });
  CHECK(w.ack(job) == "ok");
  CHECK(w.stored(job).status == job_status::completed);
}
