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

std::optional<steady_time> pull_queue::next_push(moment now) const {
  auto start = subscription_.next_start(now);
  if (!start)
    return std::nullopt;
  if (!next_up(1).empty()) {
    // What may go now waits for the store or a permit, not for the time.
    if (*start <= now.steady)
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
  auto what = subscription_.ended(queue_, seq, number, reply, now, out);
  auto i = leases_.find(seq);
  // Somebody may have settled it by hand meanwhile.
  if (!what || i == leases_.end()
      || i->second.message.started_delivery != number)
    return out;
  switch (what->what) {
    case outcome::kind::success:
      ++queue_.totals.acked;
      ack(seq, now, out);
      break;
    case outcome::kind::defer:
      --queue_.totals.received;
      give_back(seq, now, std::nullopt, out);
      break;
    case outcome::kind::failure: {
      ++queue_.totals.nacked;
      auto n = i->second.message.attempts;
      end_lease(seq, retry_wait(queue_.settings.backoff, n, lot), now,
                std::nullopt, out);
      break;
    }
  }
  store_totals(out);
  return out;
}

} // namespace tidegate
