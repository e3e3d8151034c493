// Why a job is not running. Asks what the scheduler asks, so it cannot lie.

#include <algorithm>

#include "actors/core/push_queue.hpp"

namespace tidegate {

namespace {

std::string describe(const gate_record& g, const std::string& whose) {
  auto said = g.reason.empty() ? std::string{} : ": " + g.reason;
  switch (g.cause) {
    case hold_cause::probe_failed:
      return "the last probe told nothing about the downstream" + said;
    case hold_cause::worker:
      return "a worker said not now" + said;
    case hold_cause::operator_hold:
      return "an operator holds " + whose + said;
    case hold_cause::downstream:
    case hold_cause::none:
      break;
  }
  if (g.http_status)
    return "the downstream answered " + std::to_string(*g.http_status);
  return "the downstream said not now";
}

/// Adds what of the gate blocks: a probe, and a hold, which may have been set
/// while the probe was out and goes on behind it. @pre it is shut
void add_shut(const gate& g, gate_kind hold, gate_kind probe,
              const std::string& whose, moment now,
              std::vector<blocked_by>& to) {
  auto held = g.to_record(now);
  auto goes_on = held.release_at > now.wall;
  if (g.state() == gate_state::probing) {
    const auto& out = g.probe_out();
    auto what = goes_on ? whose + " stays held all the same"
                        : whose + " opens when it succeeds";
    to.push_back(
      {probe, out.since, std::nullopt, "one probe is out; " + what, out.job});
  }
  if (goes_on)
    to.push_back({hold, held.since, held.release_at, describe(held, whose),
                  held.caused_by});
}

blocked_by limited(gate_kind gate, std::string reason) {
  return {gate, std::nullopt, std::nullopt, std::move(reason), std::nullopt};
}

std::string count_of(std::uint32_t taken, std::uint32_t limit) {
  return std::to_string(taken)
         + (taken == 1 ? " delivery is" : " deliveries are")
         + " in flight, the limit is " + std::to_string(limit);
}

std::string span_of(duration window) {
  using namespace std::chrono;
  if (window % seconds{1} == duration{0})
    return std::to_string(duration_cast<seconds>(window).count()) + " s";
  return std::to_string(duration_cast<milliseconds>(window).count()) + " ms";
}

/// @pre the rate is used up
blocked_by spent(gate_kind gate, const rate_window& rate, moment now) {
  auto max = rate.max().value_or(0);
  return {gate, std::nullopt, to_wall(rate.next_start(now.steady), now),
          "as many have started as may: " + std::to_string(max)
            + (max == 1 ? " delivery in " : " deliveries in ")
            + span_of(rate.window()),
          std::nullopt};
}

blocked_by own_wait(wait_kind what) {
  constexpr auto deferred =
    "the downstream or a worker named a time for this job";
  blocked_by result;
  switch (what) {
    case wait_kind::defer:
      result.gate = gate_kind::defer;
      result.reason = deferred;
      break;
    case wait_kind::backoff:
      result.gate = gate_kind::backoff;
      result.reason = "the job failed and waits for its retry";
      break;
    case wait_kind::job_defer:
    case wait_kind::key_defer:
      result.gate = gate_kind::defer;
      result.reason = deferred;
      break;
    case wait_kind::run_at:
      result.gate = gate_kind::delay;
      result.reason = "the publisher named a time";
      break;
    case wait_kind::none:
    case wait_kind::delay:
    case wait_kind::dead_letter_queue:
      result.gate = gate_kind::delay;
      result.reason = "the publisher asked for a delay";
      break;
  }
  return result;
}

} // namespace

bool push_queue::may_start_with_permit(moment now) const {
  return !queue_.paused && gate_.ask(now.steady) != gate::answer::shut
         && !slots_.full() && !ramp_.full(slots_.taken())
         && !rate_.full(now.steady);
}

void push_queue::explain_queue(moment now, std::vector<blocked_by>& out) const {
  if (queue_.paused)
    out.push_back({gate_kind::paused, queue_.paused_since, std::nullopt,
                   "an operator paused the queue", std::nullopt});
  if (gate_.ask(now.steady) == gate::answer::shut)
    add_shut(gate_, gate_kind::hold, gate_kind::probe, "the queue", now, out);
  if (slots_.full())
    out.push_back(limited(gate_kind::concurrency,
                          count_of(slots_.taken(), slots_.limit())));
  if (ramp_.full(slots_.taken()))
    out.push_back(
      limited(gate_kind::ramp, "the queue comes back from a hold step by step: "
                                 + count_of(slots_.taken(), ramp_.limit())));
  if (rate_.full(now.steady))
    out.push_back(spent(gate_kind::rate, rate_, now));
  if (capped_ && permits_ == 0 && permits_asked_ > 0)
    out.push_back(limited(gate_kind::global_concurrency,
                          "as many deliveries of all queues are in flight as "
                          "the server allows"));
}

void push_queue::explain_lane(lane_id lane, moment now,
                              std::vector<blocked_by>& out) const {
  auto key = keys_.find(lane);
  if (!key)
    return;
  if (key->door.ask(now.steady) == gate::answer::shut)
    add_shut(key->door, gate_kind::key_hold, gate_kind::key_probe,
             "the limit key", now, out);
  if (key->flying.full())
    out.push_back(limited(gate_kind::key_concurrency,
                          count_of(key->flying.taken(), key->flying.limit())));
  if (key->rate.full(now.steady))
    out.push_back(spent(gate_kind::key_rate, key->rate, now));
}

void push_queue::explain_wait(const due_heap::entry& e, moment now,
                              std::vector<blocked_by>& out) const {
  if (e.due <= now.steady)
    return;
  auto wait = own_wait(e.waits_for);
  wait.until = to_wall(e.due, now);
  out.push_back(std::move(wait));
}

queue_view push_queue::view(moment now) {
  jobs_.mature(now.steady);
  queue_view result;
  result.queue = to_record(now);
  auto& counts = result.counts;
  counts.pending = jobs_.fresh();
  counts.awaiting_ack = awaiting_.size();
  counts.processing = jobs_.size() - jobs_.fresh() - awaiting_.size();
  counts.completed = queue_.completed;
  counts.dead = queue_.dead;
  counts.scheduled = jobs_.waiting();
  counts.in_flight = slots_.taken() - awaiting_.size();
  counts.held = held_jobs();
  explain_queue(now, result.blocked);
  if (auto oldest = jobs_.oldest())
    result.oldest_age = std::max(duration{0}, now.wall - *oldest);
  return result;
}

queue_counters push_queue::counters(moment now) const {
  auto result = counters_;
  result.held = std::max(duration{0}, result.held + gate_.shut_for(now));
  return result;
}

queue_metrics push_queue::metrics(moment now) {
  jobs_.mature(now.steady);
  queue_metrics result;
  auto& counts = result.counts;
  counts.pending = jobs_.fresh();
  counts.awaiting_ack = awaiting_.size();
  counts.processing = jobs_.size() - jobs_.fresh() - awaiting_.size();
  counts.scheduled = jobs_.waiting();
  counts.in_flight = posts();
  counts.held = held_jobs();
  if (auto oldest = jobs_.oldest())
    result.oldest_age = std::max(duration{0}, now.wall - *oldest);
  result.gates[static_cast<std::size_t>(gate_.state())] = 1;
  result.paused = queue_.paused ? 1 : 0;
  result.counters = counters(now);
  if (gate_.state() != gate_state::open) {
    auto g = gate_.to_record(now);
    result.shut_since = g.since;
    result.held_until = g.release_at;
  }
  return result;
}

std::size_t push_queue::held_jobs() const {
  if (gate_.state() != gate_state::open)
    return jobs_.ready();
  std::size_t result = 0;
  for (auto lane : keys_.lanes())
    if (keys_.find(lane)->door.state() != gate_state::open)
      result += jobs_.ready(lane);
  return result;
}

job_view push_queue::view(job_record stored, moment now) {
  job_view result;
  auto& j = stored.job;
  result.queue_name = queue_.name;
  result.max_attempts = queue_.settings.max_attempts;
  result.max_defers = queue_.settings.max_defers;
  if (auto e = jobs_.find(j.id.seq); e && e->out) {
    j.waits_for = wait_kind::none;
    if (auto i = residents_.find(j.id.seq); i != residents_.end()) {
      j.status = i->second.job.status;
      j.deliveries = i->second.job.deliveries;
      j.due = i->second.job.due;
    }
  } else if (e) {
    auto since = j.waits_since;
    explain_wait(*e, now, result.blocked);
    if (result.blocked.empty())
      j.waits_for = wait_kind::none;
    else
      result.blocked.front().since = since;
    j.due = to_wall(e->due, now);
    explain_lane(e->lane, now, result.blocked);
    explain_queue(now, result.blocked);
  }
  result.record = std::move(stored);
  return result;
}

// -- limit keys ---------------------------------------------------------------

limit_key_view push_queue::view_key(const std::string& key, moment now) {
  jobs_.mature(now.steady);
  limit_key_view result;
  result.key = key;
  auto lane = jobs_.find_lane(key);
  if (!lane || *lane == 0)
    return result;
  result.ready = jobs_.ready(*lane);
  if (auto state = keys_.find(*lane)) {
    result.gate = state->door.to_record(now);
    result.in_flight = state->flying.taken();
  }
  explain_lane(*lane, now, result.blocked);
  return result;
}

limit_key_list push_queue::view(const list_limit_keys& which, moment now) {
  std::vector<std::string> names;
  for (auto lane : keys_.lanes()) {
    const auto& state = *keys_.find(lane);
    auto busy = state.flying.taken() > 0
                || state.door.state() != gate_state::open;
    if (busy && jobs_.key_of(lane) > which.after)
      names.push_back(jobs_.key_of(lane));
  }
  std::sort(names.begin(), names.end());
  limit_key_list result;
  if (names.size() > which.limit) {
    names.resize(which.limit);
    result.next_after = names.back();
  }
  for (const auto& name : names)
    result.items.push_back(view_key(name, now));
  return result;
}

} // namespace tidegate
