// A push queue behind its gate: hold, probe, restart, and gates that interact.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

/// Returns a queue that was held at midnight by job 1 for `wait` seconds, with
/// two more jobs that wait.
workbench held(const std::string& wait = "10") {
  workbench w;
  auto first = w.publish();
  w.answer(first, answered(429, {wait}));
  w.publish_many(2);
  return w;
}

/// Returns a queue whose probe is out, the job 2, with job 3 waiting.
workbench probing() {
  auto w = held("1");
  w.pass(seconds(1));
  return w;
}

job_id number(std::uint64_t n) {
  return {queue_id{1}, job_seq{n}, n * 7};
}

std::vector<event_kind> kinds(const workbench& w) {
  std::vector<event_kind> result;
  for (const auto& e : w.events())
    result.push_back(e.kind);
  return result;
}

} // namespace

// -- held ---------------------------------------------------------------------

TEST_CASE("while held nothing goes out and nobody spends anything") {
  auto w = held();
  w.pass(seconds(9.999999));
  CHECK(w.log().size() == 1);
  CHECK(w.stored(number(2)).deliveries == 0);
  CHECK(w.stored(number(2)).defers == 0);
  CHECK(w.view().counts.held == 2);
}

TEST_CASE("overlapping defers release at the latest time that was named") {
  workbench w;
  w.change([](auto& s) { s.concurrency = 3; });
  w.publish_many(4);
  w.answer(number(1), answered(429, {"5"}));
  w.pass(seconds(4));
  w.answer(number(2), answered(429, {"2"}));
  w.pass(seconds(1));
  w.answer(number(3), answered(429, {"0"}));
  w.pass(seconds(0.999999));
  CHECK(w.log().size() == 3);
  w.pass(duration{1});
  CHECK(w.log().size() == 4);
}

TEST_CASE("a success of what was under way does not open the gate") {
  workbench w;
  w.publish_many(3);
  w.answer(number(1), answered(503, {"10"}));
  w.answer(number(2), answered(200));
  CHECK(w.stored(number(2)).status == job_status::completed);
  CHECK(w.gate() == gate_state::held);
  CHECK(w.log().size() == 2);
}

TEST_CASE("a number too large for the clock holds until a far-away date") {
  workbench w;
  auto job = w.publish();
  w.publish(seconds(1));
  w.answer(job, answered(429, {std::string(400, '9')}));
  CHECK(w.stored(job).dead_reason == dead_reason::retry_after_exceeds_lifetime);
  CHECK(w.view().queue.gate.release_at == far_future);
  w.pass(std::chrono::hours{23});
  CHECK(w.log().size() == 1);
  w.restart(seconds(1));
  CHECK(w.view().queue.gate.release_at == far_future);
}

// -- probing ------------------------------------------------------------------

TEST_CASE("at the release time exactly one goes out, the first in order") {
  auto w = probing();
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == number(2));
  CHECK(w.in_flight()[0].probe);
  CHECK(w.gate() == gate_state::probing);
  w.pass(seconds(3600));
  CHECK(w.log().size() == 2);
}

TEST_CASE("a hold that runs out right after a look is not slept through") {
  workbench w;
  w.publish_many(3);
  w.answer_all(answered(429, {"2"}));
  auto& queue = w.queue();
  REQUIRE(queue.advance(at(1.999999)).empty());
  // By now it is over.
  REQUIRE(queue.next_wakeup() == at(2).steady);
  CHECK_FALSE(queue.advance(at(2.000001)).empty());
}

TEST_CASE("with nobody eligible the next who becomes so is the probe") {
  workbench w;
  w.change([](auto& s) { s.max_attempts = 2; });
  auto job = w.publish();
  w.answer(job, answered(429, {"1"}));
  w.answer_all(answered(200));
  w.pass(seconds(1));
  w.answer(job, answered(500));
  w.pass(seconds(1));
  w.answer(job, answered(500));
  // The last one died as a probe; the gate waits 2 s, then for anybody.
  w.pass(seconds(100));
  CHECK(w.gate() == gate_state::held);
  CHECK(w.in_flight().empty());
  w.publish_many(3);
  CHECK(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].probe);
}

TEST_CASE("after a good probe the queue runs at its normal concurrency") {
  auto w = probing();
  w.publish_many(5);
  w.answer(number(2), answered(200));
  CHECK(w.gate() == gate_state::open);
  CHECK(w.in_flight().size() == 2);
}

