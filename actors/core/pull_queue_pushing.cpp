// How a pull queue pushes its messages to a webhook.

#include <algorithm>
#include <utility>

#include "actors/core/pull_queue.hpp"
#include "actors/core/retry_schedule.hpp"

namespace tidegate {

// -- operators ----------------------------------------------------------------

pull_transition pull_queue::subscribe(const queue_settings& settings,
                                      const signing_secret& secret,
                                      moment now) {
  pull_transition out;
  queue_.settings = settings;
  queue_.secret = secret;
  queue_.updated_at = now.wall;
  out.records.push_back(update_queue{queue_.id, settings, false, {}, now.wall});
  out.records.push_back(update_secrets{queue_.id, secret, {}, {}});
  subscription_.changed(queue_, now, out);
  out.effects.emplace_back(emit{make_event(event_kind::queue_changed, now)});
  return out;
}

pull_transition pull_queue::unsubscribe(moment now) {
  auto settings = queue_.settings;
  settings.webhook_url.clear();
  return subscribe(settings, queue_.secret, now);
}

// -- time ---------------------------------------------------------------------

/// Returns the message that is pushed next. One whose probe told nothing goes
/// after another one, where there is one.
std::optional<job_seq> pull_queue::next_to_push() const {
  auto next = next_up(2);
  if (next.empty())
    return std::nullopt;
  return subscription_.failed_with(next.front()) ? next.back() : next.front();
}

void pull_queue::push_out(moment now, pull_transition& out) {
  while (subscription_.may_start(now)) {
    auto next = next_to_push();
    if (!next)
      break;
    auto message = take_loaded(*next);
    if (!message) {
      ask_for(out);
      break;
    }
    message->due = after(now.wall, queue_.settings.timeout);
    auto granted = grant(std::move(*message), std::nullopt, now, out);
    subscription_.start(queue_, granted, now, out);
  }
  subscription_.settle_permits(jobs_.ready(), now, out);
}

std::optional<steady_time> pull_queue::next_push() const {
  auto start = subscription_.next_start(advanced_at_);
  if (!start)
    return std::nullopt;
  if (!next_up(1).empty()) {
    // What may go now waits for the store or a permit, not for the time.
    if (*start <= advanced_at_.steady)
      return std::nullopt;
    return start;
  }
  auto next = jobs_.next_due();
  if (auto back = groups_.next_wakeup())
    next = next ? std::min(*next, *back) : *back;
  if (next)
    next = std::max(*next, *start);
  return next;
}

/// What was being pushed when the process died comes back, and that delivery
/// does not count.
void pull_queue::give_back_interrupted(moment now, pull_transition& out) {
  for (auto seq : std::exchange(interrupted_, {})) {
    --queue_.totals.received;
    give_back(seq, now, std::nullopt, out);
  }
}

// -- outcomes -----------------------------------------------------------------

pull_transition pull_queue::delivered(job_seq seq, std::uint64_t number,
                                      const delivery_reply& reply, double lot,
                                      moment now) {
  pull_transition out;
  delivery_account account;
  account.delivery = number;
  account.http_status = reply.http_status;
  account.error_code = reply.error_code;
  account.took = reply.took;
  auto post = subscription_.post(seq, number);
  if (post) {
    account.job = *post;
    account.probe = subscription_.is_probe(*post, number);
  }
  auto what = subscription_.ended(queue_, seq, number, reply, now, out);
  if (!what)
    return out;
  auto i = leases_.find(seq);
  // Somebody may have settled it by hand meanwhile.
  if (i == leases_.end() || i->second.message.started_delivery != number) {
    account.decision = delivery_decision::known;
  } else {
    conclude(seq, *what, lot, now, account, out);
    if (reply.error_code == delivery_errc::aborted)
      account.decision = delivery_decision::again;
    store_totals(out);
  }
  tell_account(std::move(account), now, out);
  return out;
}

/// Does what the outcome of a delivery means for its message. @pre it is leased
void pull_queue::conclude(job_seq seq, const outcome& what, double lot,
                          moment now, delivery_account& account,
                          pull_transition& out) {
  const auto& m = leases_.at(seq).message;
  account.attempt = m.attempts;
  switch (what.what) {
    case outcome::kind::success:
      ++queue_.totals.acked;
      account.decision = delivery_decision::completed;
      ack(seq, now, out);
      break;
    case outcome::kind::defer:
      --queue_.totals.received;
      account.decision = delivery_decision::defer;
      account.until = now.wall;
      give_back(seq, now, std::nullopt, out);
      break;
    case outcome::kind::failure: {
      ++queue_.totals.nacked;
      auto spent = is_spent(m);
      auto n = m.attempts;
      auto back = end_lease(seq, retry_wait(queue_.settings.backoff, n, lot),
                            now, std::nullopt, out);
      account.decision = spent ? delivery_decision::dead
                               : delivery_decision::retry;
      if (!spent)
        account.until = back;
      break;
    }
  }
}

void pull_queue::tell_account(delivery_account&& account, moment now,
                              pull_transition& out) const {
  if (!keeps_accounts_)
    return;
  account.project = queue_.project;
  account.queue = queue_.name;
  account.is_message = true;
  auto gate = subscription_.gate_now(now);
  account.gate = gate.state;
  if (gate.state != gate_state::open) {
    account.held_until = gate.release_at;
    account.cause = gate.cause;
  }
  out.effects.emplace_back(give_account{std::move(account)});
}

} // namespace tidegate
