// The arithmetic of what is reported.

#include <catch2/catch.hpp>

#include <limits>

#include "tests/sim/report.hpp"
#include "tests/sim/svg.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::sim;

TEST_CASE("percentiles are by nearest rank") {
  std::vector<duration> none;
  CHECK(percentiles_of(none) == percentiles{});
  std::vector<duration> one = {7s};
  CHECK(percentiles_of(one) == percentiles{1, 7s, 7s, 7s, 7s});
  std::vector<duration> many;
  for (int i = 100; i > 0; --i)
    many.push_back(std::chrono::seconds{i});
  CHECK(percentiles_of(many) == percentiles{100, 50s, 90s, 99s, 100s});
}

TEST_CASE("a timeline stays bounded and loses nothing") {
  timeline times{10ms};
  constexpr int n = 5'000;
  for (int i = 0; i < n; ++i)
    times.count_delivery(i * 10ms, i % 4 == 0);
  times.note_backlog(20ms, 9);
  times.note_backlog(25ms, 3);
  CHECK(times.buckets().size() <= timeline::buckets_max);
  CHECK(times.width() == 80ms);
  double deliveries = 0;
  double refused = 0;
  for (auto& b : times.buckets()) {
    deliveries += b.deliveries;
    refused += b.refused;
  }
  CHECK(deliveries == n);
  CHECK(refused == n / 4);
  CHECK(times.buckets().front().backlog == 9);
}

TEST_CASE("a span of time is shared among the buckets that it is in") {
  timeline times{1s};
  times.spread(500ms, 2'250ms, &bucket::held);
  REQUIRE(times.buckets().size() == 3);
  CHECK(times.buckets()[0].held == Approx(0.5));
  CHECK(times.buckets()[1].held == Approx(1));
  CHECK(times.buckets()[2].held == Approx(0.25));
}

TEST_CASE("a gate is followed through its events") {
  timeline times{1s};
  gate_log log;
  auto tell = [&](event_kind kind, duration at, const char* key = "") {
    service_event event;
    event.kind = kind;
    event.limit_key = key;
    log.take(event, at, times);
  };
  tell(event_kind::queue_held, 1s);
  tell(event_kind::queue_held, 1'500ms);
  tell(event_kind::queue_probing, 3s);
  tell(event_kind::queue_held, 3'250ms);
  tell(event_kind::queue_probing, 4s);
  tell(event_kind::queue_opened, 4'500ms);
  tell(event_kind::queue_held, 5s, "a");
  tell(event_kind::queue_held, 5'500ms, "b");
  tell(event_kind::queue_opened, 6s, "a");
  tell(event_kind::job_dead, 6s);
  log.finish(7s, times);
  CHECK(log.holds == 1);
  CHECK(log.probes == 2);
  CHECK(log.key_holds == 2);
  CHECK(log.shut == 3'500ms);
  auto& all = times.buckets();
  CHECK(all.at(1).held == Approx(1));
  CHECK(all.at(3).held == Approx(0.75));
  CHECK(all.at(3).probing == Approx(0.25));
  CHECK(all.at(4).probing == Approx(0.5));
  CHECK(all.at(5).keys_shut == Approx(1.5));
  CHECK(all.at(6).keys_shut == Approx(1));
}

TEST_CASE(
  "the first second after an outage is counted from its first delivery") {
  plan p;
  p.streams.resize(1);
  p.downstream.outages = {{10s, 5s, 503, {}}, {30s, 1s, 503, {}}};
  tally counts{p, 1s};
  verdict taken;
  counts.delivery_began(taken, 14s, 9);
  CHECK(!counts.recovery_in_flight_max);
  counts.delivery_began(taken, 17s, 1);
  counts.delivery_began(taken, 17'999ms, 4);
  counts.delivery_began(taken, 18s, 8);
  CHECK(counts.recovery_in_flight_max == 4);
  CHECK(counts.recovery_deliveries_max == 2);
  counts.delivery_began(taken, 31s, 2);
  CHECK(counts.recovery_in_flight_max == 4);
  counts.delivery_began(taken, 31'500ms, 6);
  counts.delivery_began(taken, 31'600ms, 3);
  CHECK(counts.recovery_in_flight_max == 6);
  CHECK(counts.recovery_deliveries_max == 3);
}

TEST_CASE("latencies are drawn as their distribution has it") {
  auto drawn = [](const latency_model& model) {
    lots l{7};
    std::vector<duration> all(20'000);
    for (auto& each : all)
      each = l.draw(model);
    return percentiles_of(all);
  };
  using kind = latency_model::kind;
  auto near = [](duration value, double seconds) {
    return to_seconds(value) == Approx(seconds).epsilon(0.05);
  };
  CHECK(drawn({kind::fixed, 30ms, {}}).max == 30ms);
  auto uniform = drawn({kind::uniform, 1s, 3s});
  CHECK(near(uniform.p50, 2));
  CHECK(uniform.max <= 3s);
  CHECK(near(drawn({kind::exponential, 1s, {}}).p50, 0.693));
  auto lognormal = drawn({kind::lognormal, 2s, 12s});
  CHECK(near(lognormal.p50, 2));
  CHECK(near(lognormal.p99, 12));
}

TEST_CASE("spans and numbers are said in words") {
  CHECK(to_words(duration{20ms}) == "20 ms");
  CHECK(to_words(duration{1'234ms}) == "1.23 s");
  CHECK(to_words(duration{12'640ms}) == "12.6 s");
  CHECK(to_words(duration{10min + 5s}) == "10 min 5 s");
  CHECK(to_words(duration{30min}) == "30 min");
  CHECK(to_words(duration{27h + 46min}) == "27 h 46 min");
  CHECK(to_words(std::uint64_t{0}) == "0");
  CHECK(to_words(std::uint64_t{999}) == "999");
  CHECK(to_words(std::uint64_t{1'000}) == "1,000");
  CHECK(to_words(std::uint64_t{864'000'123}) == "864,000,123");
}

TEST_CASE("axes have steps that are easily read") {
  auto is = [](scale s, double max, double step) {
    return s.max == Approx(max) && s.step == Approx(step);
  };
  CHECK(is(scale_for(0, 4), 1, 1));
  CHECK(is(scale_for(1'999, 4), 2'000, 500));
  CHECK(is(scale_for(2'000, 4), 2'000, 500));
  CHECK(is(scale_for(2'001, 4), 3'000, 1'000));
  CHECK(is(scale_for(0.03, 3), 0.03, 0.01));
  CHECK(std::string{time_scale_for(12, 6).name} == "s");
  CHECK(std::string{time_scale_for(3'600, 6).name} == "min");
  CHECK(time_scale_for(86'400, 6).step == 6 * 3'600);
  CHECK(std::string{time_scale_for(864'000, 6).name} == "days");
}

TEST_CASE("decimals are short and the same everywhere") {
  CHECK(to_decimal(1.50, 3) == "1.5");
  CHECK(to_decimal(100, 1) == "100");
  CHECK(to_decimal(-0.01, 1) == "0");
  CHECK(to_decimal(std::numeric_limits<double>::max(), 0).size() == 309);
}

TEST_CASE("what is written into a plot is escaped") {
  svg_document svg{10, 10, "", "a < b & \"c\""};
  CHECK(svg.take().find("<title>a &lt; b &amp; &quot;c&quot;</title>")
        != std::string::npos);
}