TEST_CASE("a probe that is refused opens the queue as well") {
  auto status = static_cast<std::uint16_t>(GENERATE(400, 404, 410, 422, 499));
  auto w = probing();
  w.answer(number(2), answered(status));
  CHECK(w.gate() == gate_state::open);
  CHECK(w.stored(number(2)).attempts == 1);
}

TEST_CASE("a probe that is deferred spends a defer of its own and holds") {
  auto w = probing();
  w.answer(number(2), answered(429, {"30"}));
  CHECK(w.stored(number(2)).defers == 1);
  CHECK(w.view().queue.gate.release_at == at(31).wall);
  w.pass(seconds(29.999999));
  CHECK(w.log().size() == 2);
}

TEST_CASE("after a probe without a verdict another job is the next probe") {
  auto reply = GENERATE(answered(500), answered(302), answered(408),
                        answered(425), unanswered(delivery_errc::timeout),
                        unanswered(delivery_errc::connect_failed));
  auto w = probing();
  w.answer(number(2), reply);
  CHECK(w.gate() == gate_state::held);
  CHECK(w.view().queue.gate.release_at == at(2).wall);
  w.pass(seconds(1));
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == number(3));
}

TEST_CASE("another job is the next probe even if it came later") {
  workbench w;
  w.change([](auto& s) { s.backoff.delay = 0; });
  auto bad = w.publish();
  w.answer(bad, answered(429, {"1"}));
  w.pass(seconds(1));
  w.answer(bad, answered(500));
  w.pass(seconds(0.5));
  auto other = w.publish();
  w.pass(seconds(0.5));
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == other);
}

TEST_CASE("the same job probes again where there is no other") {
  workbench w;
  auto only = w.publish();
  w.answer(only, answered(429, {"1"}));
  w.pass(seconds(1));
  w.answer(only, answered(500));
  w.pass(seconds(1));
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == only);
  CHECK(w.in_flight()[0].attempt == 2);
}

TEST_CASE("probes without a verdict come after 1, 2, 4 … 60 s") {
  workbench w;
  w.change([](auto& s) {
    s.max_attempts = 1;
    s.max_defers = 0;
  });
  w.publish_many(20);
  w.answer(std::size_t{0}, answered(429, {"1"}));
  w.answer(std::size_t{0}, answered(200));
  w.pass(seconds(1));
  for (double wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    REQUIRE(w.in_flight().size() == 1);
    w.answer(std::size_t{0}, answered(500));
    w.pass(seconds(wait) - duration{1});
    CHECK(w.in_flight().empty());
    w.pass(duration{1});
  }
}

TEST_CASE("a hold set while the probe was out outlives its success") {
  workbench w;
  w.publish_many(3);
  w.answer(number(1), answered(429, {"1"}));
  w.pass(seconds(1));
  REQUIRE(w.in_flight().size() == 2);
  w.answer(number(2), answered(429, {"10"}));
  CHECK(w.gate() == gate_state::probing);
  w.answer(number(3), answered(200));
  CHECK(w.gate() == gate_state::held);
  w.pass(seconds(9.999999));
  CHECK(w.log().size() == 3);
  w.pass(duration{1});
  CHECK(w.log().size() == 4);
}

TEST_CASE("the probe waits for a free slot") {
  workbench w;
  w.publish_many(4);
  w.change([](auto& s) { s.concurrency = 1; });
  w.answer(number(1), answered(429, {"1"}));
  w.pass(seconds(5));
  CHECK(w.log().size() == 2);
  w.answer(number(2), answered(200));
  CHECK(w.log().size() == 3);
  CHECK(w.in_flight()[0].probe);
}

TEST_CASE("a probe that dies leaves the gate to another") {
  workbench w;
  w.change([](auto& s) { s.max_attempts = 1; });
  w.publish_many(3);
  w.answer(number(1), answered(429, {"1"}));
  w.answer(number(2), answered(200));
  w.pass(seconds(1));
  w.answer(number(3), answered(500));
  CHECK(w.stored(number(3)).status == job_status::dead);
  w.pass(seconds(1));
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == number(1));
}

TEST_CASE("a waiting job that expires does not wedge the gate") {
  workbench w;
  w.change([](auto& s) { s.lifetime = seconds(5); });
  w.publish_many(2);
  w.answer(number(1), answered(429, {"60"}));
  w.answer(number(2), answered(429, {"60"}));
  w.pass(seconds(60));
  CHECK(w.queue().live_jobs() == 0);
  w.publish_many(2);
  REQUIRE(w.in_flight().size() == 1);
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.gate() == gate_state::open);
}

// -- restart ------------------------------------------------------------------

