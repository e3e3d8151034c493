// What a delivery came to, and what becomes of its job.

#include <algorithm>

#include "actors/core/push_queue.hpp"
#include "actors/core/retry_schedule.hpp"
#include "actors/core/utf8.hpp"

namespace tidegate {

namespace {

constexpr std::size_t error_bytes_max = 500;
constexpr std::size_t excerpt_bytes_max = 2048;

history_entry make_entry(const job& j, delivery_status status, moment now) {
  history_entry result;
  result.attempt = j.attempts + 1;
  result.delivery = j.deliveries;
  result.status = status;
  result.at = now.wall;
  return result;
}

delivery_status to_status(outcome::kind what) {
  switch (what) {
    case outcome::kind::success:
      return delivery_status::success;
    case outcome::kind::defer:
      return delivery_status::deferred;
    case outcome::kind::failure:
      return delivery_status::failed;
  }
  return delivery_status::failed;
}

history_entry make_entry(const job& j, const outcome& what,
                         const delivery_reply& reply, moment now) {
  auto result = make_entry(j, to_status(what.what), now);
  result.error = to_valid_utf8(what.error, error_bytes_max);
  result.error_code = reply.error_code;
  result.http_status = reply.http_status;
  result.took = reply.took;
  result.response_excerpt = to_valid_utf8(reply.excerpt, excerpt_bytes_max);
  if (what.what == outcome::kind::defer)
    result.retry_after = what.retry_after;
  return result;
}

/// Returns a lot in [0, 1) where nobody draws one, another one for each job and
/// each delivery: multiples of the golden ratio are spread evenly.
double own_lot(const job& j) {
  constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
  auto lot = (j.id.seq.value + j.id.tag + j.deliveries) * golden;
  return static_cast<double>(lot >> 11) * 0x1p-53;
}

bool says_success(const outcome& what) {
  return what.what == outcome::kind::success;
}

} // namespace

// -- the webhook's word -------------------------------------------------------

outcome push_queue::judge_reply(const delivery_reply& reply, moment now) const {
  auto result = judge(reply, now.wall);
  const auto& final_ones = queue_.settings.permanent_failure_statuses;
  if (reply.http_status && result.what == outcome::kind::failure)
    result.retryable = result.retryable
                       && std::find(final_ones.begin(), final_ones.end(),
                                    *reply.http_status)
                            == final_ones.end();
  // In ack mode the webhook takes jobs in, it does not do them: what it refuses
  // says nothing about the downstream.
  if (queue_.settings.mode == delivery_mode::ack
      && result.verdict == probe_verdict::refused)
    result.verdict = probe_verdict::no_verdict;
  result.retry_after = bounded(result.retry_after);
  return result;
}

transition push_queue::ended(job_seq seq, std::uint64_t number,
                             const delivery_reply& reply, double lot,
                             moment now) {
  transition out;
  if (auto stray = stray_posts_.find({seq, number});
      stray != stray_posts_.end()) {
    auto post = stray->second;
    stray_posts_.erase(stray);
    stray_ended(post, number, reply, now, out);
    return out;
  }
  auto i = residents_.find(seq);
  if (i == residents_.end() || !i->second.in_flight
      || i->second.job.deliveries != number)
    return out;
  auto& r = i->second;
  r.in_flight = false;
  post_ended(out);
  if (reply.error_code == delivery_errc::aborted) {
    counters_.deliveries.count(delivery_result::aborted, {}, reply.took);
    probe_gone(r.job.id, number, r.lane, now, out);
    leave_slot(r, now, out);
    jobs_.put_back(seq, now.steady, wait_kind::none);
    auto entry = make_entry(r.job, delivery_status::interrupted, now);
    if (r.job.started_delivery == 0)
      tell_account(r, entry, now, out);
    interrupt(r, now, out);
    return out;
  }
  auto what = judge_reply(reply, now);
  counters_.deliveries.count(to_result(what.what), reply.http_status,
                             reply.took);
  if (queue_.settings.mode == delivery_mode::ack && says_success(what)) {
    await_ack(r, reply, now, out);
    return out;
  }
  gate::cause why{what.what == outcome::kind::defer ? hold_cause::downstream
                                                    : hold_cause::probe_failed,
                  r.job.id,
                  reply.http_status,
                  {}};
  defer_order order{what.retry_after, scope_of(r.lane, std::nullopt)};
  conclude(r, what, order, why, make_entry(r.job, what, reply, now), lot, now,
           out);
  return out;
}

/// What it came to is known already; that the downstream says "not now" still
/// counts.
void push_queue::stray_ended(const stray_post& post, std::uint64_t number,
                             const delivery_reply& reply, moment now,
                             transition& out) {
  post_ended(out);
  probe_gone(post.job, number, post.lane, now, out);
  auto what = judge_reply(reply, now);
  auto aborted = reply.error_code == delivery_errc::aborted;
  counters_.deliveries.count(aborted ? delivery_result::aborted
                                     : to_result(what.what),
                             reply.http_status, reply.took);
  if (what.what == outcome::kind::defer) {
    gate::cause why{hold_cause::downstream, post.job, reply.http_status, {}};
    if (scope_of(post.lane, std::nullopt) == defer_scope::key)
      hold_key(post.lane, what.retry_after, why, now, out);
    else
      hold_gate(what.retry_after, why, now, out);
  }
  tell_stray(post, number, reply, now, out);
  free_slot(post.lane, now, out);
}

void push_queue::await_ack(resident& r, const delivery_reply& reply, moment now,
                           transition& out) {
  auto& j = r.job;
  auto deadline = after(now.steady, queue_.settings.ack_timeout);
  j.status = job_status::awaiting_ack;
  j.started_delivery = 0;
  j.due = after(now.wall, queue_.settings.ack_timeout);
  awaiting_.emplace(j.id.seq, owed{deadline, r.lane});
  ack_deadlines_.emplace(deadline, j.id.seq);
  tell_awaiting(r, reply, now, out);
  update(r, std::nullopt, out);
}

/// Nobody reported an outcome in time.
void push_queue::lapse(resident& r, moment now, transition& out) {
  if (!awaiting_.contains(r.job.id.seq))
    return;
  outcome what;
  what.retryable = queue_.settings.ack_timeout_action
                   == ack_timeout_action::retry;
  auto entry = make_entry(r.job, delivery_status::failed, now);
  entry.error = "no outcome was reported within ackTimeout";
  entry.error_code = delivery_errc::ack_timeout;
  gate::cause why{hold_cause::probe_failed, r.job.id, std::nullopt, {}};
  conclude(r, what, {}, why, std::move(entry), own_lot(r.job), now, out);
}

// -- conclusions --------------------------------------------------------------

void push_queue::conclude(resident& r, const outcome& what,
                          const defer_order& order, const gate::cause& why,
                          history_entry&& entry, double lot, moment now,
                          transition& out) {
  // The probe that opens the queue is not of the first round after the hold.
  if (what.what == outcome::kind::success)
    count_success(now, out);
  move_gates(r, what, order, why, now, out);
  leave_slot(r, now, out);
  r.job.started_delivery = 0;
  switch (what.what) {
    case outcome::kind::success:
      succeed(r, std::move(entry), now, out);
      break;
    case outcome::kind::failure:
      if (what.retryable)
        fail(r, std::move(entry), lot, now, out);
      else
        fail_for_good(r, std::move(entry), now, out);
      break;
    case outcome::kind::defer:
      defer(r, std::move(entry), order, now, out);
      break;
  }
}

void push_queue::succeed(resident& r, history_entry&& entry, moment now,
                         transition& out) {
  ++r.job.attempts;
  r.job.status = job_status::completed;
  ++queue_.completed;
  ++counters_.completed;
  end(r, std::move(entry), now, out);
}

void push_queue::fail(resident& r, history_entry&& entry, double lot,
                      moment now, transition& out) {
  auto& j = r.job;
  ++j.attempts;
  if (j.attempts >= queue_.settings.max_attempts) {
    give_up(r, dead_reason::attempts_exhausted, std::move(entry), now, out);
    return;
  }
  auto wait = retry_wait(queue_.settings.backoff, j.attempts, lot);
  wait_for(r, std::move(entry), wait_kind::backoff, wait, now, out);
}

void push_queue::fail_for_good(resident& r, history_entry&& entry, moment now,
                               transition& out) {
  ++r.job.attempts;
  auto why = entry.error_code == delivery_errc::ack_timeout
               ? dead_reason::ack_timeout
               : dead_reason::nack_not_retryable;
  give_up(r, why, std::move(entry), now, out);
}

void push_queue::defer(resident& r, history_entry&& entry,
                       const defer_order& order, moment now, transition& out) {
  auto& j = r.job;
  ++j.defers;
  ++counters_.defers;
  auto kind = wait_kind::defer;
  if (order.scope != defer_scope::queue)
    kind = order.scope == defer_scope::key ? wait_kind::key_defer
                                           : wait_kind::job_defer;
  auto expires = jobs_.find(j.id.seq)->expires;
  if (j.defers > queue_.settings.max_defers)
    give_up(r, dead_reason::defer_cap_exhausted, std::move(entry), now, out);
  else if (after(now.steady, order.wait) > expires)
    give_up(r, dead_reason::retry_after_exceeds_lifetime, std::move(entry), now,
            out);
  else
    wait_for(r, std::move(entry), kind, order.wait, now, out);
}

/// Not the job's fault: no attempt, no wait, but a line in the history where
/// the start of the delivery was stored.
void push_queue::interrupt(resident& r, moment now, transition& out) {
  auto& j = r.job;
  if (j.started_delivery == 0)
    return;
  auto entry = make_entry(j, delivery_status::interrupted, now);
  entry.delivery = j.started_delivery;
  j.started_delivery = 0;
  tell_account(r, entry, now, out);
  update(r, std::move(entry), out);
}

void push_queue::wait_for(resident& r, history_entry&& entry, wait_kind what,
                          duration wait, moment now, transition& out) {
  auto& j = r.job;
  j.status = job_status::processing;
  j.waits_for = what;
  j.waits_since = now.wall;
  j.due = after(now.wall, wait);
  jobs_.put_back(j.id.seq, after(now.steady, wait), what);
  tell_account(r, entry, now, out);
  update(r, std::move(entry), out);
}

void push_queue::give_up(resident& r, dead_reason why,
                         std::optional<history_entry>&& entry, moment now,
                         transition& out) {
  r.job.status = job_status::dead;
  r.job.dead_reason = why;
  r.job.dead_letter = queue_.settings.dead_letter
                      && why != dead_reason::cancelled;
  ++queue_.dead;
  ++counters_.dead[static_cast<std::size_t>(why)];
  auto event = make_event(event_kind::job_dead, now);
  event.job = r.job.id;
  event.reason = why;
  tell(std::move(event), out);
  end(r, std::move(entry), now, out);
}

void push_queue::end(resident& r, std::optional<history_entry>&& entry,
                     moment now, transition& out) {
  auto& j = r.job;
  auto seq = j.id.seq;
  j.ended_at = now.wall;
  j.remove_at = after(now.wall, queue_.settings.retention);
  j.started_delivery = 0;
  j.waits_for = wait_kind::none;
  if (entry)
    tell_account(r, *entry, now, out);
  resident_bytes_ -= j.payload.bytes().size();
  out.records.push_back(end_job{std::move(j), std::move(entry)});
  residents_.erase(seq);
  if (!loading_.empty())
    changed_while_loading_.insert(seq);
  errands_.erase(seq);
  if (auto i = watched_.find(seq); i != watched_.end())
    i->second.outdated = true;
  jobs_.erase(seq);
}

void push_queue::update(resident& r, std::optional<history_entry>&& entry,
                        transition& out) {
  ++r.uncommitted;
  out.records.push_back(update_job{r.job, std::move(entry)});
}

// -- slots --------------------------------------------------------------------

/// The outcome is known. A POST that is still under way keeps its slot.
void push_queue::leave_slot(resident& r, moment now, transition& out) {
  if (!r.busy)
    return;
  auto seq = r.job.id.seq;
  r.busy = false;
  --busy_residents_;
  if (auto i = awaiting_.find(seq); i != awaiting_.end()) {
    ack_deadlines_.erase({i->second.deadline, seq});
    awaiting_.erase(i);
  }
  if (r.in_flight) {
    r.in_flight = false;
    stray_posts_.emplace(std::pair{seq, r.job.deliveries},
                         stray_post{r.lane, r.job.id});
    return;
  }
  free_slot(r.lane, now, out);
}

void push_queue::free_slot(lane_id lane, moment now, transition& out) {
  slots_.give_back();
  if (lane == 0)
    return;
  if (auto key = keys_.give_back(lane, jobs_, now.steady))
    forget_key(*key, out);
}

void push_queue::post_ended(transition& out) const {
  if (capped_)
    out.effects.emplace_back(leave_permits{1});
}

} // namespace tidegate
