// Whatever happens in whatever order: nothing is lost, nothing is flooded.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/random_options.hpp"
#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

constexpr std::uint32_t concurrency = 3;

/// One queue, and everything that its users, its operator, its downstream, its
/// disk and its clock may do, as a seed decides.
class random_life {
public:
  explicit random_life(std::uint64_t seed) : lots_(seed), w_(options_of(seed)) {
    auto settings = some_settings();
    settings.concurrency = concurrency;
    settings.max_attempts = 4;
    settings.max_defers = 6;
    settings.lifetime = 2h;
    settings.backoff.delay = 5;
    if (seed % 2 == 0) {
      settings.rate_limit_max = 7;
      settings.rate_limit_window = 20s;
    }
    w_.create("q", settings);
    w_.downstream().behave([this](const delivery& d, moment) {
      note_start(d);
      return draw_response();
    });
  }

  void step() {
    switch (lots_() % 16) {
      case 0:
        crash();
        break;
      case 1:
        operate();
        break;
      case 2:
        w_.system().step_wall_clock(std::chrono::seconds{
          static_cast<std::int64_t>(lots_() % 7'200) - 3'600});
        break;
      case 3:
        w_.faults().commits_until_failure = lots_() % 5;
        w_.faults().failure_keeps_data = lots_() % 2 == 0;
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        publish_some();
        break;
      default:
        pass_time();
        break;
    }
    collect();
    check_always();
  }

  /// The downstream is well again and time passes: every job must end.
  void end_well() {
    w_.faults().commits_until_failure.reset();
    pass(5s);
    try_request([&] { w_.resume("q"); });
    w_.downstream().behave(always({200}));
    pass(6h);
    collect();
    auto counts = w_.get("q").counts;
    CHECK(counts.pending + counts.processing == 0);
    CHECK(counts.completed + counts.dead >= accepted_.size());
    CHECK(counts.completed + counts.dead <= asked_);
    CHECK(w_.scan("q").completed == counts.completed);
    CHECK(w_.scan("q").dead == counts.dead);
    for (auto id : accepted_)
      check_ended(id);
  }

private:
  using answer_ptr = std::shared_ptr<std::optional<result<publish_result>>>;

  template <class F>
  void try_request(F f) {
    try {
      f();
    } catch (const std::exception&) {
      // Refused or unanswered, as may be while the disk fails.
    }
  }

  response draw_response() {
    auto latency = std::chrono::milliseconds{lots_() % 3'000};
    switch (lots_() % 8) {
      case 0:
        return {429, std::to_string(lots_() % 30), latency};
      case 1:
        return {503, "", latency};
      case 2:
        return {500, "", latency};
      case 3:
        return {404, "", latency};
      case 4:
        return {0, "", lots_() % 4 == 0 ? duration{20s} : latency};
      default:
        return {200, "", latency};
    }
  }

  void note_start(const delivery& d) {
    CHECK(d.attempt >= 1);
    CHECK(d.attempt <= d.max_attempts);
    if (!d.probe)
      return;
    // The number of a probe is a token that is never used twice.
    auto fresh = probes_.emplace(to_string(d.job), d.number).second;
    CHECK(fresh);
  }

  void publish_some() {
    for (auto n = lots_() % 5; n > 0; --n) {
      publish what;
      what.payload = payload{std::to_string(asked_++)};
      if (lots_() % 4 == 0)
        what.delay = std::chrono::seconds{lots_() % 60};
      try_request([&] {
        waiting_.push_back(
          w_.system().begin_ask<publish_result>(w_.queue("q"), what));
      });
      // Sometimes the next thing happens before this one has been handled.
      if (lots_() % 2 == 0)
        w_.system().run();
    }
  }

  void operate() {
    try_request([&] {
      if (lots_() % 2 == 0)
        w_.pause("q");
      else
        w_.resume("q");
    });
  }

  void pass(duration by) {
    w_.advance(by);
  }

  void pass_time() {
    constexpr duration spans[] = {1ms, 500ms, 3s, 20s, 10min};
    pass(spans[lots_() % std::size(spans)]);
  }

  void crash() {
    w_.crash(std::chrono::milliseconds{lots_() % 5'000});
  }

  /// Notes which publishes have been answered with success.
  void collect() {
    for (auto& answer : waiting_)
      if (*answer && **answer)
        accepted_.insert((**answer)->id);
    std::erase_if(waiting_,
                  [](const auto& answer) { return answer->has_value(); });
  }

  void check_always() {
    CHECK(w_.downstream().in_flight() <= concurrency);
    std::optional<queue_view> q;
    try_request([&] { q = w_.get("q"); });
    if (!q)
      return;
    CHECK(q->counts.in_flight <= concurrency);
    if (q->queue.gate.state == gate_state::probing)
      CHECK(q->counts.in_flight >= 1);
    if (q->queue.paused) {
      auto seen = w_.downstream().arrivals().size();
      pass(1s);
      CHECK(w_.downstream().arrivals().size() == seen);
    }
  }

  void check_ended(job_id id) {
    auto job = w_.get(id).record.job;
    auto ended = job.status == job_status::completed
                 || job.status == job_status::dead;
    CHECK(ended);
    CHECK(job.attempts <= 4);
    CHECK(job.defers <= 7);
    CHECK(job.deliveries >= job.attempts + job.defers);
    if (job.status == job_status::completed)
      CHECK(job.attempts >= 1);
  }

  std::mt19937_64 lots_;
  std::set<std::pair<std::string, std::uint64_t>> probes_;
  world w_;
  std::vector<answer_ptr> waiting_;
  std::set<job_id> accepted_;
  std::uint64_t asked_ = 0;
};

} // namespace

TEST_CASE("a random life ends well, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    random_life life{seed};
    for (int i = 0; i < 120; ++i)
      life.step();
    life.end_well();
  }
}
