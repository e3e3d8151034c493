// Every plan of examples/plans runs, the long ones in a minute.

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "tests/sim/report.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::sim;

namespace {

std::vector<std::filesystem::path> shipped() {
  std::vector<std::filesystem::path> result;
  for (auto& entry : std::filesystem::directory_iterator{PLANS})
    if (entry.path().extension() == ".json")
      result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

/// Makes a plan last a minute, with everything in it in proportion, and its
/// bursts small.
void shorten(plan& p) {
  auto factor = std::max<std::int64_t>(1, p.length / duration{1min});
  p.length /= factor;
  p.drain = std::min(p.drain, duration{1h});
  for (auto& s : p.streams) {
    s.from /= factor;
    s.to /= factor;
    s.jobs = std::min<std::uint64_t>(s.jobs, 100);
  }
  for (auto& out : p.downstream.outages) {
    out.from /= factor;
    out.length /= factor;
  }
}

} // namespace

TEST_CASE("every shipped plan runs and conserves its jobs") {
  auto files = shipped();
  CHECK(files.size() >= 4);
  for (auto& file : files) {
    INFO(file);
    auto read = load_plan(file);
    REQUIRE(std::holds_alternative<plan>(read));
    auto& p = std::get<plan>(read);
    shorten(p);
    for (auto& each : p.variants) {
      INFO(each.name);
      auto o = simulate(p, each, 1);
      CHECK(o.published > 0);
      CHECK(o.completed + o.dead + o.unfinished == o.published);
      CHECK((each.naive || o.completed == o.published - o.dead));
      CHECK(o.deliveries >= o.completed + o.refused);
    }
  }
}
