#include <functional>

#include "http/codec_write.hpp"
#include "http/json_writer.hpp"
#include "tests/sim/report.hpp"

namespace tidegate::sim {

namespace {

using http::json_writer;
using http::optional_member;

void print(json_writer& out, const char* name, duration span) {
  out.member(name, to_seconds(span));
}

void print(json_writer& out, const char* name, const percentiles& p) {
  out.key(name).begin_object().member("count", p.count);
  print(out, "p50", p.p50);
  print(out, "p90", p.p90);
  print(out, "p99", p.p99);
  print(out, "max", p.max);
  out.end_object();
}

void print_series(json_writer& out, const char* name, const timeline& times,
                  double bucket::*field) {
  out.key(name).begin_array();
  for (auto& b : times.buckets())
    out.value(b.*field);
  out.end_array();
}

void print(json_writer& out, const timeline& times) {
  out.key("timeline").begin_object();
  print(out, "width", times.width());
  print_series(out, "backlog", times, &bucket::backlog);
  print_series(out, "deliveries", times, &bucket::deliveries);
  print_series(out, "wasted", times, &bucket::refused);
  print_series(out, "held", times, &bucket::held);
  print_series(out, "probing", times, &bucket::probing);
  print_series(out, "keysShut", times, &bucket::keys_shut);
  out.end_object();
}

void print_counts(json_writer& out, const outcome& o) {
  out.member("name", o.name).member("naive", o.naive);
  out.member("published", o.published)
    .member("publishesRefused", o.publishes_refused)
    .member("completed", o.completed)
    .member("dead", o.dead)
    .key("deadReasons")
    .begin_object();
  for (auto& [reason, count] : o.dead_by_reason)
    out.member(reason, count);
  out.end_object()
    .member("unfinished", o.unfinished)
    .member("deliveries", o.deliveries)
    .member("wasted", o.refused)
    .member("failed", o.failed)
    .member("burned", o.burned)
    .member("holds", o.holds)
    .member("keyHolds", o.key_holds)
    .member("probes", o.probes)
    .member("inFlightMax", o.in_flight_max);
}

void print(json_writer& out, const outcome& o) {
  out.begin_object();
  print_counts(out, o);
  optional_member(out, "recoveryInFlightMax", o.recovery_in_flight_max,
                  std::identity{});
  optional_member(out, "recoveryDeliveriesMax", o.recovery_deliveries_max,
                  std::identity{});
  print(out, "shut", o.shut);
  optional_member(out, "drainedAt", o.drained_at, to_seconds);
  optional_member(out, "drain", o.drain, to_seconds);
  print(out, "latency", o.latency);
  out.key("streams").begin_object();
  for (auto& [name, p] : o.streams)
    print(out, name.c_str(), p);
  out.end_object();
  print(out, o.times);
  out.end_object();
}

} // namespace

std::string to_json(const plan& what, std::uint64_t seed,
                    std::span<const outcome> results) {
  json_writer out;
  out.begin_object().member("plan", what.name).member("seed", seed);
  out.key("variants").begin_array();
  for (auto& each : results)
    print(out, each);
  out.end_array().end_object();
  return out.take() + "\n";
}

} // namespace tidegate::sim
