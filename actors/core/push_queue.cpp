#include "actors/core/push_queue.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "actors/core/utf8.hpp"

namespace tidegate {

namespace {

/// Most jobs that are kept in memory although they are not being delivered,
/// and most bytes of payload that all residents of a queue may have before no
/// more are kept.
constexpr std::size_t idle_residents_max = 1024;
constexpr std::size_t resident_bytes_max = 4 * 1024 * 1024;

duration offset_of(moment now) {
  return now.wall.time_since_epoch() - now.steady.time_since_epoch();
}

due_heap::entry to_entry(const live_job& j, moment now) {
  due_heap::entry result;
  result.seq = j.seq;
  result.due = to_steady(j.due, now);
  // What waits for nothing may go now, even if the clock was set back.
  if (j.waits_for == wait_kind::none)
    result.due = std::min(result.due, now.steady);
  result.expires = to_steady(j.expires_at, now);
  result.created_at = j.created_at;
  result.waits_for = j.waits_for;
  result.delivered = j.status != job_status::pending;
  result.priority = j.priority;
  result.background = j.background;
  return result;
}

} // namespace

push_queue::push_queue(const queue_snapshot& stored, moment now, bool capped)
  : queue_(stored.queue), gate_(stored.queue.gate, now),
    slots_(stored.queue.settings.concurrency),
    rate_(stored.queue.settings.rate_limit_max,
          stored.queue.settings.rate_limit_window),
    ramp_(stored.queue.gate.ramp), capped_(capped),
    clock_offset_(offset_of(now)) {
  // For how long it was not open before is not counted here.
  counters_.held -= gate_.shut_for(now);
  rate_.restore(stored.queue.rate, now);
  for (const auto& key : stored.keys)
    keys_.restore(key, queue_.settings, jobs_, now);
  jobs_.reserve(stored.jobs.size());
  for (const auto& j : stored.jobs)
    take_up(j, now);
}

void push_queue::take_up(const live_job& j, moment now) {
  auto e = to_entry(j, now);
  auto lane = jobs_.find_lane(j.limit_key);
  // A hold that was ended early has ended the waits that came with it.
  if (j.waits_for == wait_kind::defer)
    e.due = std::min(e.due, gate_.held_until().value_or(now.steady));
  if (j.waits_for == wait_kind::key_defer) {
    auto key = lane ? keys_.find(*lane) : nullptr;
    auto release = key ? key->door.held_until() : std::nullopt;
    e.due = std::min(e.due, release.value_or(now.steady));
  }
  jobs_.add(e, j.limit_key);
  if (j.status == job_status::awaiting_ack)
    take_up_awaiting(j, now);
  else if (j.started_delivery != 0)
    errands_.emplace(j.seq, errand::interrupted);
}

void push_queue::take_up_awaiting(const live_job& j, moment now) {
  jobs_.take_out(j.seq);
  auto lane = jobs_.find(j.seq)->lane;
  auto deadline = to_steady(j.due, now);
  awaiting_.emplace(j.seq, owed{deadline, lane});
  ack_deadlines_.emplace(deadline, j.seq);
  slots_.take();
  if (lane != 0)
    keys_.take_up(lane, queue_.settings, jobs_);
}

// -- publishing ---------------------------------------------------------------

job push_queue::make_job(const publish& what, job_id id, moment now) const {
  job result;
  result.id = id;
  result.payload = what.payload;
  result.idempotency_key = what.idempotency_key;
  result.priority = what.priority;
  result.limit_key = what.limit_key;
  result.context = what.context;
  result.created_at = now.wall;
  result.eligible_at = after(now.wall, what.delay);
  if (what.run_at)
    result.eligible_at = std::max(*what.run_at, now.wall);
  result.due = result.eligible_at;
  result.expires_at = after(result.eligible_at, queue_.settings.lifetime);
  if (result.due > now.wall) {
    result.waits_for = what.run_at ? wait_kind::run_at : wait_kind::delay;
    result.waits_since = now.wall;
  }
  return result;
}

std::uint64_t push_queue::room() const {
  if (!queue_.settings.max_depth)
    return std::numeric_limits<std::uint64_t>::max();
  auto taken = jobs_.size() + arriving_;
  return *queue_.settings.max_depth
         - std::min(*queue_.settings.max_depth, std::uint64_t{taken});
}

void push_queue::stored(job&& what, moment made, moment now) {
  --arriving_;
  ++counters_.published;
  counters_.publish_latency.observe(now.steady - made.steady);
  // The clock may have been set since then: a wait goes on as it began, a time
  // that was named is read on the clock as it is now.
  follow_wall_clock(now);
  auto since = what.waits_for == wait_kind::run_at ? now : made;
  due_heap::entry e;
  e.seq = what.id.seq;
  e.due = to_steady(what.due, since);
  e.expires = to_steady(what.expires_at, since);
  e.created_at = what.created_at;
  e.waits_for = what.waits_for;
  e.priority = what.priority;
  jobs_.add(e, what.limit_key);
  if (e.due <= now.steady && has_room(what))
    keep(std::move(what));
}

// -- the store ----------------------------------------------------------------

transition push_queue::committed(const std::vector<record>& records,
                                 const std::vector<commit_answer>& answers,
                                 moment now) {
  transition out;
  for (std::size_t n = 0; n < records.size(); ++n) {
    if (auto update = std::get_if<update_job>(&records[n])) {
      stored_update(update->job.id.seq);
    } else if (auto revive = std::get_if<revive_job>(&records[n])) {
      revived(*revive, answers[n], now, out);
    } else if (std::holds_alternative<remove_jobs>(records[n])) {
      queue_.completed -= answers[n].completed;
      queue_.dead -= answers[n].dead;
    }
  }
  return out;
}

void push_queue::stored_update(job_seq seq) {
  auto i = residents_.find(seq);
  if (i == residents_.end() || i->second.uncommitted == 0
      || --i->second.uncommitted > 0)
    return;
  auto& r = i->second;
  if (r.busy && !r.in_flight) {
    // Nobody needs the payload while the ack is owed.
    resident_bytes_ -= r.job.payload.bytes().size();
    r.job.payload = {};
  }
  forget_if_idle(seq);
}

std::optional<transition> push_queue::loaded(std::vector<job>&& jobs,
                                             moment now) {
  auto missing = [this](job_seq seq) {
    return jobs_.find(seq) && !residents_.contains(seq)
           && !changed_while_loading_.contains(seq);
  };
  if (jobs.empty() && std::any_of(loading_.begin(), loading_.end(), missing))
    return std::nullopt;
  transition out;
  for (auto& j : jobs)
    take_loaded(std::move(j));
  loading_.clear();
  changed_while_loading_.clear();
  run_errands(now, out);
  return out;
}

/// A job that is in memory keeps all that may have changed since it was read.
void push_queue::take_loaded(job&& j) {
  auto seq = j.id.seq;
  if (changed_while_loading_.contains(seq))
    return;
  if (auto i = residents_.find(seq); i != residents_.end()) {
    auto& r = i->second;
    if (r.busy || !r.job.payload.bytes().empty())
      return;
    resident_bytes_ += j.payload.bytes().size();
    r.job.payload = std::move(j.payload);
  } else if (jobs_.find(seq)) {
    keep(std::move(j));
  }
}

// -- residents ----------------------------------------------------------------

std::size_t push_queue::idle_residents() const {
  return residents_.size() - busy_residents_;
}

bool push_queue::has_room(const job& j) const {
  return idle_residents() < idle_residents_max
         && resident_bytes_ + j.payload.bytes().size() <= resident_bytes_max;
}

bool push_queue::has_payload(job_seq seq) const {
  auto i = residents_.find(seq);
  return i != residents_.end() && !i->second.job.payload.bytes().empty();
}

push_queue::resident& push_queue::keep(job&& j) {
  resident_bytes_ += j.payload.bytes().size();
  auto seq = j.id.seq;
  auto& r = residents_.emplace(seq, resident{std::move(j)}).first->second;
  r.lane = jobs_.find(seq)->lane;
  r.busy = awaiting_.contains(seq);
  if (r.busy)
    ++busy_residents_;
  return r;
}

void push_queue::forget(job_seq seq) {
  auto i = residents_.find(seq);
  resident_bytes_ -= i->second.job.payload.bytes().size();
  if (i->second.busy)
    --busy_residents_;
  residents_.erase(i);
  if (!loading_.empty())
    changed_while_loading_.insert(seq);
}

void push_queue::forget_if_idle(job_seq seq) {
  auto i = residents_.find(seq);
  if (i == residents_.end() || i->second.busy || i->second.uncommitted > 0
      || watched_.contains(seq))
    return;
  forget(seq);
}

/// Lets go of jobs in memory whose lanes are shut, where there are too many.
/// They are read again when it is their turn.
void push_queue::make_room() {
  if (idle_residents() < idle_residents_max
      && resident_bytes_ < resident_bytes_max)
    return;
  std::vector<job_seq> shut;
  for (const auto& [seq, r] : residents_)
    if (jobs_.is_shut(r.lane))
      shut.push_back(seq);
  for (auto seq : shut)
    forget_if_idle(seq);
}

read_first push_queue::watch(job_seq seq) {
  auto& w = watched_[seq];
  ++w.count;
  w.outdated = false;
  return {};
}

bool push_queue::outdated(job_seq seq) const {
  auto i = watched_.find(seq);
  return i != watched_.end() && i->second.outdated;
}

void push_queue::unwatch(job_seq seq) {
  auto i = watched_.find(seq);
  if (i == watched_.end())
    return;
  if (--i->second.count == 0)
    watched_.erase(i);
  forget_if_idle(seq);
}

push_queue::memory_use push_queue::memory() const {
  memory_use result;
  result.residents = residents_.size();
  result.payload_bytes = resident_bytes_;
  result.awaiting = awaiting_.size();
  result.errands = errands_.size();
  result.stray_posts = stray_posts_.size();
  for (const auto& [seq, w] : watched_)
    result.watches += w.count;
  result.lanes = jobs_.keyed_lanes();
  result.limit_keys = keys_.size();
  return result;
}

// -- records and events -------------------------------------------------------

service_event push_queue::make_event(event_kind kind, moment now) const {
  service_event result;
  result.kind = kind;
  result.project = queue_.project;
  result.queue = queue_.name;
  result.at = now.wall;
  return result;
}

void push_queue::tell(service_event&& event, transition& out) const {
  out.effects.push_back(emit{std::move(event)});
}

queue_record push_queue::to_record(moment now) const {
  auto result = queue_;
  result.gate = gate_now(now);
  result.rate = rate_.to_record(now);
  return result;
}

} // namespace tidegate
