// Will my queue keep up with its load, and which concurrency does it take?
//
// Fifty jobs come each second for two minutes, and the endpoint takes 0.3 s for
// each. Runs the real actors in virtual time, once for each concurrency, and
// prints how many jobs wait. (`tidegate-sim` does this from a plan, with
// limits, outages and plots.)

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <vector>

#include "tests/testkit/world.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tidegate::testkit;

constexpr tidegate::duration pause = 20ms; // fifty a second
constexpr int looks = 12;
constexpr tidegate::duration between_looks = 10s;

std::uint64_t live_jobs(world& w) {
  auto counts = w.get("load").counts;
  return counts.pending + counts.processing;
}

/// Returns how many jobs there are after each ten seconds.
std::vector<std::uint64_t> backlogs_with(std::uint32_t concurrency) {
  world w;
  auto settings = some_settings();
  settings.concurrency = concurrency;
  w.create("load", settings);
  w.downstream().behave(always({200, "", 300ms}));
  auto queue = w.queue("load");
  std::vector<std::uint64_t> result;
  for (int i = 0; i < looks; ++i) {
    for (tidegate::duration t{0}; t < between_looks; t += pause) {
      tidegate::publish what;
      what.payload = tidegate::payload{"{}"};
      w.system().begin_ask<tidegate::publish_result>(queue, what);
      w.advance(pause);
    }
    result.push_back(live_jobs(w));
  }
  return result;
}

void print(std::uint32_t concurrency,
           const std::vector<std::uint64_t>& backlogs) {
  std::cout << std::setw(11) << concurrency;
  for (auto jobs : backlogs)
    std::cout << std::setw(6) << jobs;
  std::cout << '\n';
}

} // namespace

int main() {
  std::cout << "jobs that are there after each ten seconds\nconcurrency\n";
  auto few = backlogs_with(10);
  auto enough = backlogs_with(20);
  print(10, few);
  print(20, enough);
  // Ten at once are done with 33 a second: the backlog grows. Twenty keep up.
  auto as_told = few.back() > few.front() && enough.back() <= 20;
  return as_told ? EXIT_SUCCESS : EXIT_FAILURE;
}