TEST_CASE("a held queue is held after a restart until the same time") {
  auto w = held("10");
  w.restart(seconds(3));
  CHECK(w.gate() == gate_state::held);
  w.pass(seconds(6.999999));
  CHECK(w.log().size() == 1);
  w.pass(duration{1});
  CHECK(w.log().size() == 2);
  CHECK(w.in_flight()[0].probe);
}

TEST_CASE("a queue that was probing probes once more after a restart") {
  auto w = probing();
  w.restart();
  CHECK(w.gate() == gate_state::probing);
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == number(2));
  CHECK(w.in_flight()[0].number == 2);
  CHECK(w.in_flight()[0].attempt == 1);
  REQUIRE(w.history(number(2)).size() == 1);
  CHECK(w.history(number(2))[0].status == delivery_status::interrupted);
  CHECK(w.history(number(2))[0].delivery == 1);
  w.answer(number(2), answered(200));
  CHECK(w.stored(number(2)).attempts == 1);
  CHECK(w.stored(number(2)).deliveries == 2);
  CHECK(w.gate() == gate_state::open);
}

TEST_CASE("each death costs one extra probe and no attempt") {
  auto w = probing();
  for (auto i = 1; i <= 5; ++i) {
    w.restart(seconds(1));
    CHECK(w.log().size() == 2u + static_cast<unsigned>(i));
  }
  CHECK(w.stored(number(2)).attempts == 0);
  CHECK(w.history(number(2)).size() == 5);
}

TEST_CASE(
  "a probe that was interrupted and outlived itself is dead, not lost") {
  workbench w;
  w.change([](auto& s) { s.lifetime = seconds(5); });
  w.publish_many(2);
  w.answer(number(1), answered(429, {"1"}));
  w.answer(number(2), answered(200));
  w.pass(seconds(1));
  w.restart(seconds(60));
  CHECK(w.stored(number(1)).dead_reason == dead_reason::lifetime_exceeded);
  REQUIRE(w.history(number(1)).size() == 2);
  CHECK(w.history(number(1))[1].status == delivery_status::interrupted);
  CHECK(w.gate() == gate_state::held);
}

TEST_CASE("a probe goes out only when its start is stored") {
  auto w = held("1");
  w.keep_commits_back();
  w.pass(seconds(1));
  CHECK(w.log().size() == 1);
  w.commit_all();
  REQUIRE(w.log().size() == 2);
  CHECK(w.stored(number(2)).started_delivery == 1);
  CHECK(w.store().queue().gate.state == gate_state::probing);
}

TEST_CASE("a defer that was not stored when we died is heard again") {
  workbench w;
  w.publish();
  w.keep_commits_back();
  w.answer(std::size_t{0}, answered(429, {"10"}));
  w.restart();
  CHECK(w.gate() == gate_state::open);
  CHECK(w.in_flight().size() == 1);
}

// -- by hand ------------------------------------------------------------------

TEST_CASE("a new URL leads to a probe and makes the deferred jobs due") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(429, {"3600"}));
  w.pass(seconds(1));
  w.change([](auto& s) { s.webhook_url = "http://other.example/"; });
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].job == job);
  CHECK(w.in_flight()[0].probe);
  CHECK(w.in_flight()[0].url == "http://other.example/");
  w.answer(job, answered(200));
  CHECK(w.gate() == gate_state::open);
}

TEST_CASE("what a new URL made due is due after a restart as well") {
  workbench w;
  w.change([](auto& s) { s.concurrency = 3; });
  w.publish_many(3);
  w.answer_all(answered(429, {"3600"}));
  w.change([](auto& s) { s.webhook_url = "http://other.example/"; });
  w.restart();
  CHECK(w.in_flight().size() == 1);
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.in_flight().size() == 2);
}

TEST_CASE("a new URL does not shorten a backoff") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(500));
  w.change([](auto& s) { s.webhook_url = "http://other.example/"; });
  CHECK(w.in_flight().empty());
  CHECK(w.blocked(job) == std::vector<std::string>{"backoff"});
}

// -- events -------------------------------------------------------------------

