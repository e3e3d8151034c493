#include "tests/sim/tally.hpp"

#include <algorithm>
#include <cmath>

namespace tidegate::sim {

namespace {

constexpr duration recovery_span = std::chrono::seconds{1};

/// Makes room for a larger number.
void raise(std::optional<std::uint64_t>& largest, std::uint64_t value) {
  largest = std::max(largest.value_or(0), value);
}

} // namespace

percentiles percentiles_of(std::vector<duration>& values) {
  percentiles result;
  result.count = values.size();
  if (values.empty())
    return result;
  auto rank = [&](double share) {
    auto n = std::ceil(share * static_cast<double>(values.size()));
    auto nth = values.begin() + static_cast<std::ptrdiff_t>(n) - 1;
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
  };
  result.p50 = rank(0.5);
  result.p90 = rank(0.9);
  result.p99 = rank(0.99);
  result.max = rank(1);
  return result;
}

// -- the gate -----------------------------------------------------------------

void gate_log::move_to(gate_state next, duration at, timeline& times) {
  if (state_ == gate_state::held)
    times.spread(since_, at, &bucket::held);
  else if (state_ == gate_state::probing)
    times.spread(since_, at, &bucket::probing);
  if (state_ != gate_state::open)
    shut += at - since_;
  state_ = next;
  since_ = at;
}

void gate_log::take(const service_event& event, duration at, timeline& times) {
  auto opened = event.kind == event_kind::queue_opened;
  auto probing = event.kind == event_kind::queue_probing;
  if (!opened && !probing && event.kind != event_kind::queue_held)
    return;
  if (!event.limit_key.empty()) {
    auto [i, added] = keys_.try_emplace(event.limit_key, at);
    key_holds += added && !opened ? 1 : 0;
    if (opened) {
      times.spread(i->second, at, &bucket::keys_shut);
      keys_.erase(i);
    }
    return;
  }
  holds += state_ == gate_state::open && !opened ? 1 : 0;
  probes += probing ? 1 : 0;
  move_to(opened    ? gate_state::open
          : probing ? gate_state::probing
                    : gate_state::held,
          at, times);
}

void gate_log::finish(duration at, timeline& times) {
  move_to(state_, std::max(at, since_), times);
  for (auto& [key, since] : keys_)
    times.spread(since, at, &bucket::keys_shut);
}

// -- everything ---------------------------------------------------------------

tally::tally(const plan& what, duration width)
  : times(width), latencies(what.streams.size()), plan_(what) {
  // nop
}

void tally::delivery_began(const verdict& judged, duration at,
                           std::uint64_t in_flight) {
  ++deliveries;
  refused += judged.what == fate::refused ? 1 : 0;
  failed += judged.what == fate::failed ? 1 : 0;
  in_flight_max = std::max(in_flight_max, in_flight);
  times.count_delivery(at, judged.what == fate::refused);
  watch_recovery(at, in_flight);
}

void tally::watch_recovery(duration at, std::uint64_t in_flight) {
  auto& outages = plan_.downstream.outages;
  auto before = over_;
  while (over_ < outages.size()
         && outages[over_].from + outages[over_].length <= at)
    ++over_;
  if (over_ != before) {
    recovering_since_ = at;
    recovering_ = 0;
  }
  if (!recovering_since_ || at >= *recovering_since_ + recovery_span)
    return;
  raise(recovery_in_flight_max, in_flight);
  raise(recovery_deliveries_max, ++recovering_);
}

void tally::job_completed(std::size_t stream, duration published, duration at) {
  latencies[stream].push_back(at - published);
  last_end = std::max(last_end, at);
}

void tally::event_happened(const service_event& event, duration at) {
  if (event.kind == event_kind::job_dead)
    last_end = std::max(last_end, at);
  gate.take(event, at, times);
}

} // namespace tidegate::sim
