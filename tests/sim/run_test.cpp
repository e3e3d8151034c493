// Whole plans, lived through by the real actors.

#include <catch2/catch.hpp>

#include "tests/sim/report.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::sim;

namespace {

/// The scenario in which others waste thousands of deliveries: 10 s of 429 with
/// `Retry-After: 2` while jobs wait, 16 at once, 20 ms each.
plan ten_seconds_of_429(std::uint64_t jobs) {
  plan p;
  p.name = "ten seconds of 429";
  p.length = 1s;
  p.drain = 2min;
  stream s;
  s.name = "jobs";
  s.type = stream::kind::burst;
  s.jobs = jobs;
  p.streams = {s};
  p.downstream.outages = {{0s, 10s, 429, {retry_hint::kind::fixed, 2s}}};
  variant v;
  v.name = "tidegate";
  v.settings.webhook_url = "http://downstream.invalid/";
  v.settings.concurrency = 16;
  v.settings.max_attempts = 5;
  v.settings.backoff = {backoff_settings::kind::fixed, 2, 2, 3600, 0, {}};
  v.settings.retention = 0s;
  p.variants = {v, v};
  p.variants[1].name = "naive";
  p.variants[1].naive = true;
  return p;
}

plan steady_load(double rate, duration length) {
  auto p = ten_seconds_of_429(1);
  p.length = length;
  p.streams[0].type = stream::kind::steady;
  p.streams[0].rate = rate;
  p.streams[0].to = length;
  p.downstream = {};
  p.variants.resize(1);
  return p;
}

outcome live(const plan& p, std::size_t variant = 0, std::uint64_t seed = 1) {
  return simulate(p, p.variants.at(variant), seed);
}

std::vector<outcome> live_all(const plan& p, std::uint64_t seed) {
  std::vector<outcome> result;
  for (auto& each : p.variants)
    result.push_back(simulate(p, each, seed));
  return result;
}

} // namespace

