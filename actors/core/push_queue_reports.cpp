// What workers report of their jobs.
//
//         owed: delivered  waits for a      completed      dead
//         or awaiting      retry or defer
// ack     completed        completed, late  taken          job_dead
// nack    failure          repeat: taken    repeat: taken  repeat: taken
//                          not_awaiting...  job_completed  job_dead
// defer   deferred, held   held             held           held
// touch   deadline moved   not_awaiting...  job_completed  job_dead
//
// A repeat (same delivery, same outcome) changes nothing, whatever became of
// the job since. A fence that names another delivery than the one that is owed
// is `stale_delivery`, but a defer still holds, and an ack of an earlier
// delivery completes a job that only waits.

#include <algorithm>

#include "actors/core/push_queue.hpp"
#include "actors/core/utf8.hpp"

namespace tidegate {

namespace {

constexpr std::size_t reason_bytes_max = 2000;

error not_awaiting() {
  return {errc::not_awaiting_outcome,
          "No outcome of a delivery of this job is owed"};
}

error stale(const report& what) {
  return {errc::stale_delivery, "Delivery "
                                  + std::to_string(what.delivery.value_or(0))
                                  + " is not the one whose outcome is owed"};
}

error is_completed() {
  return {errc::job_completed, "The job is completed"};
}

error is_dead() {
  return {errc::job_dead, "The job is dead"};
}

callback_kind to_callback(report::kind what) {
  switch (what) {
    case report::kind::ack:
      return callback_kind::ack;
    case report::kind::nack:
      return callback_kind::nack;
    case report::kind::defer:
      return callback_kind::defer;
    case report::kind::touch:
      break;
  }
  return callback_kind::none;
}

/// Returns whether a line of the history is what `what` reports.
bool is_outcome(const history_entry& entry, report::kind what) {
  switch (what) {
    case report::kind::ack:
      return entry.status == delivery_status::success;
    case report::kind::nack:
      return entry.status == delivery_status::nacked;
    case report::kind::defer:
      return entry.status == delivery_status::deferred;
    case report::kind::touch:
      break;
  }
  return false;
}

/// Returns whether exactly this has been reported before: of the delivery that
/// the fence names, or for a nack without a fence, of the last one.
bool is_repeat(const report& what, const job& j,
               const std::vector<history_entry>& history) {
  auto delivery = what.delivery;
  if (!delivery && what.what == report::kind::nack)
    delivery = j.deliveries;
  if (!delivery || what.what == report::kind::touch)
    return false;
  if (j.reported == to_callback(what.what) && j.reported_delivery == *delivery)
    return true;
  return std::any_of(history.begin(), history.end(), [&](const auto& entry) {
    return entry.delivery == *delivery && is_outcome(entry, what.what);
  });
}

/// Returns whether a delivery has been counted as an attempt.
bool was_counted(std::uint64_t delivery,
                 const std::vector<history_entry>& history) {
  return std::any_of(history.begin(), history.end(), [&](const auto& entry) {
    return entry.delivery == delivery
           && (entry.status == delivery_status::failed
               || entry.status == delivery_status::nacked);
  });
}

history_entry make_entry(const job& j, std::uint64_t delivery,
                         delivery_status status, const report& what,
                         moment now) {
  history_entry result;
  result.attempt = j.attempts + 1;
  result.delivery = delivery;
  result.status = status;
  result.error = to_valid_utf8(what.reason, reason_bytes_max);
  result.at = now.wall;
  return result;
}

outcome to_outcome(const report& what, duration wait) {
  outcome result;
  switch (what.what) {
    case report::kind::ack:
    case report::kind::touch:
      result.what = outcome::kind::success;
      result.verdict = probe_verdict::success;
      break;
    case report::kind::nack:
      result.what = outcome::kind::failure;
      result.retryable = what.retryable;
      result.verdict = what.retryable ? probe_verdict::no_verdict
                                      : probe_verdict::refused;
      break;
    case report::kind::defer:
      result.what = outcome::kind::defer;
      result.verdict = probe_verdict::deferred;
      result.retry_after = wait;
      break;
  }
  return result;
}

delivery_status to_status(report::kind what) {
  if (what == report::kind::nack)
    return delivery_status::nacked;
  return what == report::kind::defer ? delivery_status::deferred
                                     : delivery_status::success;
}

bool has_ended(job_status status) {
  return status == job_status::completed || status == job_status::dead;
}

/// Returns whether what was read has every outcome of a job that there is.
bool is_up_to_date(const job& read, const job& j) {
  return read.replays == j.replays && read.attempts == j.attempts
         && read.defers == j.defers;
}

} // namespace

job_decision push_queue::reported(const report& what, const job_record* stored,
                                  double lot, moment now) {
  return once_read(what.job.seq, stored,
                   [&] { return decide(what, stored, lot, now); });
}

job_decision push_queue::decide(const report& what, const job_record* stored,
                                double lot, moment now) {
  auto seq = what.job.seq;
  if (queue_.settings.mode != delivery_mode::ack && !awaiting_.contains(seq))
    return error{errc::not_ack_mode,
                 "Queue '" + queue_.name + "' is not in ack mode"};
  auto found = fetch(what.job, stored);
  if (std::holds_alternative<read_first>(found))
    return read_first{};
  if (auto reason = std::get_if<error>(&found)) {
    if (stored && has_ended(stored->job.status))
      return report_ended(what, *stored, now);
    return *reason;
  }
  auto& r = *std::get<resident*>(found);
  if (r.busy && what.delivery.value_or(r.job.deliveries) == r.job.deliveries)
    return report_current(r, what, lot, now);
  if (stored && !is_up_to_date(stored->job, r.job))
    stored = nullptr;
  if (r.busy)
    return report_stale(r, what, stored, now);
  if (!stored)
    return watch(seq);
  return report_waiting(r, what, *stored, now);
}

// -- of the delivery that is owed ---------------------------------------------

job_decision push_queue::report_current(resident& r, const report& what,
                                        double lot, moment now) {
  if (what.what == report::kind::touch) {
    if (!awaiting_.contains(r.job.id.seq))
      return not_awaiting();
    return touch(r, what, now);
  }
  transition out;
  auto wait = bounded(what.wait);
  defer_order order{wait, scope_of(r.lane, what.scope)};
  auto cause = what.what == report::kind::defer ? hold_cause::worker
                                                : hold_cause::probe_failed;
  gate::cause why{cause, r.job.id, std::nullopt,
                  to_valid_utf8(what.reason, reason_bytes_max)};
  auto entry = make_entry(r.job, r.job.deliveries, to_status(what.what), what,
                          now);
  entry.took = r.started == steady_time{} ? duration{0}
                                          : now.steady - r.started;
  if (what.what == report::kind::defer)
    entry.retry_after = wait;
  r.job.reported = to_callback(what.what);
  r.job.reported_delivery = r.job.deliveries;
  conclude(r, to_outcome(what, wait), order, why, std::move(entry), lot, now,
           out);
  return out;
}

transition push_queue::touch(resident& r, const report& what, moment now) {
  transition out;
  auto& owed = awaiting_.at(r.job.id.seq);
  ack_deadlines_.erase({owed.deadline, r.job.id.seq});
  owed.deadline = after(now.steady, what.wait);
  ack_deadlines_.emplace(owed.deadline, r.job.id.seq);
  r.job.due = after(now.wall, what.wait);
  errands_.erase(r.job.id.seq);
  update(r, std::nullopt, out);
  return out;
}

// -- of another one -----------------------------------------------------------

job_decision push_queue::report_stale(const resident& r, const report& what,
                                      const job_record* stored, moment now) {
  if (is_repeat(what, r.job, {}))
    return transition{};
  if (!stored && *what.delivery < r.job.deliveries)
    return watch(r.job.id.seq);
  if (stored && is_repeat(what, r.job, stored->history))
    return transition{};
  if (what.what != report::kind::defer)
    return stale(what);
  return only_hold(what, r.job.limit_key, now);
}

job_decision push_queue::report_waiting(resident& r, const report& what,
                                        const job_record& stored, moment now) {
  const auto& j = r.job;
  auto is_defer = what.what == report::kind::defer;
  // After a replay nothing is owed any more that could be repeated, but a hold
  // must not grow by a client's retry.
  if ((is_defer || j.status != job_status::pending)
      && is_repeat(what, j, stored.history))
    return transition{};
  if (is_defer) {
    if (what.scope != defer_scope::job)
      return only_hold(what, j.limit_key, now);
    return postpone(r, bounded(what.wait), now);
  }
  if (j.status == job_status::pending)
    return not_awaiting();
  auto delivery = what.delivery.value_or(j.deliveries);
  if (delivery == 0 || delivery > j.deliveries)
    return stale(what);
  if (what.what == report::kind::ack)
    return late_ack(r, what, stored, now);
  if (delivery != j.deliveries)
    return stale(what);
  return not_awaiting();
}

/// The work is done, even though nobody waited for it any more.
transition push_queue::late_ack(resident& r, const report& what,
                                const job_record& stored, moment now) {
  transition out;
  auto& j = r.job;
  auto delivery = what.delivery.value_or(j.deliveries);
  auto entry = make_entry(j, delivery, delivery_status::success, what, now);
  if (was_counted(delivery, stored.history))
    entry.attempt = j.attempts;
  else
    ++j.attempts;
  j.status = job_status::completed;
  j.reported = callback_kind::ack;
  j.reported_delivery = delivery;
  ++queue_.completed;
  ++counters_.completed;
  end(r, std::move(entry), now, out);
  return out;
}

/// The job's own schedule is kept if it is later.
transition push_queue::postpone(resident& r, duration wait, moment now) {
  transition out;
  auto due = after(now.steady, wait);
  auto e = *jobs_.find(r.job.id.seq);
  if (e.out || e.due >= due)
    return out;
  jobs_.reschedule(r.job.id.seq, due, wait_kind::job_defer);
  r.job.due = after(now.wall, wait);
  r.job.waits_for = wait_kind::job_defer;
  r.job.waits_since = now.wall;
  update(r, std::nullopt, out);
  return out;
}

// -- of a job that has ended --------------------------------------------------

job_decision push_queue::report_ended(const report& what,
                                      const job_record& stored, moment now) {
  const auto& j = stored.job;
  if (is_repeat(what, j, stored.history))
    return transition{};
  if (what.what == report::kind::defer)
    return only_hold(what, j.limit_key, now);
  if (j.status == job_status::dead)
    return is_dead();
  if (what.what == report::kind::ack)
    return transition{};
  return is_completed();
}

/// The signal is true whatever became of the job.
transition push_queue::only_hold(const report& what, const std::string& key,
                                 moment now) {
  transition out;
  if (what.scope == defer_scope::job)
    return out;
  gate::cause why{hold_cause::worker, what.job, std::nullopt,
                  to_valid_utf8(what.reason, reason_bytes_max)};
  auto lane = jobs_.pin(key);
  if (scope_of(lane, what.scope) == defer_scope::key)
    hold_key(lane, bounded(what.wait), why, now, out);
  else
    hold_gate(bounded(what.wait), why, now, out);
  jobs_.unpin(lane);
  return out;
}

} // namespace tidegate
