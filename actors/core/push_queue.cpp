#include "actors/core/push_queue.hpp"

#include <algorithm>
#include <cassert>
#include <variant>

#include "actors/core/retry_schedule.hpp"
#include "actors/core/utf8.hpp"

namespace tidegate {

namespace {

/// Most jobs that are kept in memory although they are not being delivered,
/// and most bytes of payload that all residents of a queue may have before no
/// more are kept.
constexpr std::size_t idle_residents_max = 1024;
constexpr std::size_t resident_bytes_max = 4 * 1024 * 1024;

/// How many jobs are asked for at once, and below how many more are asked for.
constexpr std::size_t load_count = 64;
constexpr std::size_t load_below = 32;

/// Most jobs that are being given up on at once because their time is over.
constexpr std::size_t expiring_max = 256;

constexpr std::size_t error_bytes_max = 500;
constexpr std::size_t excerpt_bytes_max = 2048;

bool contains(const std::vector<job_seq>& list, job_seq seq) {
  return std::find(list.begin(), list.end(), seq) != list.end();
}

bool is_ready(const due_heap::entry& e, moment now) {
  return !e.out && e.due <= now.steady;
}

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

/// Returns when a stored job may go. What waits for nothing may go now, even if
/// the clock was set back; and a hold that was ended early has ended the waits
/// that came with it.
steady_time due_of(const live_job& j, steady_time release, moment now) {
  auto due = to_steady(j.due, now);
  if (j.waits_for == wait_kind::none)
    return std::min(due, now.steady);
  if (j.waits_for == wait_kind::defer)
    return std::min(due, release);
  return due;
}

} // namespace

push_queue::push_queue(const queue_snapshot& stored, moment now)
  : queue_(stored.queue), gate_(stored.queue.gate, now),
    slots_(stored.queue.settings.concurrency),
    rate_(stored.queue.settings.rate_limit_max,
          stored.queue.settings.rate_limit_window) {
  rate_.restore(stored.queue.rate, now);
  auto release = gate_.held_until().value_or(now.steady);
  for (const auto& j : stored.jobs) {
    due_heap::entry e;
    e.seq = j.seq;
    e.due = due_of(j, release, now);
    e.expires = to_steady(j.expires_at, now);
    e.created_at = j.created_at;
    e.waits_for = j.waits_for;
    e.delivered = j.status != job_status::pending;
    jobs_.add(e);
    if (j.started_delivery != 0)
      interrupted_.push_back(j.seq);
  }
}

// -- events -------------------------------------------------------------------

job push_queue::make_job(const publish& what, job_id id, moment now) const {
  job result;
  result.id = id;
  result.payload = what.payload;
  result.idempotency_key = what.idempotency_key;
  result.created_at = now.wall;
  result.eligible_at = after(now.wall, what.delay);
  result.due = result.eligible_at;
  result.expires_at = after(result.eligible_at, queue_.settings.lifetime);
  if (what.delay > duration{0}) {
    result.waits_for = wait_kind::delay;
    result.waits_since = now.wall;
  }
  return result;
}

void push_queue::stored(job&& what, moment made, moment now) {
  due_heap::entry e;
  e.seq = what.id.seq;
  e.due = to_steady(what.due, made);
  e.expires = to_steady(what.expires_at, made);
  e.created_at = what.created_at;
  e.waits_for = what.waits_for;
  jobs_.add(e);
  if (is_ready(e, now) && has_room(what))
    keep(std::move(what));
}

void push_queue::committed(const std::vector<record>& records) {
  for (const auto& r : records) {
    auto update = std::get_if<update_job>(&r);
    if (!update)
      continue;
    auto i = residents_.find(update->job.id.seq);
    if (i != residents_.end() && i->second.uncommitted > 0
        && --i->second.uncommitted == 0 && !i->second.in_flight)
      forget(i->first);
  }
}

std::optional<transition> push_queue::loaded(std::vector<job>&& jobs,
                                             moment now) {
  loading_.clear();
  if (jobs.empty())
    return std::nullopt;
  transition out;
  for (auto& j : jobs) {
    auto seq = j.id.seq;
    auto e = jobs_.find(seq);
    if (!e || residents_.count(seq) > 0)
      continue;
    auto& r = keep(std::move(j));
    if (std::erase(interrupted_, seq) > 0)
      interrupt(r, now, out);
    if (std::erase(expiring_, seq) > 0)
      give_up(r, dead_reason::lifetime_exceeded, std::nullopt, now, out);
  }
  return out;
}

transition push_queue::ended(job_seq seq, const delivery_reply& reply,
                             double lot, moment now) {
  transition out;
  auto i = residents_.find(seq);
  if (i == residents_.end() || !i->second.in_flight)
    return out;
  auto& r = i->second;
  r.in_flight = false;
  slots_.give_back();
  if (reply.error_code == delivery_errc::aborted) {
    if (gate_.is_probe(r.job.id, r.job.deliveries)) {
      gate_.probe_vanished();
      tell(store_gate(event_kind::queue_held, now, out), out);
    }
    jobs_.put_back(seq, now.steady, wait_kind::none);
    interrupt(r, now, out);
    return out;
  }
  auto what = judge(reply, now.wall);
  move_gate(r, what, reply, now, out);
  auto entry = make_entry(r.job, what, reply, now);
  r.job.started_delivery = 0;
  switch (what.what) {
    case outcome::kind::success:
      succeed(r, std::move(entry), now, out);
      break;
    case outcome::kind::failure:
      fail(r, std::move(entry), lot, now, out);
      break;
    case outcome::kind::defer:
      defer(r, std::move(entry), what.retry_after, now, out);
      break;
  }
  return out;
}

transition push_queue::change_settings(const queue_settings& settings,
                                       moment now) {
  transition out;
  if (settings.webhook_url != queue_.settings.webhook_url) {
    if (gate_.release(now))
      tell(store_gate(event_kind::queue_held, now, out), out);
    jobs_.make_due(wait_kind::defer, now.steady);
  }
  queue_.settings = settings;
  queue_.updated_at = now.wall;
  slots_.limit(settings.concurrency);
  rate_.limit(settings.rate_limit_max, settings.rate_limit_window);
  store_queue(event_kind::queue_changed, now, out);
  return out;
}

transition push_queue::pause(moment now) {
  transition out;
  if (queue_.paused)
    return out;
  queue_.paused = true;
  queue_.paused_since = now.wall;
  store_queue(event_kind::queue_paused, now, out);
  return out;
}

transition push_queue::resume(moment now) {
  transition out;
  if (!queue_.paused)
    return out;
  queue_.paused = false;
  queue_.paused_since = {};
  store_queue(event_kind::queue_resumed, now, out);
  return out;
}

// -- time ---------------------------------------------------------------------

transition push_queue::advance(moment now) {
  transition out;
  expire(now, out);
  start_ready(now, out);
  ask_for_jobs(now, out);
  return out;
}

void push_queue::expire(moment now, transition& out) {
  while (expiring_.size() < expiring_max) {
    auto seq = jobs_.first_expired(now.steady);
    if (!seq)
      return;
    jobs_.take_out(*seq);
    auto i = residents_.find(*seq);
    if (i == residents_.end())
      expiring_.push_back(*seq);
    else
      give_up(i->second, dead_reason::lifetime_exceeded, std::nullopt, now,
              out);
  }
}

std::optional<job_seq> push_queue::next_up() const {
  auto first = jobs_.first_ready();
  if (first && gate_.failed_with(*first))
    return jobs_.ready_front(2).back();
  return first;
}

void push_queue::start_ready(moment now, transition& out) {
  jobs_.mature(now.steady);
  auto started = false;
  while (may_start(now)) {
    auto seq = next_up();
    if (!seq)
      break;
    auto i = residents_.find(*seq);
    if (i == residents_.end())
      break;
    start(i->second, now, out);
    started = true;
  }
  if (started && rate_.limited())
    out.records.push_back(update_rate{queue_.id, rate_.to_record(now)});
}

void push_queue::start(resident& r, moment now, transition& out) {
  auto& j = r.job;
  auto probe = gate_.ask(now.steady) == gate::answer::pass_as_probe;
  jobs_.take_out(j.id.seq);
  slots_.take();
  rate_.count(now.steady);
  r.in_flight = true;
  j.status = job_status::processing;
  j.waits_for = wait_kind::none;
  ++j.deliveries;
  if (probe) {
    j.started_delivery = j.deliveries;
    ++r.uncommitted;
    out.records.push_back(update_job{j, std::nullopt});
    gate_.start_probe(j.id, j.deliveries);
    auto event = store_gate(event_kind::queue_probing, now, out);
    event.job = j.id;
    tell(std::move(event), out);
  }
  const auto& settings = queue_.settings;
  delivery d;
  d.job = j.id;
  d.queue_name = queue_.name;
  d.payload = j.payload;
  d.attempt = j.attempts + 1;
  d.max_attempts = settings.max_attempts;
  d.defers = j.defers;
  d.number = j.deliveries;
  d.created_at = j.created_at;
  d.started_at = now.wall;
  d.url = settings.webhook_url;
  d.headers = settings.headers;
  d.timeout = settings.timeout;
  d.secrets = {queue_.secret};
  d.probe = probe;
  out.effects.push_back(start_delivery{std::move(d)});
}

void push_queue::ask_for_jobs(moment now, transition& out) {
  if (!loading_.empty())
    return;
  loading_ = interrupted_;
  for (auto seq : expiring_)
    if (!contains(interrupted_, seq))
      loading_.push_back(seq);
  auto next = next_up();
  auto passes = !queue_.paused && gate_.ask(now.steady) != gate::answer::shut;
  auto runs_low = idle_residents() < std::min(load_below, jobs_.ready());
  if (passes && next && (residents_.count(*next) == 0 || runs_low)) {
    // What a held queue needs is one probe.
    auto front = gate_.state() == gate_state::open
                   ? jobs_.ready_front(load_count)
                   : std::vector{*next};
    for (auto seq : front)
      if (residents_.count(seq) == 0 && !contains(interrupted_, seq))
        loading_.push_back(seq);
  }
  if (!loading_.empty())
    out.effects.push_back(load_jobs{loading_});
}

std::optional<steady_time> push_queue::next_wakeup(moment now) const {
  std::optional<steady_time> result;
  if (expiring_.size() < expiring_max)
    result = jobs_.next_expiry();
  if (queue_.paused || slots_.full() || gate_.state() == gate_state::probing)
    return result;
  // What is ready and may go now waits for the store, not for the time.
  if (jobs_.ready() > 0 && may_start(now))
    return result;
  auto next = jobs_.ready() > 0 ? std::optional{now.steady} : jobs_.next_due();
  if (!next)
    return result;
  if (auto release = gate_.held_until())
    next = std::max(*next, *release);
  next = std::max(*next, rate_.next_start(now.steady));
  return result ? std::min(*result, *next) : next;
}

// -- what becomes of a job ----------------------------------------------------

void push_queue::succeed(resident& r, history_entry&& entry, moment now,
                         transition& out) {
  ++r.job.attempts;
  r.job.status = job_status::completed;
  ++queue_.completed;
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

void push_queue::defer(resident& r, history_entry&& entry, duration wait,
                       moment now, transition& out) {
  auto& j = r.job;
  ++j.defers;
  auto expires = jobs_.find(j.id.seq)->expires;
  if (j.defers > queue_.settings.max_defers)
    give_up(r, dead_reason::defer_cap_exhausted, std::move(entry), now, out);
  else if (after(now.steady, wait) > expires)
    give_up(r, dead_reason::retry_after_exceeds_lifetime, std::move(entry), now,
            out);
  else
    wait_for(r, std::move(entry), wait_kind::defer, wait, now, out);
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
  ++r.uncommitted;
  out.records.push_back(update_job{j, std::move(entry)});
}

void push_queue::wait_for(resident& r, history_entry&& entry, wait_kind what,
                          duration wait, moment now, transition& out) {
  auto& j = r.job;
  j.waits_for = what;
  j.waits_since = now.wall;
  j.due = after(now.wall, wait);
  jobs_.put_back(j.id.seq, after(now.steady, wait), what);
  ++r.uncommitted;
  out.records.push_back(update_job{j, std::move(entry)});
}

void push_queue::give_up(resident& r, dead_reason why,
                         std::optional<history_entry>&& entry, moment now,
                         transition& out) {
  r.job.status = job_status::dead;
  r.job.dead_reason = why;
  ++queue_.dead;
  auto event = make_event(event_kind::job_dead, now);
  event.job = r.job.id;
  event.reason = why;
  tell(std::move(event), out);
  end(r, std::move(entry), now, out);
}

void push_queue::end(resident& r, std::optional<history_entry>&& entry,
                     moment now, transition& out) {
  auto seq = r.job.id.seq;
  r.job.ended_at = now.wall;
  r.job.started_delivery = 0;
  r.job.waits_for = wait_kind::none;
  resident_bytes_ -= r.job.payload.bytes().size();
  out.records.push_back(end_job{std::move(r.job), std::move(entry)});
  residents_.erase(seq);
  jobs_.erase(seq);
}

void push_queue::move_gate(const resident& r, const outcome& what,
                           const delivery_reply& reply, moment now,
                           transition& out) {
  const auto& j = r.job;
  gate::cause why{what.what == outcome::kind::defer ? hold_cause::downstream
                                                    : hold_cause::probe_failed,
                  j.id, reply.http_status};
  if (gate_.is_probe(j.id, j.deliveries)) {
    gate_.judge(what.verdict, what.retry_after, why, now);
    auto opened = gate_.state() == gate_state::open;
    auto event = store_gate(
      opened ? event_kind::queue_opened : event_kind::queue_held, now, out);
    event.verdict = what.verdict;
    if (opened) {
      event.job = j.id;
      event.http_status = reply.http_status;
    }
    tell(std::move(event), out);
  } else if (what.what == outcome::kind::defer
             && gate_.hold(what.retry_after, why, now)) {
    tell(store_gate(event_kind::queue_held, now, out), out);
  }
}

// -- residents ----------------------------------------------------------------

std::size_t push_queue::idle_residents() const {
  return residents_.size() - slots_.taken();
}

bool push_queue::has_room(const job& j) const {
  return idle_residents() < idle_residents_max
         && resident_bytes_ + j.payload.bytes().size() <= resident_bytes_max;
}

push_queue::resident& push_queue::keep(job&& j) {
  resident_bytes_ += j.payload.bytes().size();
  auto seq = j.id.seq;
  return residents_.emplace(seq, resident{std::move(j)}).first->second;
}

void push_queue::forget(job_seq seq) {
  auto i = residents_.find(seq);
  resident_bytes_ -= i->second.job.payload.bytes().size();
  residents_.erase(i);
}

// -- records and events -------------------------------------------------------

service_event push_queue::make_event(event_kind kind, moment now) const {
  service_event result;
  result.kind = kind;
  result.queue = queue_.name;
  result.at = now.wall;
  return result;
}

void push_queue::tell(service_event&& event, transition& out) const {
  out.effects.push_back(emit{std::move(event)});
}

service_event push_queue::store_gate(event_kind kind, moment now,
                                     transition& out) const {
  auto g = gate_.to_record(now);
  auto event = make_event(kind, now);
  event.job = g.caused_by;
  event.cause = g.cause;
  event.http_status = g.http_status;
  if (kind == event_kind::queue_held)
    event.release_at = g.release_at;
  out.records.push_back(update_gate{queue_.id, std::move(g)});
  return event;
}

void push_queue::store_queue(event_kind kind, moment now, transition& out) {
  queue_.updated_at = now.wall;
  out.records.push_back(update_queue{queue_.id, queue_.settings, queue_.paused,
                                     queue_.paused_since, queue_.updated_at});
  tell(make_event(kind, now), out);
}

queue_record push_queue::to_record(moment now) const {
  auto result = queue_;
  result.gate = gate_.to_record(now);
  result.rate = rate_.to_record(now);
  return result;
}

} // namespace tidegate