TEST_CASE("everything that moves the gate is an event with its cause") {
  auto w = probing();
  w.answer(number(2), answered(500));
  w.pass(seconds(1));
  w.answer(w.in_flight()[0].job, answered(200));
  using kind = event_kind;
  REQUIRE(kinds(w)
          == std::vector{kind::queue_held, kind::queue_probing,
                         kind::queue_held, kind::queue_probing,
                         kind::queue_opened});
  const auto& first = w.events()[0];
  CHECK(first.queue == "test");
  CHECK(first.at == at(0).wall);
  CHECK(first.job == number(1));
  CHECK(first.cause == hold_cause::downstream);
  CHECK(first.http_status == 429);
  CHECK(first.release_at == at(1).wall);
  CHECK_FALSE(first.verdict);
  CHECK(w.events()[1].job == number(2));
  const auto& again = w.events()[2];
  CHECK(again.job == number(2));
  CHECK(again.cause == hold_cause::probe_failed);
  CHECK(again.http_status == 500);
  CHECK(again.release_at == at(2).wall);
  CHECK(again.verdict == probe_verdict::no_verdict);
  CHECK(w.events()[4].job == number(3));
  CHECK(w.events()[4].verdict == probe_verdict::success);
}

TEST_CASE("a hold that is set while the probe is out is told as a hold") {
  workbench w;
  w.publish_many(3);
  w.answer(number(1), answered(429, {"1"}));
  w.pass(seconds(1));
  w.answer(number(2), answered(503, {"10"}));
  const auto& last = w.events().back();
  CHECK(last.kind == event_kind::queue_held);
  CHECK(last.job == number(2));
  CHECK(last.http_status == 503);
  CHECK(last.release_at == at(11).wall);
  CHECK_FALSE(last.verdict);
}

TEST_CASE("a hold that comes with a probe's verdict does not carry it") {
  workbench w;
  w.publish_many(3);
  w.answer(number(1), answered(429, {"1"}));
  w.pass(seconds(1));
  w.answer(number(3), answered(200));
  w.answer(number(2), answered(429, {"5"}));
  const auto& last = w.events().back();
  CHECK(last.kind == event_kind::queue_held);
  CHECK_FALSE(last.verdict);
}

TEST_CASE("a release is told as one, with the hold that it ended") {
  workbench w;
  w.publish_many(2);
  w.answer(number(1), answered(429, {"60"}));
  w.answer(number(2), answered(200));
  w.cancel(number(1));
  w.pass(seconds(7));
  w.release();
  const auto& last = w.events().back();
  CHECK(last.kind == event_kind::queue_released);
  CHECK(last.cause == hold_cause::downstream);
  CHECK(last.http_status == 429);
  CHECK(last.release_at == w.now().wall);
  CHECK(w.gate() == gate_state::held);
  auto told = w.events().size();
  w.release();
  CHECK(w.events().size() == told);
}

TEST_CASE("a release is followed by its probe, and another URL is a release") {
  workbench w;
  w.publish();
  w.answer(number(1), answered(429, {"60"}));
  w.change([](auto& s) { s.webhook_url = "http://other.example/"; });
  w.answer(number(1), answered(200));
  using kind = event_kind;
  auto all = kinds(w);
  std::erase(all, kind::queue_changed);
  CHECK(all
        == std::vector{kind::queue_held, kind::queue_released,
                       kind::queue_probing, kind::queue_opened});
}

TEST_CASE("a job that is given up on is an event with its reason") {
  workbench w;
  w.change([](auto& s) { s.max_attempts = 1; });
  auto job = w.publish();
  w.answer(job, answered(500));
  const auto& last = w.events().back();
  CHECK(last.kind == event_kind::job_dead);
  CHECK(last.job == job);
  CHECK(last.reason == dead_reason::attempts_exhausted);
}

// -- an outage ----------------------------------------------------------------

namespace {

/// Answers what is in flight when it has been out for `latency`, by the time at
/// which it started, until nothing is left.
template <class F>
void run_downstream(workbench& w, duration latency, F reply_at) {
  while (w.queue().live_jobs() > 0) {
    auto next = w.queue().next_wakeup();
    std::optional<duration> wait;
    if (next)
      wait = *next - w.now().steady;
    if (!w.in_flight().empty()) {
      auto since = w.in_flight()[0].started_at - midnight;
      auto ends = since + latency - w.elapsed();
      wait = wait ? std::min(*wait, ends) : ends;
    }
    REQUIRE(wait);
    w.pass(*wait);
    while (!w.in_flight().empty()) {
      auto since = w.in_flight()[0].started_at - midnight;
      if (since + latency > w.elapsed())
        break;
      w.answer(std::size_t{0}, reply_at(since));
    }
  }
}

} // namespace

