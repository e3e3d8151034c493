// Hold and probe, as stories.

#include "actors/core/gate.hpp"

#include <catch2/catch.hpp>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

using answer = gate::answer;

job_id number(std::uint64_t n) {
  return {queue_id{1}, job_seq{n}, 0};
}

gate::cause asked_by(std::uint64_t n, std::uint16_t status = 429) {
  return {hold_cause::downstream, number(n), status, {}};
}

gate::cause failed(std::uint64_t n, std::uint16_t status = 500) {
  return {hold_cause::probe_failed, number(n), status, {}};
}

/// Returns a gate that was held for `wait` seconds at midnight.
gate held_for(double wait) {
  gate result;
  result.hold(seconds(wait), asked_by(1), at(0));
  return result;
}

/// Returns a gate whose probe, delivery 7 of job 2, went out at second 1.
gate probing() {
  auto result = held_for(1);
  result.start_probe(number(2), 7, at(1));
  return result;
}

void judge(gate& g, probe_verdict verdict, double now, double wait = 0) {
  auto why = verdict == probe_verdict::deferred ? asked_by(2) : failed(2);
  g.judge(verdict, seconds(wait), why, at(now));
}

gate restarted(const gate& g, moment before, moment after) {
  return gate{g.to_record(before), after};
}

} // namespace

// -- open ---------------------------------------------------------------------

TEST_CASE("a new gate is open and lets everybody through") {
  gate g;
  CHECK(g.state() == gate_state::open);
  CHECK(g.ask(at(0).steady) == answer::pass);
  CHECK_FALSE(g.held_until());
  CHECK(g.to_record(at(0)) == gate_record{});
}

// -- held ---------------------------------------------------------------------

TEST_CASE("a held gate lets nobody through before its release time") {
  auto g = held_for(5);
  CHECK(g.state() == gate_state::held);
  CHECK(g.held_until() == at(5).steady);
  CHECK(g.ask(at(0).steady) == answer::shut);
  CHECK(g.ask(at(4.999999).steady) == answer::shut);
  CHECK(g.ask(at(5).steady) == answer::pass_as_probe);
  CHECK(g.ask(at(5000).steady) == answer::pass_as_probe);
}

TEST_CASE("of overlapping holds the latest release time wins") {
  auto g = held_for(5);
  CHECK(g.hold(seconds(2), asked_by(2, 503), at(4)));
  CHECK(g.held_until() == at(6).steady);
  auto stored = g.to_record(at(4));
  CHECK(stored.caused_by == number(2));
  CHECK(stored.http_status == 503);
  CHECK(stored.since == at(0).wall);
}

TEST_CASE("a later and shorter hold changes nothing") {
  auto g = held_for(5);
  g.hold(seconds(2), asked_by(2), at(4));
  auto before = g.to_record(at(5));
  CHECK_FALSE(g.hold(seconds(0.5), asked_by(3), at(5)));
  CHECK(g.to_record(at(5)) == before);
}

TEST_CASE("a hold that ends at the same time changes nothing") {
  auto g = held_for(5);
  CHECK_FALSE(g.hold(seconds(3), asked_by(2), at(2)));
  CHECK(g.to_record(at(2)).caused_by == number(1));
}

TEST_CASE("a hold of no time at all still asks for a probe") {
  gate g;
  CHECK(g.hold(seconds(0), asked_by(1), at(3)));
  CHECK(g.ask(at(3).steady) == answer::pass_as_probe);
}

TEST_CASE("a hold moves the release time of a gate that waits for its probe") {
  auto g = held_for(5);
  CHECK(g.hold(seconds(2), asked_by(2), at(10)));
  CHECK(g.ask(at(11).steady) == answer::shut);
  CHECK(g.ask(at(12).steady) == answer::pass_as_probe);
}

TEST_CASE("the longest hold ends on a fixed day and does not wrap") {
  gate g;
  g.hold(duration::max(), asked_by(1), at(0));
  CHECK(g.ask(at(1e9).steady) == answer::shut);
  CHECK(g.to_record(at(0)).release_at == far_future);
  auto again = restarted(g, at(0), at(10));
  CHECK(again.ask(at(1e9).steady) == answer::shut);
  CHECK(again.to_record(at(10)).release_at == far_future);
}

// -- probing ------------------------------------------------------------------

TEST_CASE("while a probe is out there is no second one") {
  auto g = probing();
  CHECK(g.state() == gate_state::probing);
  CHECK(g.ask(at(1).steady) == answer::shut);
  CHECK(g.ask(at(1000).steady) == answer::shut);
  CHECK_FALSE(g.held_until());
}

TEST_CASE("only the delivery that is out is the probe") {
  auto g = probing();
  CHECK(g.is_probe(number(2), 7));
  CHECK_FALSE(g.is_probe(number(2), 6));
  CHECK_FALSE(g.is_probe(number(3), 7));
  judge(g, probe_verdict::no_verdict, 2);
  CHECK_FALSE(g.is_probe(number(2), 7));
  CHECK_FALSE(held_for(1).is_probe(job_id{}, 0));
}

