// What owners and operators do to a push queue and to its jobs.

#include <algorithm>

#include "actors/core/push_queue.hpp"

namespace tidegate {

namespace {

error not_found() {
  return {errc::job_not_found, "Job not found"};
}

error has_ended(job_status status) {
  if (status == job_status::completed)
    return {errc::job_completed, "The job is completed"};
  return {errc::job_dead, "The job is dead"};
}

error not_dead() {
  return {errc::not_dead, "Only a dead job can be replayed"};
}

bool is_live_status(job_status status) {
  return status != job_status::completed && status != job_status::dead;
}

} // namespace

std::vector<header> merge_headers(const std::vector<header>& job,
                                  const std::vector<header>& queue) {
  if (job.empty())
    return queue;
  auto same = [](const std::string& a, const std::string& b) {
    auto lower = [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
  };
  auto result = job;
  for (const auto& h : queue)
    if (std::none_of(job.begin(), job.end(),
                     [&](const auto& j) { return same(j.first, h.first); }))
      result.push_back(h);
  return result;
}

// -- the queue ----------------------------------------------------------------

transition push_queue::change_settings(const queue_settings& settings,
                                       moment now) {
  transition out;
  if (settings.webhook_url != queue_.settings.webhook_url) {
    end_hold(now, out);
    for (auto lane : keys_.lanes())
      end_key_hold(lane, now, out);
  }
  queue_.settings = settings;
  slots_.limit(settings.concurrency);
  rate_.limit(settings.rate_limit_max, settings.rate_limit_window);
  keys_.change(settings, jobs_);
  if (settings.recovery.mode == recovery_settings::kind::full
      && ramp_.limit() > 0) {
    ramp_.end();
    out.records.push_back(update_gate{queue_.id, gate_now(now)});
  }
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

transition push_queue::rotate_secret(const signing_secret& secret,
                                     duration overlap, moment now) {
  transition out;
  queue_.previous_secret = queue_.secret;
  queue_.previous_secret_until = after(now.wall, overlap);
  if (overlap == duration{0}) {
    queue_.previous_secret.clear();
    queue_.previous_secret_until = {};
  }
  queue_.secret = secret;
  out.records.push_back(update_secrets{queue_.id, queue_.secret,
                                       queue_.previous_secret,
                                       queue_.previous_secret_until});
  tell(make_event(event_kind::queue_secret_rotated, now), out);
  return out;
}

void push_queue::store_queue(event_kind kind, moment now, transition& out) {
  queue_.updated_at = now.wall;
  out.records.push_back(update_queue{queue_.id, queue_.settings, queue_.paused,
                                     queue_.paused_since, queue_.updated_at});
  tell(make_event(kind, now), out);
}

// -- jobs that are live -------------------------------------------------------

/// Returns the job in memory, with the help of what was read; or why not.
std::variant<push_queue::resident*, error, read_first>
push_queue::fetch(job_id id, const job_record* stored) {
  auto seq = id.seq;
  if (auto i = residents_.find(seq); i != residents_.end()) {
    if (i->second.job.id != id)
      return not_found();
    return &i->second;
  }
  auto live = jobs_.find(seq).has_value();
  if (!stored || is_live_status(stored->job.status) != live || outdated(seq))
    return watch(seq);
  if (!live)
    return has_ended(stored->job.status);
  return &keep(job{stored->job});
}

template <class F>
job_decision
push_queue::change_job(job_id id, const job_record* stored, F change) {
  return once_read(id.seq, stored, [&]() -> job_decision {
    auto found = fetch(id, stored);
    if (auto reason = std::get_if<error>(&found))
      return *reason;
    if (std::holds_alternative<read_first>(found))
      return read_first{};
    transition out;
    change(*std::get<resident*>(found), out);
    return out;
  });
}

job_decision push_queue::cancel(job_id id, const job_record* stored,
                                moment now) {
  return change_job(id, stored, [&](resident& r, transition& out) {
    abandon(r, now, out);
  });
}

void push_queue::abandon(resident& r, moment now, transition& out) {
  const auto& j = r.job;
  if (r.in_flight)
    out.effects.emplace_back(stop_delivery{j.id.seq, j.deliveries});
  else if (r.busy)
    probe_gone(j.id, j.deliveries, r.lane, now, out);
  leave_slot(r, now, out);
  give_up(r, dead_reason::cancelled, std::nullopt, now, out);
}

job_decision push_queue::run_now(job_id id, const job_record* stored,
                                 moment now) {
  return change_job(id, stored, [&](resident& r, transition& out) {
    end_own_wait(r, now, out);
  });
}

void push_queue::end_own_wait(resident& r, moment now, transition& out) {
  auto e = *jobs_.find(r.job.id.seq);
  auto own_wait = e.waits_for == wait_kind::delay
                  || e.waits_for == wait_kind::backoff
                  || e.waits_for == wait_kind::run_at;
  if (e.out || !own_wait || e.due <= now.steady)
    return;
  jobs_.reschedule(e.seq, now.steady, wait_kind::none);
  r.job.due = now.wall;
  r.job.waits_for = wait_kind::none;
  update(r, std::nullopt, out);
}

// -- jobs that have ended -----------------------------------------------------

job_decision push_queue::replay(job_id id, const job_record* stored,
                                const std::optional<payload>& edited,
                                bool background, moment now) {
  return once_read(id.seq, stored, [&]() -> job_decision {
    if (is_live(id.seq))
      return not_dead();
    if (!stored || is_live_status(stored->job.status) || outdated(id.seq))
      return watch(id.seq);
    if (stored->job.status != job_status::dead)
      return not_dead();
    return revive(stored->job, edited, background, now);
  });
}

std::optional<transition> push_queue::replay_watched(const job& dead,
                                                     moment now) {
  auto seq = dead.id.seq;
  if (dead.status != job_status::dead || is_live(seq) || outdated(seq))
    return std::nullopt;
  return revive(dead, std::nullopt, true, now);
}

transition push_queue::revive(job j, const std::optional<payload>& edited,
                              bool background, moment now) {
  history_entry entry;
  entry.attempt = j.attempts;
  entry.delivery = j.deliveries;
  entry.status = delivery_status::replayed;
  entry.at = now.wall;
  if (edited) {
    entry.replaced = j.payload;
    j.payload = *edited;
  }
  j.status = job_status::pending;
  j.attempts = 0;
  j.defers = 0;
  ++j.replays;
  j.background = background;
  j.eligible_at = now.wall;
  j.due = now.wall;
  j.expires_at = after(now.wall, queue_.settings.lifetime);
  j.waits_for = wait_kind::none;
  j.dead_reason = dead_reason::none;
  j.ended_at.reset();
  j.remove_at.reset();
  j.dead_letter = false;
  j.reported = callback_kind::none;
  j.reported_delivery = 0;
  reviving_.emplace(j.id.seq, now);
  transition out;
  out.records.push_back(revive_job{std::move(j), std::move(entry)});
  return out;
}

void push_queue::revived(const revive_job& what, const commit_answer& answer,
                         moment now, transition& out) {
  auto node = reviving_.extract(what.job.id.seq);
  queue_.completed -= answer.completed;
  queue_.dead -= answer.dead;
  if (!answer.done || node.empty())
    return;
  const auto& j = what.job;
  due_heap::entry e;
  e.seq = j.id.seq;
  e.due = to_steady(j.due, node.mapped());
  e.expires = to_steady(j.expires_at, node.mapped());
  e.created_at = j.created_at;
  e.priority = j.priority;
  e.background = j.background;
  jobs_.add(e, j.limit_key);
  // An operation tells of all of its jobs at once.
  if (j.background)
    return;
  auto event = make_event(event_kind::job_replayed, now);
  event.job = j.id;
  tell(std::move(event), out);
}

// -- many jobs at once --------------------------------------------------------

transition push_queue::purge(due_heap::idle_range& range, std::size_t count) {
  transition out;
  remove_jobs gone{queue_.id, jobs_.idle(range, count)};
  for (auto seq : gone.seqs) {
    if (residents_.contains(seq))
      forget(seq);
    errands_.erase(seq);
    jobs_.erase(seq);
  }
  if (!gone.seqs.empty())
    out.records.push_back(std::move(gone));
  return out;
}

transition push_queue::remove_ended(const std::vector<job_seq>& seqs) {
  transition out;
  remove_jobs gone{queue_.id, {}};
  for (auto seq : seqs)
    if (!is_live(seq))
      gone.seqs.push_back(seq);
  if (!gone.seqs.empty())
    out.records.push_back(std::move(gone));
  return out;
}

} // namespace tidegate
