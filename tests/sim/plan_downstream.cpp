#include <algorithm>
#include <array>

#include "tests/sim/plan_fields.hpp"

namespace tidegate::sim {

static const char* to_string(latency_model::kind kind) {
  switch (kind) {
    case latency_model::kind::fixed:
      return "fixed";
    case latency_model::kind::uniform:
      return "uniform";
    case latency_model::kind::exponential:
      return "exponential";
    case latency_model::kind::lognormal:
      return "lognormal";
  }
  return "unknown";
}

static const char* to_string(window_limit::kind kind) {
  return kind == window_limit::kind::fixed ? "fixed" : "sliding";
}

namespace {

constexpr double latency_max = 3'600;

/// Reads a number of seconds, or an object that says how they are spread.
latency_model read_latency(object_reader& parent, std::string_view name,
                           latency_model fallback) {
  using kind = latency_model::kind;
  if (!parent.has(name))
    return fallback;
  latency_model result;
  if (http::kind_of(parent.raw(name)) == http::json_kind::number) {
    result.a = parent.seconds(name, fallback.a, 0, latency_max);
    return result;
  }
  object_reader in{parent.path_of(name),
                   parent.raw(name),
                   {"type", "value", "min", "max", "mean", "median", "p99"},
                   parent.complaints()};
  in.require("type");
  result.type = in.word("type", kind::fixed,
                        std::array{kind::fixed, kind::uniform,
                                   kind::exponential, kind::lognormal});
  constexpr std::array<std::array<std::string_view, 2>, 4> fields = {
    {{"value", ""}, {"min", "max"}, {"mean", ""}, {"median", "p99"}}};
  auto [first, second] = fields.at(static_cast<std::size_t>(result.type));
  for (auto field : {"value", "min", "max", "mean", "median", "p99"})
    if (in.has(field) && field != first && field != second)
      in.complaints().add(in.path_of(field), std::string{"is not for type '"}
                                               + to_string(result.type) + "'");
  in.require(first);
  auto positive = result.type == kind::lognormal ? 0.001 : 0;
  result.a = in.seconds(first, fallback.a, positive, latency_max);
  if (second.empty())
    return result;
  in.require(second);
  result.b = in.seconds(second, result.a, to_seconds(result.a), latency_max);
  return result;
}

/// Reads `"exact"`, `"none"` or a number of seconds.
retry_hint read_hint(object_reader& in, std::string_view name,
                     retry_hint fallback) {
  using kind = retry_hint::kind;
  if (!in.has(name))
    return fallback;
  auto token = in.raw(name);
  if (token == "\"exact\"")
    return {};
  if (token == "\"none\"")
    return {kind::none, {}};
  if (http::kind_of(token) == http::json_kind::number)
    return {kind::fixed, std::chrono::seconds{in.integer(name, 1, 0, 86'400)}};
  in.complaints().add(in.path_of(name),
                      "must be 'exact', 'none' or a number of seconds, got "
                        + http::shorten(token));
  return fallback;
}

std::uint16_t read_status(object_reader& in, std::uint16_t fallback,
                          bool may_break) {
  if (may_break && in.raw("status") == "0")
    return 0;
  return static_cast<std::uint16_t>(in.integer("status", fallback, 400, 599));
}

window_limit read_limit(object_reader& parent) {
  object_reader in{parent.path_of("limit"),
                   parent.raw("limit"),
                   {"max", "window", "type", "perKey", "status", "retryAfter"},
                   parent.complaints()};
  window_limit result;
  in.require("max");
  in.require("window");
  result.type =
    in.word("type", window_limit::kind::fixed,
            std::array{window_limit::kind::fixed, window_limit::kind::sliding});
  result.max = in.integer("max", 1, 1, 1'000'000);
  result.window = in.seconds("window", result.window, 0.001, 86'400);
  result.per_key = in.flag("perKey", false);
  result.status = read_status(in, 429, false);
  result.retry_after = read_hint(in, "retryAfter", {});
  return result;
}

outage read_outage(const std::string& path, std::string_view token,
                   duration earliest, http::complaints& out) {
  object_reader in{
    path, token, {"from", "length", "status", "retryAfter"}, out};
  outage result;
  in.require("from");
  in.require("length");
  result.from = in.seconds("from", earliest, to_seconds(earliest), span_max);
  result.length = in.seconds("length", result.length, 0.001, span_max);
  result.status = read_status(in, 503, true);
  result.retry_after = read_hint(in, "retryAfter", {});
  return result;
}

} // namespace

downstream_plan read_downstream(object_reader& top) {
  downstream_plan result;
  top.require("downstream");
  if (!top.has("downstream"))
    return result;
  auto& out = top.complaints();
  object_reader in{"downstream",
                   top.raw("downstream"),
                   {"latency", "refusalLatency", "concurrency",
                    "busyRetryAfter", "limit", "outages", "errorRate"},
                   out};
  result.latency = read_latency(in, "latency", {});
  result.refusal_latency = read_latency(in, "refusalLatency", {});
  if (in.has("concurrency"))
    result.concurrency = in.integer("concurrency", 1, 1, 1'000'000);
  result.busy = read_hint(in, "busyRetryAfter", result.busy);
  if (in.has("limit"))
    result.limit = read_limit(in);
  duration earliest{0};
  for (auto& [path, token] : in.elements("outages", outages_max)) {
    result.outages.push_back(read_outage(path, token, earliest, out));
    earliest = result.outages.back().from + result.outages.back().length;
  }
  result.error_rate = in.number("errorRate", 0, 0, 1);
  return result;
}

} // namespace tidegate::sim
