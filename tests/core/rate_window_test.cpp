// The limit on deliveries that start within a span of time.

#include "actors/core/rate_window.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <random>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

/// Every start there was, with nothing left out: the naive truth.
class start_log {
public:
  void add(steady_time at) {
    starts_.push_back(at);
  }

  /// Returns the most starts in any window that begins with a start.
  std::size_t most_in_any(duration window) const {
    std::size_t most = 0;
    for (std::size_t first = 0, end = 0; first < starts_.size(); ++first) {
      while (end < starts_.size() && starts_[end] < starts_[first] + window)
        ++end;
      most = std::max(most, end - first);
    }
    return most;
  }

  std::size_t size() const {
    return starts_.size();
  }

private:
  std::vector<steady_time> starts_;
};

/// Starts as many at `now` as it can, at most `wanted`.
void start_all(rate_window& rate, start_log& log, steady_time now,
               std::size_t wanted) {
  for (; wanted > 0 && !rate.full(now); --wanted) {
    rate.count(now);
    log.add(now);
  }
}

} // namespace

TEST_CASE("without a limit nothing is ever too much") {
  rate_window rate{std::nullopt, seconds(1)};
  for (auto i = 0; i < 1000; ++i)
    rate.count(at(0).steady);
  CHECK_FALSE(rate.limited());
  CHECK_FALSE(rate.full(at(0).steady));
  CHECK(rate.next_start(at(0).steady) == at(0).steady);
  CHECK(rate.to_record(at(0)).empty());
}

TEST_CASE("as many may start in a window as the limit says, and no more") {
  rate_window rate{3, seconds(1)};
  for (auto i = 0; i < 3; ++i) {
    CHECK_FALSE(rate.full(at(0).steady));
    rate.count(at(0).steady);
  }
  CHECK(rate.full(at(0).steady));
  CHECK(rate.next_start(at(0).steady) == at(1).steady);
  CHECK(rate.full(at(0.999999).steady));
  CHECK_FALSE(rate.full(at(1).steady));
}

TEST_CASE("a window slides, it does not tick") {
  rate_window rate{2, seconds(10)};
  rate.count(at(0).steady);
  rate.count(at(9).steady);
  CHECK(rate.next_start(at(9).steady) == at(10).steady);
  rate.count(at(10).steady);
  CHECK(rate.full(at(10).steady));
  CHECK(rate.next_start(at(10).steady) == at(19).steady);
}

TEST_CASE("starts that lie apart are exact") {
  rate_window rate{1, seconds(1)};
  for (auto i = 0; i < 100; ++i) {
    REQUIRE(rate.next_start(at(i).steady) == at(i).steady);
    rate.count(at(i).steady);
    REQUIRE(rate.next_start(at(i + 0.5).steady) == at(i + 1).steady);
  }
}

TEST_CASE("a lower limit counts what has started before") {
  rate_window rate{10, seconds(1)};
  for (auto i = 0; i < 5; ++i)
    rate.count(at(0).steady);
  rate.limit(5, seconds(1));
  CHECK(rate.full(at(0.5).steady));
  rate.limit(6, seconds(1));
  CHECK_FALSE(rate.full(at(0.5).steady));
  rate.limit(std::nullopt, seconds(1));
  CHECK_FALSE(rate.full(at(0.5).steady));
}

TEST_CASE("a longer window counts what has started before") {
  rate_window rate{1, seconds(1)};
  rate.count(at(0).steady);
  rate.limit(1, seconds(60));
  CHECK(rate.next_start(at(5).steady) == at(60).steady);
}

