#include "tests/simulation/random_life.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "tests/simulation/flood_watch.hpp"
#include "tests/simulation/random_options.hpp"
#include "tests/testkit/world.hpp"

namespace tidegate::testkit {

namespace {

using namespace std::chrono_literals;

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
    w_.downstream().behave([this](const delivery& d, moment now) {
      auto answer = draw_response();
      note_start(d, answer, now);
      return answer;
    });
  }

  void step() {
    ++steps_;
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
    expect(counts.pending + counts.processing == 0, "a job never ends");
    auto ended = counts.completed + counts.dead;
    expect(ended >= accepted_.size(), "an accepted job is lost");
    expect(ended <= asked_, "there are more jobs than were asked for");
    auto stored = w_.scan("q");
    expect(stored.completed == counts.completed && stored.dead == counts.dead,
           "the figures are not those of the store");
    for (auto id : accepted_)
      check_ended(id);
  }

  /// Everything that went wrong so far.
  const std::vector<std::string>& complaints() const {
    return complaints_;
  }

private:
  void expect(bool holds, const char* otherwise) {
    if (!holds)
      complaints_.push_back("step " + std::to_string(steps_) + ": "
                            + otherwise);
  }

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

  void note_start(const delivery& d, const response& answer, moment now) {
    expect(d.attempt >= 1 && d.attempt <= d.max_attempts,
           "an attempt is beyond `max_attempts`");
    watch(d, answer, now.steady);
    if (!d.probe)
      return;
    // The number of a probe is a token that is never used twice.
    expect(probes_.emplace(to_string(d.job), d.number).second,
           "a probe has the number of an earlier one");
  }

  /// What was not committed is forgotten, holds as well. And of a delivery that
  /// goes out while the queue does not know of that yet, the outcome is.
  void watch(const delivery& d, const response& answer, steady_time now) {
    if (std::exchange(failures_, w_.faults().failures)
        != w_.faults().failures) {
      watch_.forget();
      failed_at_ = now;
    }
    if (failed_at_ == now)
      return;
    if (auto wrong = watch_.begin(d, answer, now))
      expect(false, wrong->c_str());
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
    watch_.forget();
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
    expect(w_.downstream().in_flight() <= concurrency,
           "more is in flight than may be");
    std::optional<queue_view> q;
    try_request([&] { q = w_.get("q"); });
    if (!q)
      return;
    expect(q->counts.in_flight <= concurrency,
           "the queue counts more in flight than may be");
    if (q->queue.gate.state == gate_state::probing)
      expect(q->counts.in_flight >= 1, "the gate waits for no probe");
    if (q->queue.paused) {
      auto seen = w_.downstream().arrivals().size();
      pass(1s);
      expect(w_.downstream().arrivals().size() == seen,
             "something goes out of a paused queue");
    }
  }

  void check_ended(job_id id) {
    auto job = w_.get(id).record.job;
    auto ended = job.status == job_status::completed
                 || job.status == job_status::dead;
    expect(ended, "an accepted job has not ended");
    expect(job.attempts <= 4 && job.defers <= 7, "a budget was overdrawn");
    expect(job.deliveries >= job.attempts + job.defers,
           "deliveries were not counted");
    if (job.status == job_status::completed)
      expect(job.attempts >= 1, "a job was completed without an attempt");
  }

  std::mt19937_64 lots_;
  std::vector<std::string> complaints_;
  unsigned steps_ = 0;
  flood_watch watch_;
  std::uint64_t failures_ = 0;
  std::optional<steady_time> failed_at_;
  std::set<std::pair<std::string, std::uint64_t>> probes_;
  world w_;
  std::vector<answer_ptr> waiting_;
  std::set<job_id> accepted_;
  std::uint64_t asked_ = 0;
};

} // namespace

std::vector<std::string> live(std::uint64_t seed, unsigned steps) {
  random_life life{seed};
  for (unsigned i = 0; i < steps && life.complaints().empty(); ++i)
    life.step();
  if (life.complaints().empty())
    life.end_well();
  return life.complaints();
}

} // namespace tidegate::testkit
