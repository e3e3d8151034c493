// What opens and shuts the gates of a push queue and of its limit keys.

#include <algorithm>

#include "actors/core/push_queue.hpp"

namespace tidegate {

duration push_queue::bounded(duration wait) const {
  const auto& settings = queue_.settings;
  if (settings.max_hold)
    wait = std::min(wait, *settings.max_hold);
  if (settings.min_hold)
    wait = std::max(wait, *settings.min_hold);
  return wait;
}

/// A key is held only where there is one.
defer_scope push_queue::scope_of(lane_id lane,
                                 std::optional<defer_scope> asked) const {
  auto by_key = queue_.settings.backpressure_scope == backpressure_scope::key;
  auto scope = asked.value_or(by_key ? defer_scope::key : defer_scope::queue);
  return scope == defer_scope::key && lane == 0 ? defer_scope::queue : scope;
}

bool push_queue::is_key_probe(job_id job, std::uint64_t delivery,
                              lane_id lane) const {
  auto key = keys_.find(lane);
  return key && key->door.is_probe(job, delivery);
}

// -- what an outcome does -----------------------------------------------------

/// One delivery may probe the queue and its key at once; both take its verdict.
void push_queue::move_gates(const resident& r, const outcome& what,
                            const defer_order& order, const gate::cause& why,
                            moment now, transition& out) {
  const auto& j = r.job;
  auto probe = gate_.is_probe(j.id, j.deliveries);
  auto key_probe = is_key_probe(j.id, j.deliveries, r.lane);
  if (probe)
    judge_probe(what, order, why, now, out);
  if (key_probe)
    judge_key_probe(r.lane, what, order, why, now, out);
  if (what.what != outcome::kind::defer)
    return;
  if (order.scope == defer_scope::queue && !probe)
    hold_gate(order.wait, why, now, out);
  if (order.scope == defer_scope::key && !key_probe)
    hold_key(r.lane, order.wait, why, now, out);
}

void push_queue::judge_probe(const outcome& what, const defer_order& order,
                             const gate::cause& why, moment now,
                             transition& out) {
  // "Not now" of the job or of its key says nothing about the queue: the next
  // one has a try at once.
  if (what.what == outcome::kind::defer && order.scope != defer_scope::queue) {
    gate_.probe_vanished();
    tell(store_gate(event_kind::queue_held, now, out), out);
    return;
  }
  counters_.deliveries.count(what.verdict);
  auto shut = gate_.shut_for(now);
  gate_.judge(what.verdict, order.wait, why, now);
  auto opened = gate_.state() == gate_state::open;
  // A hold that came meanwhile begins a time of its own.
  counters_.held += shut - gate_.shut_for(now);
  if (opened)
    ramp_.begin(queue_.settings.recovery, queue_.settings.concurrency);
  auto event = store_gate(
    opened ? event_kind::queue_opened : event_kind::queue_held, now, out);
  event.verdict = what.verdict;
  if (opened) {
    event.job = why.job;
    event.http_status = why.http_status;
  }
  tell(std::move(event), out);
}

void push_queue::judge_key_probe(lane_id lane, const outcome& what,
                                 const defer_order& order,
                                 const gate::cause& why, moment now,
                                 transition& out) {
  auto& door = keys_.gate_of(lane, queue_.settings, jobs_);
  if (what.what == outcome::kind::defer && order.scope == defer_scope::job) {
    door.probe_vanished();
    tell(store_key_gate(lane, event_kind::queue_held, now, out), out);
    return;
  }
  counters_.deliveries.count(what.verdict);
  door.judge(what.verdict, order.wait, why, now);
  auto opened = door.state() == gate_state::open;
  auto event = store_key_gate(
    lane, opened ? event_kind::queue_opened : event_kind::queue_held, now, out);
  event.verdict = what.verdict;
  if (opened) {
    event.job = why.job;
    event.http_status = why.http_status;
  }
  tell(std::move(event), out);
}

void push_queue::hold_gate(duration wait, const gate::cause& why, moment now,
                           transition& out) {
  if (!gate_.hold(wait, why, now))
    return;
  ramp_.end();
  tell(store_gate(event_kind::queue_held, now, out), out);
}

void push_queue::hold_key(lane_id lane, duration wait, const gate::cause& why,
                          moment now, transition& out) {
  if (keys_.gate_of(lane, queue_.settings, jobs_).hold(wait, why, now))
    tell(store_key_gate(lane, event_kind::queue_held, now, out), out);
}

/// A probe that will tell nothing any more: another one may go.
void push_queue::probe_gone(job_id job, std::uint64_t delivery, lane_id lane,
                            moment now, transition& out) {
  if (gate_.is_probe(job, delivery)) {
    gate_.probe_vanished();
    tell(store_gate(event_kind::queue_held, now, out), out);
  }
  if (is_key_probe(job, delivery, lane)) {
    keys_.gate_of(lane, queue_.settings, jobs_).probe_vanished();
    tell(store_key_gate(lane, event_kind::queue_held, now, out), out);
  }
}

void push_queue::count_success(moment now, transition& out) {
  const auto& settings = queue_.settings;
  if (ramp_.succeeded(settings.recovery, settings.concurrency))
    out.records.push_back(update_gate{queue_.id, gate_now(now)});
}

// -- what operators do --------------------------------------------------------

transition push_queue::hold(duration wait, const std::string& reason,
                            moment now) {
  transition out;
  hold_gate(wait,
            {hold_cause::operator_hold, std::nullopt, std::nullopt, reason},
            now, out);
  return out;
}

transition push_queue::release(moment now) {
  transition out;
  end_hold(now, out);
  return out;
}

void push_queue::end_hold(moment now, transition& out) {
  if (gate_.release(now))
    tell(store_gate(event_kind::queue_released, now, out), out);
  jobs_.make_due(wait_kind::defer, now.steady);
}

transition push_queue::release_key(const std::string& key, moment now) {
  transition out;
  auto lane = jobs_.find_lane(key);
  if (lane && *lane != 0)
    end_key_hold(*lane, now, out);
  return out;
}

void push_queue::end_key_hold(lane_id lane, moment now, transition& out) {
  if (keys_.find(lane)
      && keys_.gate_of(lane, queue_.settings, jobs_).release(now))
    tell(store_key_gate(lane, event_kind::queue_released, now, out), out);
  jobs_.make_due(wait_kind::key_defer, now.steady, lane);
}

// -- records ------------------------------------------------------------------

gate_record push_queue::gate_now(moment now) const {
  auto result = gate_.to_record(now);
  result.ramp = ramp_.limit();
  return result;
}

namespace {

void describe(service_event& event, const gate_record& g) {
  event.job = g.caused_by;
  event.cause = g.cause;
  event.http_status = g.http_status;
  event.detail = g.reason;
  if (event.kind == event_kind::queue_held
      || event.kind == event_kind::queue_released)
    event.release_at = g.release_at;
}

} // namespace

service_event push_queue::store_gate(event_kind kind, moment now,
                                     transition& out) const {
  auto g = gate_now(now);
  auto event = make_event(kind, now);
  describe(event, g);
  out.records.push_back(update_gate{queue_.id, std::move(g)});
  return event;
}

service_event push_queue::store_key_gate(lane_id lane, event_kind kind,
                                         moment now, transition& out) {
  auto stored = keys_.to_store(lane, jobs_, now);
  auto event = make_event(kind, now);
  event.limit_key = stored.key;
  describe(event, stored.gate);
  out.records.push_back(update_limit_key{queue_.id, std::move(stored)});
  return event;
}

void push_queue::forget_key(const std::string& key, transition& out) const {
  out.records.push_back(update_limit_key{queue_.id, {key, {}, {}}});
}

} // namespace tidegate
