#include "tidegate/clocks.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tidegate {

namespace {

constexpr duration step_min = std::chrono::milliseconds{1};

/// A reading that took longer tells nothing about the distance.
constexpr duration reading_max = std::chrono::microseconds{100};

/// Both clocks, and how long it took to read them.
struct reading {
  duration steady;
  duration wall;
  duration took;
};

reading read() {
  using std::chrono::duration_cast;
  auto before = std::chrono::steady_clock::now();
  auto wall = std::chrono::system_clock::now();
  auto after = std::chrono::steady_clock::now();
  return {duration_cast<duration>(before.time_since_epoch()),
          duration_cast<duration>(wall.time_since_epoch()),
          duration_cast<duration>(after - before)};
}

std::int64_t first_distance() {
  auto r = read();
  for (int tries = 0; r.took > reading_max && tries < 100; ++tries)
    r = read();
  return (r.wall - r.steady).count();
}

} // namespace

moment read_clocks() {
  static std::atomic<std::int64_t> distance{first_distance()};
  auto r = read();
  auto kept = duration{distance.load(std::memory_order_relaxed)};
  auto measured = r.wall - r.steady;
  if (r.took <= reading_max && std::chrono::abs(measured - kept) > step_min) {
    distance.store(measured.count(), std::memory_order_relaxed);
    kept = measured;
  }
  return {steady_time{r.steady}, wall_time{r.steady + kept}};
}

} // namespace tidegate