TEST_CASE("an outage of 10 s costs 1,000 jobs 20 deliveries and no attempt") {
  auto latency = GENERATE(seconds(0.05), seconds(0.1));
  workbench w;
  w.change([](auto& s) { s.concurrency = 16; });
  w.publish_many(1000);
  auto wasted = 0;
  run_downstream(w, latency, [&](duration since) {
    if (since >= seconds(10))
      return answered(200);
    ++wasted;
    return answered(429, {"2"});
  });
  CHECK(wasted == 20);
  CHECK(w.log().size() == 1020);
  CHECK(w.store().queue().completed == 1000);
  std::uint64_t attempts = 0;
  for (const auto& [seq, r] : w.store().ended())
    attempts += r.job.attempts;
  CHECK(attempts == 1000);
}

TEST_CASE("1,000 jobs of 50 ms at concurrency 2 take no longer than needed") {
  workbench w;
  w.publish_many(1000);
  run_downstream(w, seconds(0.05), [](duration) { return answered(200); });
  CHECK(w.elapsed() == seconds(25));
}

// -- gates that interact ------------------------------------------------------

namespace {

/// The gates of a queue that another one must not open.
enum gate_bit { hold_bit, pause_bit, rate_bit, concurrency_bit, delay_bit };

constexpr std::size_t gate_count = 5;

/// One job behind any combination of gates, each of which opens by an event of
/// its own: a hold, a rate and a delay by time, so these are told from one
/// another by when they open.
class gated {
public:
  gated(unsigned shut, const std::array<std::size_t, gate_count>& order)
    : shut_(shut) {
    duration when{0};
    for (auto gate : order)
      opens_at_[gate] = when += seconds(10);
    w_.change([](auto& s) { s.concurrency = 1; });
    if (has(rate_bit))
      spend_rate();
    if (has(hold_bit))
      shut_hold();
    if (has(concurrency_bit))
      fill_slot();
    if (has(pause_bit))
      w_.pause();
    subject_ = w_.publish(has(delay_bit) ? left(delay_bit) : duration{0});
  }

  /// Opens everything in order; returns when the job started.
  std::optional<duration> run() {
    while (w_.elapsed() < seconds(100) && !start()) {
      auto wait = seconds(1) - (w_.elapsed() % seconds(1));
      w_.pass(wait);
      if (has(pause_bit) && w_.elapsed() == opens_at_[pause_bit])
        w_.resume();
      if (has(concurrency_bit) && w_.elapsed() == opens_at_[concurrency_bit])
        w_.answer(blocker_, answered(200));
    }
    return start();
  }

  duration expected() const {
    duration result{0};
    for (std::size_t gate = 0; gate < gate_count; ++gate)
      if (has(static_cast<gate_bit>(gate)))
        result = std::max(result, opens_at_[gate]);
    return result;
  }

private:
  bool has(gate_bit gate) const {
    return shut_ >> gate & 1;
  }

  duration left(gate_bit gate) const {
    return opens_at_[gate] - w_.elapsed();
  }

  std::optional<duration> start() const {
    for (const auto& s : w_.log())
      if (s.what.job == subject_)
        return s.at;
    return std::nullopt;
  }

  void spend_rate() {
    w_.change([this](auto& s) {
      s.rate_limit_max = 3;
      s.rate_limit_window = left(rate_bit);
    });
    for (auto i = has(hold_bit) + has(concurrency_bit); i < 3; ++i)
      w_.answer(w_.publish(), answered(200));
  }

  void shut_hold() {
    w_.change([](auto& s) {
      s.max_defers = 0;
      s.concurrency = 2;
    });
    auto job = w_.publish();
    if (has(concurrency_bit))
      fill_slot();
    auto wait =
      std::chrono::duration_cast<std::chrono::seconds>(left(hold_bit));
    w_.answer(job, answered(429, {std::to_string(wait.count())}));
    w_.change([](auto& s) { s.concurrency = 1; });
  }

  void fill_slot() {
    if (!is_filled_)
      blocker_ = w_.publish();
    is_filled_ = true;
  }

  unsigned shut_;
  std::array<duration, gate_count> opens_at_{};
  workbench w_;
  job_id blocker_;
  bool is_filled_ = false;
  job_id subject_;
};

} // namespace

TEST_CASE("nothing goes out until all gates are open, in whatever order") {
  std::array<std::size_t, gate_count> order;
  std::iota(order.begin(), order.end(), 0);
  do {
    for (auto shut = 0u; shut < 1u << gate_count; ++shut) {
      gated one{shut, order};
      auto at = one.run();
      CAPTURE(shut, order);
      REQUIRE(at == one.expected());
    }
  } while (std::next_permutation(order.begin(), order.end()));
}