TEST_CASE("no window ever sees more starts than the limit") {
  auto seed = GENERATE(range(0u, 40u));
  std::mt19937 random{seed};
  auto max = static_cast<std::uint32_t>(1 + random() % (seed % 4 ? 20 : 400));
  auto window = std::chrono::seconds{1 + random() % 5};
  rate_window rate{max, window};
  start_log log;
  auto now = at(0);
  for (auto i = 0; i < 3'000; ++i) {
    auto gap = duration{random() % (random() % 8 ? 20'000 : 2'000'000)};
    now.steady += gap;
    now.wall += gap;
    start_all(rate, log, now.steady, random() % 4);
    if (random() % 100 == 0) {
      // A restart, after a while or at once, on another steady origin.
      auto stored = rate.to_record(now);
      auto down = duration{random() % 3'000'000};
      now.steady += down;
      now.wall += down;
      rate = rate_window{max, window};
      rate.restore(stored, now);
    }
  }
  CAPTURE(seed, max, log.size());
  CHECK(log.most_in_any(window) <= max);
}

TEST_CASE("a queue that always has work starts almost as many as it may") {
  auto max = GENERATE(1u, 2u, 7u, 64u, 1'000u);
  auto gap = GENERATE(duration{137}, duration{1'003}, duration{33'333});
  rate_window rate{max, seconds(1)};
  start_log log;
  constexpr auto windows = 20;
  // Looks when told to, or a little later, as a busy owner does.
  for (auto now = at(0).steady; now < at(windows).steady;) {
    start_all(rate, log, now, 1);
    now = std::max(now + gap, rate.next_start(now));
  }
  auto possible = std::min<double>(max, 1e6 / gap.count());
  CHECK(log.most_in_any(seconds(1)) <= max);
  CHECK(static_cast<double>(log.size()) >= possible * windows * 0.96 - 1);
}

TEST_CASE("next_start is the first moment that is not full") {
  std::mt19937 random{3};
  rate_window rate{5, seconds(1)};
  auto now = at(0).steady;
  for (auto i = 0; i < 5'000; ++i) {
    auto next = rate.next_start(now);
    REQUIRE(rate.full(now) == (next > now));
    REQUIRE_FALSE(rate.full(next));
    if (next > now)
      REQUIRE(rate.full(next - duration{1}));
    now = std::max(next, now + duration{random() % 300'000});
    if (!rate.full(now))
      rate.count(now);
  }
}

// -- restart ------------------------------------------------------------------

TEST_CASE("what had started before a restart still counts") {
  rate_window rate{2, seconds(10)};
  rate.count(at(0).steady);
  rate.count(at(4).steady);
  auto stored = rate.to_record(at(4));
  CHECK(stored == std::vector<rate_start>{{at(0).wall, 1}, {at(4).wall, 1}});
  moment after{steady_time{seconds(3)}, at(7).wall};
  rate_window again{2, seconds(10)};
  again.restore(stored, after);
  CHECK(again.next_start(after.steady) == steady_time{seconds(6)});
}

TEST_CASE("only what still counts is stored, and little of it") {
  rate_window rate{100'000, seconds(1)};
  for (auto i = 0; i < 100'000; ++i)
    rate.count(at(i * 0.00002).steady);
  CHECK(rate.to_record(at(2)).size() <= 65);
  CHECK(rate.to_record(at(10)).empty());
}

TEST_CASE("a clock set back during a restart lets out no more, only later") {
  rate_window rate{1, seconds(10)};
  rate.count(at(0).steady);
  auto stored = rate.to_record(at(0));
  moment after{steady_time{seconds(3)}, at(0).wall - std::chrono::hours{24}};
  rate_window again{1, seconds(10)};
  again.restore(stored, after);
  CHECK(again.full(after.steady));
  CHECK(again.next_start(after.steady) == after.steady + seconds(10));
}

TEST_CASE("a step of the wall clock while running changes nothing") {
  rate_window rate{1, seconds(10)};
  rate.count(at(0).steady);
  moment stepped{at(5).steady, at(5).wall - std::chrono::hours{1}};
  auto stored = rate.to_record(stepped);
  REQUIRE(stored.size() == 1);
  CHECK(stored.front().latest == stepped.wall - seconds(5));
  rate_window again{1, seconds(10)};
  again.restore(stored, stepped);
  CHECK(again.next_start(at(5).steady) == at(10).steady);
}
