// Why a job is not running. Asks what the scheduler asks, so it cannot lie.

#include <algorithm>

#include "actors/core/push_queue.hpp"

namespace tidegate {

namespace {

std::string describe(const gate_record& g) {
  if (g.state == gate_state::probing)
    return "one probe is out; the queue opens when it succeeds";
  if (g.cause == hold_cause::probe_failed)
    return "the last probe told nothing about the downstream";
  if (g.http_status)
    return "the downstream answered " + std::to_string(*g.http_status);
  return "the downstream said not now";
}

blocked_by own_wait(wait_kind what) {
  blocked_by result;
  switch (what) {
    case wait_kind::defer:
      result.gate = gate_kind::defer;
      result.reason = "the downstream named a time for this job";
      break;
    case wait_kind::backoff:
      result.gate = gate_kind::backoff;
      result.reason = "the job failed and waits for its retry";
      break;
    case wait_kind::none:
    case wait_kind::delay:
      result.gate = gate_kind::delay;
      result.reason = "the publisher asked for a delay";
      break;
  }
  return result;
}

} // namespace

bool push_queue::may_start(moment now) const {
  return !queue_.paused && gate_.ask(now.steady) != gate::answer::shut
         && !slots_.full() && !rate_.full(now.steady);
}

void push_queue::explain_queue(moment now, std::vector<blocked_by>& out) const {
  if (queue_.paused)
    out.push_back({gate_kind::paused, queue_.paused_since, std::nullopt,
                   "an operator paused the queue", std::nullopt});
  if (gate_.ask(now.steady) == gate::answer::shut) {
    auto g = gate_.to_record(now);
    if (g.state == gate_state::probing)
      out.push_back(
        {gate_kind::probe, g.since, std::nullopt, describe(g), g.caused_by});
    else
      out.push_back(
        {gate_kind::hold, g.since, g.release_at, describe(g), g.caused_by});
  }
  if (slots_.full())
    out.push_back({gate_kind::concurrency, std::nullopt, std::nullopt,
                   std::to_string(slots_.taken()) + " deliveries are in flight,"
                     + " the limit is " + std::to_string(slots_.limit()),
                   std::nullopt});
  if (rate_.full(now.steady))
    out.push_back({gate_kind::rate, std::nullopt,
                   to_wall(rate_.next_start(now.steady), now),
                   "as many deliveries have started as the rate limit allows",
                   std::nullopt});
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
  counts.processing = jobs_.size() - jobs_.fresh();
  counts.completed = queue_.completed;
  counts.dead = queue_.dead;
  counts.scheduled = jobs_.waiting();
  counts.in_flight = slots_.taken();
  if (gate_.state() != gate_state::open)
    counts.held = jobs_.ready();
  explain_queue(now, result.blocked);
  if (auto oldest = jobs_.oldest())
    result.oldest_age = std::max(duration{0}, now.wall - *oldest);
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
    }
  } else if (e) {
    auto since = j.waits_since;
    explain_wait(*e, now, result.blocked);
    if (result.blocked.empty())
      j.waits_for = wait_kind::none;
    else
      result.blocked.front().since = since;
    j.due = to_wall(e->due, now);
    explain_queue(now, result.blocked);
  }
  result.record = std::move(stored);
  return result;
}

} // namespace tidegate
