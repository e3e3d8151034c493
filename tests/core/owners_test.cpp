// What owners set and do: holds by hand, bounds, statuses, secrets.

#include <catch2/catch.hpp>

#include <algorithm>

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

} // namespace

// -- holds --------------------------------------------------------------------

TEST_CASE("an operator holds and releases, and both lead to a probe") {
  workbench w;
  w.hold(seconds(100), "the database moves");
  auto job = w.publish();
  CHECK(w.blocked(job) == std::vector<std::string>{"hold"});
  CHECK(w.view().queue.gate.cause == hold_cause::operator_hold);
  CHECK(w.view().queue.gate.reason == "the database moves");
  w.release();
  CHECK(w.gate() == gate_state::probing);
  w.answer(job, answered(200));
  CHECK(w.gate() == gate_state::open);
}

TEST_CASE("a manual hold that is shorter than the present one is none") {
  workbench w;
  w.hold(seconds(100));
  auto gate = w.view().queue.gate;
  w.hold(seconds(50), "shorter");
  CHECK(w.view().queue.gate == gate);
  CHECK(w.events().size() == 1);
  w.hold(seconds(101), "longer");
  CHECK(w.view().queue.gate.release_at == at(101).wall);
}

TEST_CASE("a release makes the jobs due that waited out a defer of the queue") {
  workbench w{ack_settings()};
  auto by_queue = w.publish();
  auto alone = w.publish();
  w.defer(alone, seconds(3600), defer_scope::job);
  w.defer(by_queue, seconds(3600));
  w.answer_all(answered(200));
  w.release();
  CHECK(w.flies(by_queue));
  w.answer(by_queue, answered(200));
  w.ack(by_queue);
  CHECK(w.gate() == gate_state::open);
  CHECK_FALSE(w.flies(alone));
}

TEST_CASE("a release of an open queue does nothing") {
  workbench w;
  CHECK(w.queue().release(w.now()).empty());
  w.release();
  CHECK(w.events().empty());
}

TEST_CASE("holds have the bounds that the owner sets") {
  auto asked = GENERATE(0.0, 3.0, 20.0, 1e30);
  auto settings = with([](auto& s) {
    s.min_hold = seconds(2);
    s.max_hold = seconds(10);
  });
  workbench w{settings};
  auto job = w.publish();
  w.answer(job, answered(429, {std::to_string(asked)}));
  auto bounded = seconds(std::clamp(asked, 2.0, 10.0));
  CHECK(w.view().queue.gate.release_at == midnight + bounded);
  CHECK(w.stored(job).due == midnight + bounded);
  settings.mode = delivery_mode::ack;
  workbench acks{settings};
  job = acks.publish();
  acks.defer(job, asked > 1e9 ? longest_wait : seconds(asked));
  CHECK(acks.view().queue.gate.release_at == midnight + bounded);
}

TEST_CASE("an operator's hold has no bounds") {
  workbench w{with([](auto& s) { s.max_hold = seconds(10); })};
  w.hold(seconds(100));
  CHECK(w.view().queue.gate.release_at == at(100).wall);
}

// -- statuses and secrets -----------------------------------------------------

TEST_CASE("a status that is never retried gives the job up at once") {
  workbench w{with([](auto& s) { s.permanent_failure_statuses = {404, 500}; })};
  auto job = w.publish();
  w.answer(job, answered(404));
  CHECK(w.stored(job).dead_reason == dead_reason::nack_not_retryable);
  CHECK(w.stored(job).attempts == 1);
  job = w.publish();
  w.answer(job, answered(500));
  CHECK(w.stored(job).status == job_status::dead);
  job = w.publish();
  w.answer(job, answered(410));
  CHECK(w.stored(job).status == job_status::processing);
  job = w.publish();
  w.answer(job, unanswered(delivery_errc::timeout));
  CHECK(w.stored(job).status == job_status::processing);
}

TEST_CASE("after a rotation both secrets sign until the overlap ends") {
  workbench w{with([](auto& s) { s.concurrency = 9; })};
  w.rotate_secret("whsec_bmV3", seconds(60));
  w.publish();
  CHECK(w.in_flight().back().secrets
        == std::vector<signing_secret>{"whsec_bmV3", "whsec_dGVzdA=="});
  w.restart(seconds(59));
  CHECK(w.in_flight().back().secrets.size() == 2);
  w.pass(seconds(1));
  w.publish();
  CHECK(w.in_flight().back().secrets
        == std::vector<signing_secret>{"whsec_bmV3"});
}

TEST_CASE("a rotation without overlap forgets the old secret at once") {
  workbench w;
  w.rotate_secret("whsec_bmV3", duration{0});
  w.publish();
  CHECK(w.in_flight()[0].secrets == std::vector<signing_secret>{"whsec_bmV3"});
  CHECK(w.store().queue().previous_secret.empty());
}
