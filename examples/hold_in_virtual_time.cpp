// How do I watch a queue and an endpoint that fails, without waiting for it?
//
// Runs the real actors in virtual time: the endpoint says "not now" for five
// seconds, and twelve seconds are over in no time. Prints what happened when.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/testkit/world.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tidegate::testkit;

constexpr std::uint64_t jobs = 6;

/// What happened, and when. Unit: seconds from the start.
using timeline = std::vector<std::pair<double, std::string>>;

/// Answers like `inner`, and notes each delivery.
modelled_downstream::decision noting(timeline& notes,
                                     modelled_downstream::decision inner,
                                     tidegate::steady_time start) {
  return [=, &notes](const tidegate::delivery& what, tidegate::moment now) {
    auto answer = inner(what, now);
    notes.emplace_back(tidegate::to_seconds(now.steady - start),
                       "job " + what.payload.bytes() + " goes out"
                         + (what.probe ? ", as the probe" : "")
                         + ", and is answered "
                         + std::to_string(answer.status));
    return answer;
  };
}

std::string to_text(double seconds) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << seconds;
  return out.str();
}

void add_events(timeline& notes, world& w, tidegate::wall_time start) {
  for (auto& event : w.events()) {
    auto note = std::string{tidegate::to_string(event.kind)};
    if (event.release_at)
      note += " until "
              + to_text(tidegate::to_seconds(*event.release_at - start));
    notes.emplace_back(tidegate::to_seconds(event.at - start), note);
  }
}

} // namespace

int main() {
  world w;
  auto start = w.now();
  auto settings = some_settings();
  settings.concurrency = 2;
  w.create("mail", settings);
  timeline notes;
  w.downstream().behave(noting(notes, outage(5s, "2"), start.steady));
  for (std::uint64_t i = 1; i <= jobs; ++i) {
    tidegate::publish what;
    what.payload = tidegate::payload{std::to_string(i)};
    w.put("mail", what);
  }
  w.advance(12s);
  timeline all;
  add_events(all, w, start.wall);
  all.insert(all.end(), notes.begin(), notes.end());
  std::stable_sort(all.begin(), all.end(),
                   [](auto& a, auto& b) { return a.first < b.first; });
  for (auto& [at, what] : all)
    std::cout << std::setw(7) << to_text(at) << " s  " << what << '\n';
  auto counts = w.get("mail").counts;
  std::cout << counts.completed << " of " << jobs << " jobs are done\n";
  return counts.completed == jobs ? EXIT_SUCCESS : EXIT_FAILURE;
}
