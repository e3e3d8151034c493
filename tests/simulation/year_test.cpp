// A year of queue time in virtual time.

#include <catch2/catch.hpp>

#include <memory>
#include <random>
#include <string>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

constexpr auto year = 365 * 24h;

/// A downstream that is well for hours and then says "not now" for minutes,
/// over and over; now and then it fails for another reason.
class moody_downstream {
public:
  explicit moody_downstream(std::uint64_t seed) : lots_(seed) {
    // nop
  }

  response operator()(moment now) {
    while (now.steady >= change_) {
      well_ = !well_;
      change_ = std::max(change_, now.steady)
                + (well_ ? draw(5h) : draw(10min));
    }
    auto latency = draw(2s);
    if (well_)
      return {static_cast<std::uint16_t>(lots_() % 50 == 0 ? 500 : 200), "",
              latency};
    return {503, std::to_string(1 + lots_() % 120), latency};
  }

private:
  duration draw(duration mean) {
    return duration{static_cast<std::int64_t>(
      lots_() % static_cast<std::uint64_t>(2 * mean.count()))};
  }

  std::mt19937_64 lots_;
  bool well_ = true;
  steady_time change_{};
};

struct year_report {
  std::string events;
  std::size_t holds = 0;
  std::size_t deliveries = 0;
  queue_counts counts;
};

void publish_all_year(world& w, const queue_actor& queue,
                      std::mt19937_64& lots) {
  auto end = w.now().steady + year;
  while (w.now().steady < end) {
    publish what;
    what.payload = payload{"1"};
    w.system().begin_ask<publish_result>(queue, what);
    w.advance(std::chrono::seconds{60 + lots() % 1'200});
  }
}

year_report live_a_year(std::uint64_t seed) {
  world_options options;
  options.seed = seed;
  options.api_keys_pause = 0s;
  options.removal_pause = 1h;
  world w{options};
  auto settings = some_settings();
  settings.max_defers = 1'000;
  settings.max_attempts = 20;
  w.create("q", settings);
  auto moods = std::make_shared<moody_downstream>(seed);
  w.downstream().behave(
    [moods](const delivery&, moment now) { return (*moods)(now); });
  std::mt19937_64 lots{seed};
  publish_all_year(w, w.queue("q"), lots);
  w.downstream().behave(always({200}));
  w.advance(24h);
  year_report result;
  for (const auto& e : w.events()) {
    result.holds += e.kind == event_kind::queue_held ? 1 : 0;
    result.events += std::to_string(e.at.time_since_epoch().count())
                     + to_string(e.kind) + (e.job ? to_string(*e.job) : "")
                     + "\n";
  }
  result.deliveries = w.downstream().arrivals().size();
  result.counts = w.get("q").counts;
  return result;
}

} // namespace

TEST_CASE("a year with thousands of holds runs from a seed, twice the same") {
  auto first = live_a_year(2026);
  CHECK(first.holds > 2'000);
  CHECK(first.deliveries > 40'000);
  CHECK(first.counts.dead == 0);
  CHECK(first.counts.pending + first.counts.processing == 0);
  auto second = live_a_year(2026);
  CHECK(first.events == second.events);
  CHECK(first.deliveries == second.deliveries);
  CHECK(first.counts == second.counts);
  CHECK(live_a_year(2027).events != first.events);
}
