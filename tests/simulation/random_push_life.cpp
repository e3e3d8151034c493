// The random life of a push queue.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "tests/simulation/life.hpp"

namespace tidegate::testkit {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t concurrency = 3;
constexpr std::uint64_t attempts_max = 4;
constexpr std::uint64_t defers_max = 6;

/// How many jobs are asked why they do not run, each step.
constexpr int asked_why = 2;

bool has_ended(const job& j) {
  return j.status == job_status::completed || j.status == job_status::dead;
}

std::uint64_t live_of(const queue_counts& counts) {
  return counts.pending + counts.processing + counts.awaiting_ack;
}

class push_life : public life {
public:
  explicit push_life(std::uint64_t seed) : life(seed) {
    auto settings = some_settings();
    settings.concurrency = concurrency;
    settings.max_attempts = attempts_max;
    settings.max_defers = defers_max;
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

private:
  void step() override {
    switch (dice_.below(16)) {
      case 0:
        crash();
        break;
      case 1:
        operate();
        break;
      case 2:
        step_clock(1h);
        break;
      case 3:
        spoil_disk();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        publish_some();
        break;
      default:
        pass_one_of({1ms, 500ms, 3s, 20s, 10min});
        break;
    }
    collect();
  }

  void end_well() override {
    w_.faults().commits_until_failure.reset();
    w_.advance(5s);
    try_request([&] { w_.resume("q"); });
    w_.downstream().behave(always({200}));
    w_.advance(6h);
    collect();
    auto counts = w_.get("q").counts;
    expect(live_of(counts) == 0, "a job never ends");
    check_counts(counts);
    for (auto id : accepted_)
      check_ended(id);
  }

  // -- what happens -----------------------------------------------------------

  response draw_response() {
    auto latency = dice_.ms_below(3'000);
    switch (dice_.below(8)) {
      case 0:
        return {429, std::to_string(dice_.below(30)), latency};
      case 1:
        return {503, "", latency};
      case 2:
        return {500, "", latency};
      case 3:
        return {404, "", latency};
      case 4:
        return {0, "", dice_.one_in(4) ? duration{20s} : latency};
      default:
        return {200, "", latency};
    }
  }

  void publish_some() {
    for (auto n = dice_.below(5); n > 0; --n) {
      publish what;
      what.payload = payload{std::to_string(asked_++)};
      if (dice_.one_in(4))
        what.delay = dice_.seconds_below(60);
      try_request([&] {
        waiting_.push_back(
          w_.system().begin_ask<publish_result>(w_.queue("q"), what));
      });
      // Sometimes the next thing happens before this one has been handled.
      if (dice_.one_in(2))
        w_.system().run();
    }
  }

  void operate() {
    try_request([&] {
      if (dice_.one_in(2))
        w_.pause("q");
      else
        w_.resume("q");
    });
  }

  void memory_lost() override {
    told_.clear();
    flying_.clear();
  }

  void clock_set() override {
    told_.clear();
  }

  void note_start(const delivery& d, const response& answer, moment now) {
    watch(d, answer, now);
    expect(d.attempt >= 1 && d.attempt <= attempts_max,
           "an attempt is beyond `max_attempts`");
    expect(d.defers <= defers_max, "a delivery is beyond `max_defers`");
    expect(!ended_.contains(d.job), "a job that has ended goes out again");
    if (auto told = told_.extract(d.job))
      expect(told.mapped() <= now.steady, "a job goes before it was told to");
    flying_[d.job] = now.steady + std::min(answer.latency, d.timeout);
    // The number of a probe is a token that is never used twice.
    if (d.probe)
      expect(probes_.emplace(d.job, d.number).second,
             "a probe has the number of an earlier one");
  }

  /// Notes which publishes have been answered with success.
  void collect() {
    for (auto& answer : waiting_)
      if (*answer && **answer) {
        accepted_.insert((**answer)->id);
        open_.insert((**answer)->id);
      }
    std::erase_if(waiting_,
                  [](const auto& answer) { return answer->has_value(); });
  }

  // -- what must be so --------------------------------------------------------

  void check() override {
    collect();
    expect(w_.downstream().in_flight() <= concurrency,
           "more is in flight than may be");
    std::optional<queue_view> q;
    if (!try_request([&] { q = w_.get("q"); }))
      return;
    expect(q->counts.in_flight <= concurrency,
           "the queue counts more in flight than may be");
    if (q->queue.gate.state == gate_state::probing)
      expect(q->counts.in_flight >= 1, "the gate waits for no probe");
    check_counts(q->counts);
    for (auto n = 0; n < asked_why && !open_.empty(); ++n)
      ask_why(dice_.any(open_));
    if (!q->queue.paused)
      return;
    auto seen = w_.downstream().arrivals().size();
    w_.advance(1s);
    expect(w_.downstream().arrivals().size() == seen,
           "something goes out of a paused queue");
  }

  /// Nothing is lost and nothing added, and figures are what is stored.
  void check_counts(const queue_counts& counts) {
    auto stored = w_.scan("q");
    expect(stored.completed == counts.completed && stored.dead == counts.dead
             && live_of(stored) == live_of(counts),
           "the figures are not those of the store");
    auto all = live_of(stored) + stored.completed + stored.dead;
    expect(all >= accepted_.size(), "an accepted job is lost");
    expect(all <= asked_, "there are more jobs than were asked for");
  }

  /// What does not run is told why, and what is told so does not run.
  void ask_why(job_id id) {
    std::optional<job_view> found;
    if (!try_request([&] { found = w_.get(id); }))
      return;
    const auto& j = found->record.job;
    expect(j.attempts <= attempts_max && j.defers <= defers_max + 1,
           "a budget was overdrawn");
    if (has_ended(j)) {
      ended_.insert(id);
      open_.erase(id);
      return;
    }
    auto now = w_.now();
    auto flight = flying_.find(id);
    // One whose answer comes at this instant may still be out.
    auto flies = flight != flying_.end() && flight->second >= now.steady;
    expect(flies || !found->blocked.empty(),
           "a job does not run and nothing is said to block it");
    for (const auto& gate : found->blocked)
      if (gate.until)
        told_[id] = std::max(told_[id], now.steady + (*gate.until - now.wall));
  }

  void check_ended(job_id id) {
    auto j = w_.get(id).record.job;
    expect(has_ended(j), "an accepted job has not ended");
    expect(j.attempts <= attempts_max && j.defers <= defers_max + 1,
           "a budget was overdrawn");
    expect(j.deliveries >= j.attempts + j.defers,
           "deliveries were not counted");
    if (j.status == job_status::completed)
      expect(j.attempts >= 1, "a job was completed without an attempt");
  }

  using answer_ptr = std::shared_ptr<std::optional<result<publish_result>>>;

  std::set<std::pair<job_id, std::uint64_t>> probes_;
  std::vector<answer_ptr> waiting_;

  /// Jobs whose publish was answered, those of them that may live, and those
  /// that have been seen to have ended.
  std::set<job_id> accepted_;
  std::set<job_id> open_;
  std::set<job_id> ended_;
  std::uint64_t asked_ = 0;

  /// When what is being delivered ends, and before when a job does not go.
  std::map<job_id, steady_time> flying_;
  std::map<job_id, steady_time> told_;
};

} // namespace

std::unique_ptr<life> make_push_life(std::uint64_t seed) {
  return std::make_unique<push_life>(seed);
}

} // namespace tidegate::testkit
