// Alerts after all short histories of one queue.

#include "actors/core/alerts.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <map>

#include "tests/core/moments.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testing;

namespace {

constexpr double window = 20;
constexpr double held_limit = 10;
constexpr double look_pause = 10;

/// What may happen.
enum class step { die, hold, open, look_deep, look_shallow, nothing };

constexpr std::array steps = {step::die,          step::hold,
                              step::open,         step::look_deep,
                              step::look_shallow, step::nothing};

/// How long it may take until the next one. Unit: seconds.
constexpr std::array waits = {0.5, 7.0, 30.0};

/// Lives through one history, takes each alert when it is due, and knows what
/// is the case.
class life {
public:
  void take(step what) {
    switch (what) {
      case step::die:
        ++died_;
        happen(event_kind::job_dead);
        break;
      case step::hold:
        shut_since_ = shut_since_ < 0 ? now_ : shut_since_;
        happen(event_kind::queue_held);
        break;
      case step::open:
        shut_since_ = -1;
        happen(event_kind::queue_opened);
        break;
      case step::look_deep:
        look(101);
        break;
      case step::look_shallow:
        look(100);
        break;
      case step::nothing:
        break;
    }
    run_to(now_);
  }

  void wait(double span) {
    run_to(now_ + span);
  }

  /// Whatever is the case has been told for long, and nothing else.
  void check_end() {
    for (auto end = now_ + 2 * window; now_ < end;) {
      run_to(now_ + look_pause);
      look(deep_ ? 101 : 100);
      run_to(now_);
    }
    check(told_deaths_ == died_, "all deaths are told");
    check(is_open(alert_cause::queue_held) == (shut_since_ >= 0),
          "a gate that is shut is open in the receiver's book");
    check(is_open(alert_cause::queue_depth) == deep_,
          "a queue that is deep is open in the receiver's book");
    if (shut_since_ >= 0)
      check(now_ - last_[alert_cause::queue_held] <= window,
            "what lasts is told each window");
    if (deep_)
      check(now_ - last_[alert_cause::queue_depth] <= window,
            "what lasts is told at the first look after each window");
  }

  std::string broken;

private:
  void happen(event_kind kind) {
    service_event event;
    event.kind = kind;
    event.project = "default";
    event.queue = "q";
    event.at = at(now_).wall;
    value_.happened(event, at(now_));
  }

  void look(std::uint64_t depth) {
    alerts::figures what;
    what.depth = depth;
    if (shut_since_ >= 0)
      what.shut_since = at(shut_since_).wall;
    value_.begin_look(at(now_));
    value_.looked_at({"default", "q"}, what, at(now_));
    value_.end_look(at(now_));
    deep_ = depth > 100;
  }

  /// Lets time pass. Nothing may be due before `next_wakeup`.
  void run_to(double end) {
    for (;;) {
      auto next = value_.next_wakeup();
      auto n = next ? to_seconds(*next - steady_midnight) : end + 1;
      if (n > end)
        break;
      if (n > now_)
        check(value_.due(at((now_ + n) / 2), 100).empty(),
              "nothing is due before the wakeup");
      now_ = std::max(now_, n);
      for (const auto& said : value_.due(at(now_), 100))
        hear(said);
    }
    now_ = end;
  }

  void hear(const alert& said) {
    auto& open = open_[said.cause];
    if (said.state == alert_state::resolved) {
      check(open, "only what was told is resolved");
      open = false;
      return;
    }
    auto last = last_.find(said.cause);
    check(last == last_.end() || now_ - last->second >= window,
          "at most one alert a window");
    last_[said.cause] = now_;
    open = said.cause != alert_cause::job_dead;
    told_deaths_ += said.cause == alert_cause::job_dead ? said.count : 0;
    if (said.cause == alert_cause::queue_held)
      check(shut_since_ >= 0 && now_ - shut_since_ >= held_limit,
            "a hold is told when it has lasted");
  }

  bool is_open(alert_cause cause) {
    return open_[cause];
  }

  void check(bool holds, const char* rule) {
    if (!holds && broken.empty())
      broken = rule;
  }

  alerts value_{alert_settings{true, std::chrono::seconds{10}, 100, 0s,
                               std::chrono::seconds{20}}};
  double now_ = 0;
  double shut_since_ = -1;
  bool deep_ = false;
  std::uint64_t died_ = 0;
  std::uint64_t told_deaths_ = 0;
  std::map<alert_cause, double> last_;
  std::map<alert_cause, bool> open_;
};

} // namespace

TEST_CASE("every short history of a queue is told by the rules") {
  constexpr std::size_t moves = steps.size() * waits.size();
  constexpr std::size_t length = 4;
  std::size_t histories = 1;
  for (std::size_t i = 0; i < length; ++i)
    histories *= moves;
  for (std::size_t n = 0; n < histories; ++n) {
    life l;
    std::string told;
    for (auto rest = n; told.size() < length; rest /= moves) {
      auto move = rest % moves;
      l.take(steps[move % steps.size()]);
      l.wait(waits[move / steps.size()]);
      told += static_cast<char>('a' + move);
    }
    l.check_end();
    if (!l.broken.empty())
      FAIL("history " << told << ": " << l.broken);
  }
  CHECK(histories == 104'976);
}
