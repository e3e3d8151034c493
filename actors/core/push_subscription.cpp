#include "actors/core/push_subscription.hpp"

#include <algorithm>
#include <memory>

namespace tidegate {

namespace {

/// Most permits that are asked for at once.
constexpr std::size_t permits_max = 64;

delivery make_delivery(const queue_record& queue, const message_view& what,
                       bool probe, moment now) {
  const auto& m = what.job;
  delivery d;
  d.job = m.id;
  d.queue_name = queue.name;
  d.payload = m.payload;
  d.message = std::make_shared<const message_view>(what);
  d.attempt = m.attempts;
  d.max_attempts = queue.pull.max_receive_count;
  d.number = m.deliveries;
  d.created_at = m.created_at;
  d.started_at = now.wall;
  d.url = queue.settings.webhook_url;
  d.timeout = queue.settings.timeout;
  d.tls_ca = queue.settings.tls_ca;
  d.tls_insecure = queue.settings.tls_insecure;
  d.secrets = {queue.secret};
  d.probe = probe;
  return d;
}

bool is_active(const queue_record& queue) {
  return !queue.settings.webhook_url.empty();
}

} // namespace

push_subscription::push_subscription(const queue_record& stored, moment now,
                                     bool capped)
  : active_(is_active(stored)), gate_(stored.gate, now),
    concurrency_(stored.settings.concurrency),
    rate_(stored.settings.rate_limit_max, stored.settings.rate_limit_window),
    capped_(capped) {
  held_ -= gate_.shut_for(now);
  rate_.restore(stored.rate, now);
}

// -- settings -----------------------------------------------------------------

void push_subscription::changed(const queue_record& queue, moment now,
                                pull_transition& out) {
  if (is_active(queue) != active_) {
    active_ = !active_;
    held_ += gate_.shut_for(now);
    gate_ = {};
    out.records.push_back(update_gate{queue.id, gate_.to_record(now)});
  }
  concurrency_ = queue.settings.concurrency;
  rate_.limit(queue.settings.rate_limit_max, queue.settings.rate_limit_window);
}

void push_subscription::stop(pull_transition& out) {
  stopped_ = true;
  settle_permits(0, {}, out);
}

// -- deliveries ---------------------------------------------------------------

bool push_subscription::may_start_with_permit(moment now) const {
  return active_ && !stopped_ && gate_.ask(now.steady) != gate::answer::shut
         && in_flight() < concurrency_ && !rate_.full(now.steady);
}

void push_subscription::start(const queue_record& queue,
                              const message_view& what, moment now,
                              pull_transition& out) {
  const auto& m = what.job;
  auto probe = gate_.ask(now.steady) == gate::answer::pass_as_probe;
  posts_.emplace(std::pair{m.id.seq, m.deliveries}, m.id);
  if (capped_)
    --permits_;
  if (rate_.limited()) {
    rate_.count(now.steady);
    out.records.push_back(update_rate{queue.id, rate_.to_record(now)});
  }
  if (probe) {
    gate_.start_probe(m.id, m.deliveries, now);
    auto event = store_gate(queue, event_kind::queue_probing, now, out);
    event.job = m.id;
    out.effects.emplace_back(emit{std::move(event)});
  }
  out.effects.emplace_back(
    start_delivery{make_delivery(queue, what, probe, now)});
}

std::optional<outcome>
push_subscription::ended(const queue_record& queue, job_seq message,
                         std::uint64_t number, const delivery_reply& reply,
                         moment now, pull_transition& out) {
  auto i = posts_.find({message, number});
  if (i == posts_.end())
    return std::nullopt;
  auto id = i->second;
  posts_.erase(i);
  if (capped_)
    out.effects.emplace_back(leave_permits{1});
  auto probe = gate_.is_probe(id, number);
  if (reply.error_code == delivery_errc::aborted) {
    counters_.count(delivery_result::aborted, {}, reply.took);
    if (probe) {
      gate_.probe_vanished();
      out.effects.emplace_back(
        emit{store_gate(queue, event_kind::queue_held, now, out)});
    }
    outcome back;
    back.what = outcome::kind::defer;
    return back;
  }
  auto what = judge(reply, now.wall);
  counters_.count(to_result(what.what), reply.http_status, reply.took);
  auto deferred = what.what == outcome::kind::defer;
  gate::cause why{deferred ? hold_cause::downstream : hold_cause::probe_failed,
                  id,
                  reply.http_status,
                  {}};
  if (probe)
    judge_probe(queue, what, why, now, out);
  else if (deferred && active_ && gate_.hold(what.retry_after, why, now))
    out.effects.emplace_back(
      emit{store_gate(queue, event_kind::queue_held, now, out)});
  return what;
}

void push_subscription::judge_probe(const queue_record& queue,
                                    const outcome& what, const gate::cause& why,
                                    moment now, pull_transition& out) {
  counters_.count(what.verdict);
  auto shut = gate_.shut_for(now);
  gate_.judge(what.verdict, what.retry_after, why, now);
  auto opened = gate_.state() == gate_state::open;
  held_ += shut - gate_.shut_for(now);
  auto event = store_gate(
    queue, opened ? event_kind::queue_opened : event_kind::queue_held, now,
    out);
  event.verdict = what.verdict;
  if (opened) {
    event.job = why.job;
    event.http_status = why.http_status;
  }
  out.effects.emplace_back(emit{std::move(event)});
}

service_event push_subscription::store_gate(const queue_record& queue,
                                            event_kind kind, moment now,
                                            pull_transition& out) const {
  auto stored = gate_.to_record(now);
  service_event event;
  event.kind = kind;
  event.project = queue.project;
  event.queue = queue.name;
  event.at = now.wall;
  event.is_message = true;
  event.job = stored.caused_by;
  event.cause = stored.cause;
  event.http_status = stored.http_status;
  if (kind == event_kind::queue_held)
    event.release_at = stored.release_at;
  out.records.push_back(update_gate{queue.id, std::move(stored)});
  return event;
}

// -- permits ------------------------------------------------------------------

void push_subscription::granted(std::uint32_t count) {
  permits_ += count;
  permits_asked_ -= std::min(permits_asked_, count);
}

void push_subscription::settle_permits(std::size_t available, moment now,
                                       pull_transition& out) {
  if (!capped_)
    return;
  auto wanted = available > 0 && may_start_with_permit(now);
  if (!wanted && permits_ > 0) {
    out.effects.emplace_back(leave_permits{permits_});
    permits_ = 0;
  }
  if (wanted && permits_ == 0 && permits_asked_ == 0) {
    auto count = std::min(
      {available, permits_max, std::size_t{concurrency_ - in_flight()}});
    permits_asked_ = static_cast<std::uint32_t>(count);
    out.effects.emplace_back(take_permits{permits_asked_});
  }
}

// -- time and figures ---------------------------------------------------------

std::optional<steady_time> push_subscription::next_start(moment now) const {
  if (!active_ || stopped_ || in_flight() >= concurrency_
      || gate_.state() == gate_state::probing)
    return std::nullopt;
  auto result = rate_.next_start(now.steady);
  if (auto release = gate_.held_until())
    result = std::max(result, *release);
  return result;
}

void push_subscription::write(queue_record& queue, moment now) const {
  queue.gate = gate_.to_record(now);
  queue.rate = rate_.to_record(now);
}

} // namespace tidegate