TEST_CASE("the gate opens when the probe succeeds") {
  auto g = probing();
  judge(g, probe_verdict::success, 2);
  CHECK(g.state() == gate_state::open);
  CHECK(g.ask(at(2).steady) == answer::pass);
  auto stored = g.to_record(at(2));
  CHECK(stored.cause == hold_cause::none);
  CHECK_FALSE(stored.caused_by);
  CHECK(stored.last
        == last_probe{number(2), 7, probe_verdict::success, at(2).wall});
}

TEST_CASE("the gate opens when the downstream refuses the probe itself") {
  auto g = probing();
  judge(g, probe_verdict::refused, 2);
  CHECK(g.state() == gate_state::open);
  CHECK(g.to_record(at(2)).last->verdict == probe_verdict::refused);
}

TEST_CASE("a probe that is deferred holds for the new time") {
  auto g = probing();
  judge(g, probe_verdict::deferred, 2, 30);
  CHECK(g.held_until() == at(32).steady);
  CHECK(g.to_record(at(2)).cause == hold_cause::downstream);
}

TEST_CASE("a probe without a verdict holds for a second") {
  auto g = probing();
  judge(g, probe_verdict::no_verdict, 2);
  CHECK(g.held_until() == at(3).steady);
  auto stored = g.to_record(at(2));
  CHECK(stored.cause == hold_cause::probe_failed);
  CHECK(stored.caused_by == number(2));
  CHECK(stored.failed_probes == 1);
  CHECK(stored.since == at(0).wall);
}

TEST_CASE("probes in a row without a verdict hold for 1, 2, 4 … 60 s") {
  auto g = held_for(1);
  auto now = 1.0;
  for (double wait : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    REQUIRE(g.ask(at(now).steady) == answer::pass_as_probe);
    g.start_probe(number(2), 1, at(now));
    judge(g, probe_verdict::no_verdict, now);
    CHECK(g.held_until() == at(now + wait).steady);
    now += wait;
  }
}

TEST_CASE("a job whose probe told nothing is remembered until a verdict") {
  auto verdict = GENERATE(probe_verdict::success, probe_verdict::refused,
                          probe_verdict::deferred);
  auto g = probing();
  CHECK_FALSE(g.failed_with(job_seq{2}));
  judge(g, probe_verdict::no_verdict, 1);
  CHECK(g.failed_with(job_seq{2}));
  CHECK_FALSE(g.failed_with(job_seq{1}));
  CHECK(restarted(g, at(1), at(1)).failed_with(job_seq{2}));
  g.start_probe(number(2), 8, at(2));
  judge(g, verdict, 2, 1);
  CHECK_FALSE(g.failed_with(job_seq{2}));
}

TEST_CASE("the wait after the n-th failed probe never exceeds a minute") {
  CHECK(probe_backoff(1) == seconds(1));
  CHECK(probe_backoff(6) == seconds(32));
  CHECK(probe_backoff(7) == seconds(60));
  CHECK(probe_backoff(64) == seconds(60));
  CHECK(probe_backoff(UINT32_MAX) == seconds(60));
}

TEST_CASE("the doubling starts anew after any verdict") {
  auto verdict = GENERATE(probe_verdict::success, probe_verdict::refused,
                          probe_verdict::deferred);
  auto g = probing();
  judge(g, probe_verdict::no_verdict, 1);
  g.start_probe(number(2), 8, at(2));
  judge(g, probe_verdict::no_verdict, 2);
  CHECK(g.held_until() == at(4).steady);
  g.start_probe(number(2), 9, at(4));
  judge(g, verdict, 4, 1);
  CHECK(g.to_record(at(4)).failed_probes == 0);
  g.hold(seconds(1), asked_by(3), at(4));
  g.start_probe(number(2), 10, at(5));
  judge(g, probe_verdict::no_verdict, 5);
  CHECK(g.held_until() == at(6).steady);
}

TEST_CASE("a hold that was set while the probe was out outlives success") {
  auto verdict = GENERATE(probe_verdict::success, probe_verdict::refused);
  auto g = probing();
  CHECK(g.hold(seconds(10), asked_by(3), at(2)));
  CHECK(g.state() == gate_state::probing);
  judge(g, verdict, 3);
  CHECK(g.state() == gate_state::held);
  CHECK(g.held_until() == at(12).steady);
  CHECK(g.to_record(at(3)).caused_by == number(3));
  // The one before ended with the success.
  CHECK(g.to_record(at(3)).since == at(2).wall);
}

TEST_CASE("a hold that goes on behind its probe began when it began") {
  auto verdict = GENERATE(probe_verdict::deferred, probe_verdict::no_verdict);
  auto g = probing();
  g.hold(seconds(10), asked_by(3), at(2));
  judge(g, verdict, 3);
  CHECK(g.to_record(at(3)).since == at(0).wall);
}

TEST_CASE("a hold that ended while the probe was out does not outlive it") {
  auto g = probing();
  CHECK(g.hold(seconds(10), asked_by(3), at(2)));
  judge(g, probe_verdict::success, 12);
  CHECK(g.state() == gate_state::open);
}

