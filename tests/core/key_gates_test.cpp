// Gates of a limit key and of its queue before one job, in every combination.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

enum gate_bit { key_hold_bit, key_rate_bit, key_slot_bit, hold_bit, pause_bit };

constexpr std::size_t gate_count = 5;

/// One job behind any combination of gates, each of which opens by an event or
/// at a time of its own.
class gated {
public:
  gated(unsigned shut, const std::array<std::size_t, gate_count>& order)
    : shut_(shut) {
    duration when{0};
    for (auto gate : order)
      opens_at_[gate] = when += seconds(10);
    w_.change([](auto& s) {
      s.backpressure_scope = backpressure_scope::key;
      s.concurrency = 10;
      s.max_defers = 0;
    });
    if (has(key_rate_bit))
      spend_rate();
    if (has(key_hold_bit))
      shut_key();
    if (has(key_slot_bit))
      fill_slot();
    if (has(hold_bit))
      w_.hold(opens_at_[hold_bit]);
    if (has(pause_bit))
      w_.pause();
    subject_ = w_.publish_for("k");
    // One of another key sees nothing of all that but the queue's own gates.
    stranger_ = w_.publish_for("other");
  }

  /// Opens everything in order.
  void run() {
    while (w_.elapsed() < seconds(60)) {
      w_.pass(seconds(1));
      if (has(pause_bit) && w_.elapsed() == opens_at_[pause_bit])
        w_.resume();
      if (has(key_slot_bit) && w_.elapsed() == opens_at_[key_slot_bit])
        w_.answer(blocker_, answered(200));
      // Whoever is a probe must not stay out.
      for (auto job : {subject_, stranger_})
        if (w_.flies(job))
          w_.answer(job, answered(200));
    }
  }

  std::optional<duration> subject_started() const {
    return start_of(subject_);
  }

  std::optional<duration> stranger_started() const {
    return start_of(stranger_);
  }

  duration expected(std::initializer_list<gate_bit> gates) const {
    duration result{0};
    for (auto gate : gates)
      if (has(gate))
        result = std::max(result, opens_at_[gate]);
    return result;
  }

private:
  bool has(gate_bit gate) const {
    return shut_ >> gate & 1;
  }

  std::optional<duration> start_of(job_id job) const {
    for (const auto& s : w_.log())
      if (s.what.job == job)
        return s.at;
    return std::nullopt;
  }

  void spend_rate() {
    w_.change([this](auto& s) {
      s.key_rate_limit_max = 3;
      s.rate_limit_window = opens_at_[key_rate_bit];
    });
    for (auto i = has(key_hold_bit) + has(key_slot_bit); i < 3; ++i)
      w_.answer(w_.publish_for("k"), answered(200));
  }

  void shut_key() {
    auto job = w_.publish_for("k");
    if (has(key_slot_bit))
      fill_slot();
    auto wait =
      std::chrono::duration_cast<std::chrono::seconds>(opens_at_[key_hold_bit]);
    w_.answer(job, answered(429, {std::to_string(wait.count())}));
  }

  void fill_slot() {
    if (!is_filled_)
      blocker_ = w_.publish_for("k");
    is_filled_ = true;
    w_.change([](auto& s) { s.key_concurrency = 1; });
  }

  unsigned shut_;
  std::array<duration, gate_count> opens_at_{};
  workbench w_;
  job_id blocker_;
  bool is_filled_ = false;
  job_id subject_;
  job_id stranger_;
};

} // namespace

TEST_CASE(
  "a job goes when all gates of its key and queue are open, no sooner") {
  std::array<std::size_t, gate_count> order;
  std::iota(order.begin(), order.end(), 0);
  do {
    for (auto shut = 0u; shut < 1u << gate_count; ++shut) {
      gated one{shut, order};
      one.run();
      CAPTURE(shut, order);
      REQUIRE(one.subject_started()
              == one.expected({key_hold_bit, key_rate_bit, key_slot_bit,
                               hold_bit, pause_bit}));
      REQUIRE(one.stranger_started() == one.expected({hold_bit, pause_bit}));
    }
  } while (std::next_permutation(order.begin(), order.end()));
}