TEST_CASE("a hold wastes 20 deliveries in ten seconds of 429, and no attempt") {
  auto o = live(ten_seconds_of_429(2'000));
  CHECK(o.published == 2'000);
  CHECK(o.completed == 2'000);
  CHECK(o.dead == 0);
  CHECK(o.unfinished == 0);
  // 16 that were out, and 4 probes; the fifth one succeeds.
  CHECK(o.refused == 20);
  CHECK(o.deliveries == 2'020);
  CHECK(o.burned == 0);
  CHECK(o.holds == 1);
  CHECK(o.probes == 5);
  CHECK(o.in_flight_max == 16);
  CHECK(o.recovery_in_flight_max == 16);
  // The probe is answered at 10.12 s; 1,999 in rounds of 16 take 2.5 s.
  CHECK(o.drained_at == 12'620ms);
  CHECK(o.drain == 2'620ms);
  CHECK(o.shut == 10'100ms);
}

TEST_CASE(
  "without a hold every job retries by itself, and burns its attempts") {
  auto few = live(ten_seconds_of_429(200), 1);
  // Each of 5 attempts at 0, 2, 4, 6 and 8 s: all within the outage.
  CHECK(few.refused == 1'000);
  CHECK(few.burned == 1'000);
  CHECK(few.dead == 200);
  CHECK(few.dead_by_reason.at("attempts_exhausted") == 200);
  CHECK(few.completed == 0);
  CHECK(few.holds == 0);
  auto many = live(ten_seconds_of_429(2'000), 1);
  CHECK(many.refused > 4'000);
  CHECK(many.burned == many.refused);
  CHECK(many.completed + many.dead == 2'000);
}

TEST_CASE("a downstream that is well is no trouble") {
  auto o = live(steady_load(50, 20s));
  CHECK(o.completed == 1'000);
  CHECK(o.deliveries == 1'000);
  CHECK(o.refused == 0);
  CHECK(o.latency == percentiles{1'000, 20ms, 20ms, 20ms, 20ms});
  CHECK(o.drain == 20ms);
  CHECK(o.times.width() == 50ms);
  double deliveries = 0;
  for (auto& b : o.times.buckets())
    deliveries += b.deliveries;
  CHECK(deliveries == 1'000);
}

TEST_CASE("jobs that are left when the plan is over are counted") {
  auto p = ten_seconds_of_429(30);
  p.drain = 5s;
  auto o = live(p);
  CHECK(o.unfinished == 30);
  CHECK(!o.drained_at);
  CHECK(!o.drain);
}

TEST_CASE("a limit lets so many through in each window") {
  auto p = steady_load(4, 60s);
  p.drain = 10min;
  p.downstream.limit =
    window_limit{window_limit::kind::fixed, 10, 10s, false, 429, {}};
  auto o = live(p);
  CHECK(o.completed == 240);
  // 240 jobs, 10 in a window of 10 s, take 24 windows.
  CHECK(o.drained_at.value_or(0s) > 230s);
  CHECK(o.drained_at.value_or(1h) < 240s);
  CHECK(o.burned == 0);
  // A queue that is told the limit runs into it no more.
  p.variants[0].settings.rate_limit_max = 10;
  p.variants[0].settings.rate_limit_window = 10s;
  p.downstream.limit->type = window_limit::kind::sliding;
  CHECK(live(p).refused == 0);
}

TEST_CASE("a limit key that is refused holds no other where the scope is key") {
  auto p = steady_load(2, 60s);
  p.streams[0].name = "calm";
  p.streams[0].keys = 5;
  stream noisy;
  noisy.name = "noisy";
  noisy.type = stream::kind::burst;
  noisy.jobs = 50;
  noisy.keys = 1;
  p.streams.push_back(noisy);
  p.downstream.limit =
    window_limit{window_limit::kind::fixed, 10, 10s, true, 429, {}};
  p.variants[0].settings.backpressure_scope = backpressure_scope::key;
  auto o = live(p);
  CHECK(o.holds == 0);
  CHECK(o.key_holds > 0);
  CHECK(o.streams.at(0).second.p99 == 20ms);
  CHECK(o.streams.at(1).second.max > 40s);
  CHECK(o.completed == 170);
}

TEST_CASE("too many requests at once are turned away") {
  auto p = steady_load(1, 1s);
  p.streams[0].type = stream::kind::burst;
  p.streams[0].jobs = 10;
  p.downstream.latency.a = 1s;
  p.downstream.concurrency = 4;
  auto o = live(p);
  // 6 of the first ten; then, of the 5 that the probe lets out, one.
  CHECK(o.refused == 7);
  CHECK(o.completed == 10);
}

TEST_CASE("what takes longer than the timeout has failed") {
  auto p = steady_load(1, 3s);
  p.downstream.latency.a = 20s;
  p.variants[0].settings.max_attempts = 1;
  auto o = live(p);
  CHECK(o.failed == 3);
  CHECK(o.burned == 3);
  CHECK(o.dead == 3);
  CHECK(o.latency.count == 0);
}

TEST_CASE("the same seed gives the same output byte for byte") {
  auto p = ten_seconds_of_429(1);
  p.streams[0].type = stream::kind::poisson;
  p.streams[0].rate = 20;
  p.streams[0].to = p.length = 5s;
  p.streams[0].keys = 7;
  p.downstream.latency = {latency_model::kind::lognormal, 50ms, 900ms};
  p.downstream.error_rate = 0.05;
  auto first = live_all(p, 5);
  auto second = live_all(p, 5);
  CHECK(to_json(p, 5, first) == to_json(p, 5, second));
  CHECK(to_svg(p, 5, first) == to_svg(p, 5, second));
  CHECK(to_table(p, 5, first) == to_table(p, 5, second));
  auto other = live_all(p, 6);
  CHECK(to_json(p, 5, other) != to_json(p, 5, first));
  CHECK(to_svg(p, 5, other) != to_svg(p, 5, first));
}

TEST_CASE("variants of a plan see the same arrivals") {
  auto p = ten_seconds_of_429(1);
  p.streams[0].type = stream::kind::poisson;
  p.streams[0].rate = 20;
  p.streams[0].to = p.length = 10s;
  auto all = live_all(p, 9);
  CHECK(all.at(0).published == all.at(1).published);
  CHECK(all.at(0).published > 100);
}