TEST_CASE("a probe that is deferred for less leaves a longer hold alone") {
  auto g = probing();
  g.hold(seconds(10), asked_by(3), at(2));
  judge(g, probe_verdict::deferred, 3, 1);
  CHECK(g.held_until() == at(12).steady);
  CHECK(g.to_record(at(3)).caused_by == number(3));
}

TEST_CASE("a probe without a verdict leaves a longer hold alone") {
  auto g = probing();
  g.hold(seconds(10), asked_by(3), at(2));
  judge(g, probe_verdict::no_verdict, 3);
  CHECK(g.held_until() == at(12).steady);
  CHECK(g.to_record(at(3)).cause == hold_cause::downstream);
}

TEST_CASE("when the probe vanishes another may go at once") {
  auto g = probing();
  g.probe_vanished();
  CHECK(g.state() == gate_state::held);
  CHECK(g.ask(at(1).steady) == answer::pass_as_probe);
  CHECK(g.to_record(at(1)).failed_probes == 0);
}

TEST_CASE("a hold set meanwhile also outlives a probe that vanished") {
  auto g = probing();
  g.hold(seconds(10), asked_by(3), at(2));
  g.probe_vanished();
  CHECK(g.ask(at(11).steady) == answer::shut);
  CHECK(g.ask(at(12).steady) == answer::pass_as_probe);
}

TEST_CASE("without a probe there is nothing to vanish") {
  gate g;
  g.probe_vanished();
  CHECK(g.state() == gate_state::open);
}

// -- release ------------------------------------------------------------------

TEST_CASE("a release leads to a probe, not to an open gate") {
  auto g = held_for(60);
  CHECK(g.release(at(1)));
  CHECK(g.state() == gate_state::held);
  CHECK(g.ask(at(1).steady) == answer::pass_as_probe);
}

TEST_CASE("a release of an open gate changes nothing") {
  gate g;
  CHECK_FALSE(g.release(at(1)));
  CHECK(g.state() == gate_state::open);
}

TEST_CASE("a release of a gate that waits for its probe changes nothing") {
  auto g = held_for(1);
  CHECK_FALSE(g.release(at(2)));
}

TEST_CASE("a release while the probe is out ends the hold behind it") {
  auto g = probing();
  g.hold(seconds(60), asked_by(3), at(2));
  CHECK(g.release(at(3)));
  CHECK(g.ask(at(3).steady) == answer::shut);
  judge(g, probe_verdict::success, 4);
  CHECK(g.state() == gate_state::open);
}

TEST_CASE("after a release a new hold counts as ever") {
  auto g = held_for(60);
  g.release(at(1));
  CHECK(g.hold(seconds(2), asked_by(2), at(1)));
  CHECK(g.held_until() == at(3).steady);
}

// -- restart ------------------------------------------------------------------

TEST_CASE(
  "after a restart a held gate is held until the same wall-clock time") {
  auto g = held_for(60);
  moment after{steady_time{seconds(7)}, at(20).wall};
  auto again = restarted(g, at(0), after);
  CHECK(again.state() == gate_state::held);
  CHECK(again.held_until() == steady_time{seconds(47)});
  CHECK(again.to_record(after) == g.to_record(at(0)));
}

TEST_CASE("a hold that ended during the downtime lets a probe out at once") {
  auto again = restarted(held_for(60), at(0), at(100));
  CHECK(again.state() == gate_state::held);
  CHECK(again.ask(at(100).steady) == answer::pass_as_probe);
}

TEST_CASE("after a restart a probing gate probes once more") {
  auto again = restarted(probing(), at(1), at(5));
  CHECK(again.state() == gate_state::held);
  CHECK(again.ask(at(5).steady) == answer::pass_as_probe);
  CHECK_FALSE(again.is_probe(number(2), 7));
}

TEST_CASE("after a restart an open gate is open and knows its last probe") {
  auto g = probing();
  judge(g, probe_verdict::success, 2);
  auto again = restarted(g, at(2), at(5));
  CHECK(again.state() == gate_state::open);
  CHECK(again.to_record(at(5)) == g.to_record(at(2)));
}

TEST_CASE("the doubling goes on after a restart") {
  auto g = probing();
  judge(g, probe_verdict::no_verdict, 1);
  auto again = restarted(g, at(1), at(2));
  again.start_probe(number(2), 8, at(2));
  judge(again, probe_verdict::no_verdict, 2);
  CHECK(again.held_until() == at(4).steady);
}

TEST_CASE("a hold behind a probe survives a restart") {
  auto g = probing();
  g.hold(seconds(60), asked_by(3), at(2));
  auto again = restarted(g, at(2), at(3));
  CHECK(again.held_until() == at(62).steady);
}

TEST_CASE("a step of the wall clock does not move a hold") {
  auto g = held_for(60);
  moment stepped{at(1).steady, at(1).wall + std::chrono::hours{24}};
  CHECK(g.ask(stepped.steady) == answer::shut);
  CHECK(g.to_record(stepped).release_at
        == at(60).wall + std::chrono::hours{24});
  CHECK(g.ask(at(60).steady) == answer::pass_as_probe);
}
