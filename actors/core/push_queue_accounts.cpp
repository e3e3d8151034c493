// What is told of each delivery once it has ended.

#include "actors/core/push_queue.hpp"

namespace tidegate {

namespace {

delivery_decision decided(const job& j, delivery_status came_to) {
  if (j.status == job_status::completed)
    return delivery_decision::completed;
  if (j.status == job_status::dead)
    return delivery_decision::dead;
  if (came_to == delivery_status::deferred)
    return delivery_decision::defer;
  return came_to == delivery_status::interrupted ? delivery_decision::again
                                                 : delivery_decision::retry;
}

/// Returns whether it was no answer of the webhook that told the outcome.
bool is_report(const history_entry& entry) {
  return !entry.http_status && entry.error_code == delivery_errc::none
         && entry.status != delivery_status::interrupted;
}

} // namespace

delivery_account push_queue::account_of(const resident& r,
                                        const history_entry& entry,
                                        moment now) const {
  const auto& j = r.job;
  delivery_account result;
  result.project = queue_.project;
  result.queue = queue_.name;
  result.limit_key = j.limit_key;
  result.job = j.id;
  result.delivery = entry.delivery;
  result.attempt = entry.attempt;
  result.probe = r.probe;
  result.http_status = entry.http_status;
  result.error_code = entry.error_code;
  result.took = entry.took;
  result.traceparent = j.context->traceparent;
  tell_gate(result, r.lane, now);
  return result;
}

/// Tells what a delivery came to. @pre what becomes of the job is decided
void push_queue::tell_account(const resident& r, const history_entry& entry,
                              moment now, transition& out) const {
  if (!keeps_accounts_)
    return;
  auto account = account_of(r, entry, now);
  account.reported = is_report(entry);
  account.decision = decided(r.job, entry.status);
  if (account.decision == delivery_decision::dead)
    account.reason = r.job.dead_reason;
  else if (account.decision == delivery_decision::again)
    account.until = now.wall;
  else if (account.decision != delivery_decision::completed)
    account.until = r.job.due;
  out.effects.emplace_back(give_account{std::move(account)});
}

void push_queue::tell_awaiting(const resident& r, const delivery_reply& reply,
                               moment now, transition& out) const {
  if (!keeps_accounts_)
    return;
  history_entry entry;
  entry.delivery = r.job.deliveries;
  entry.attempt = r.job.attempts + 1;
  entry.http_status = reply.http_status;
  entry.took = reply.took;
  auto account = account_of(r, entry, now);
  account.decision = delivery_decision::awaiting_ack;
  account.until = r.job.due;
  out.effects.emplace_back(give_account{std::move(account)});
}

void push_queue::tell_stray(const stray_post& post, std::uint64_t number,
                            const delivery_reply& reply, moment now,
                            transition& out) const {
  if (!keeps_accounts_)
    return;
  delivery_account account;
  account.project = queue_.project;
  account.queue = queue_.name;
  if (post.lane != 0)
    account.limit_key = jobs_.key_of(post.lane);
  account.job = post.job;
  account.delivery = number;
  account.http_status = reply.http_status;
  account.error_code = reply.error_code;
  account.took = reply.took;
  account.decision = delivery_decision::known;
  tell_gate(account, post.lane, now);
  out.effects.emplace_back(give_account{std::move(account)});
}

void push_queue::tell_gate(delivery_account& account, lane_id lane,
                           moment now) const {
  auto key = keys_.find(lane);
  account.gate_of_key = gate_.state() == gate_state::open && key
                        && key->door.state() != gate_state::open;
  auto gate = account.gate_of_key ? key->door.to_record(now)
                                  : gate_.to_record(now);
  account.gate = gate.state;
  if (gate.state == gate_state::open)
    return;
  account.cause = gate.cause;
  account.held_until = gate.release_at;
}

} // namespace tidegate
