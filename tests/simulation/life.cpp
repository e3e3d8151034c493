#include "tests/simulation/life.hpp"

#include <utility>

#include "tests/simulation/random_life.hpp"

namespace tidegate::testkit {

namespace {

world_options options_of(std::uint64_t seed) {
  world_options result;
  result.seed = seed % 3 == 0 ? 0 : seed;
  result.api_keys_pause = duration{0};
  result.removal_pause = std::chrono::minutes{10};
  return result;
}

} // namespace

life::life(std::uint64_t seed) : dice_(seed), w_(options_of(seed)) {
  // nop
}

std::vector<std::string> life::run(unsigned steps) {
  while (steps_ < steps && complaints_.empty()) {
    ++steps_;
    step();
    w_.system().run();
    notice_failures();
    check();
  }
  if (complaints_.empty())
    end_well();
  return complaints_;
}

void life::expect(bool holds, const std::string& otherwise) {
  if (!holds)
    complaints_.push_back("step " + std::to_string(steps_) + ": " + otherwise);
}

void life::crash() {
  watch_.forget();
  memory_lost();
  w_.crash(dice_.ms_below(5'000));
}

void life::step_clock(std::chrono::seconds most) {
  auto n = static_cast<std::uint64_t>(most.count());
  w_.system().step_wall_clock(dice_.seconds_below(2 * n) - most);
  clock_set();
}

void life::spoil_disk() {
  w_.faults().commits_until_failure = dice_.below(5);
  w_.faults().failure_keeps_data = dice_.one_in(2);
}

void life::notice_failures() {
  auto failures = w_.faults().failures;
  if (std::exchange(failures_, failures) == failures)
    return;
  watch_.forget();
  memory_lost();
  failed_at_ = w_.now().steady;
}

/// Of a delivery that goes out while the queue does not know of a failure yet,
/// the outcome is forgotten, too.
void life::watch(const delivery& what, const response& answer, moment now) {
  notice_failures();
  if (failed_at_ == now.steady)
    return;
  if (auto wrong = watch_.begin(what, answer, now.steady))
    expect(false, *wrong);
}

std::vector<std::string> live(queue_kind kind, std::uint64_t seed,
                              unsigned steps) {
  auto make = kind == queue_kind::push ? make_push_life : make_pull_life;
  return make(seed)->run(steps);
}

} // namespace tidegate::testkit
