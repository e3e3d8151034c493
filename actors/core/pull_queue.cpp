#include "actors/core/pull_queue.hpp"

#include <algorithm>

namespace tidegate {

namespace {

/// Most messages that are kept in memory to be handed out, and most bytes of
/// payload that they may have before no more are kept.
constexpr std::size_t loaded_max = 1024;
constexpr std::size_t loaded_bytes_max = 4 * 1024 * 1024;

/// Most messages that are removed in one commit because they have waited too
/// long.
constexpr std::size_t retired_max = 256;

/// Goes before deduplication ids, so that they are not idempotency keys.
const std::string deduplication_mark = "\x01";

/// Due time of what has to keep its place: long ago.
constexpr steady_time always{-longest_wait};

job to_job(const live_job& m, queue_id queue) {
  job result;
  result.id = {queue, m.seq, m.tag};
  result.created_at = m.created_at;
  result.eligible_at = m.eligible_at;
  result.due = m.due;
  result.waits_for = m.waits_for;
  result.status = m.status;
  result.attempts = m.attempts;
  result.deliveries = m.deliveries;
  result.started_delivery = m.started_delivery;
  result.replays = m.replays;
  result.priority = m.priority;
  result.limit_key = m.limit_key;
  return result;
}

live_job to_live(const job& m) {
  live_job result;
  result.seq = m.id.seq;
  result.tag = m.id.tag;
  result.due = m.due;
  result.created_at = m.created_at;
  result.eligible_at = m.eligible_at;
  result.waits_for = m.waits_for;
  result.status = m.status;
  result.attempts = m.attempts;
  result.deliveries = m.deliveries;
  result.replays = m.replays;
  result.priority = m.priority;
  result.limit_key = m.limit_key;
  return result;
}

error wrong(const char* field, std::string what) {
  return {errc::validation_failed, field + (" " + std::move(what))};
}

} // namespace

pull_queue::pull_queue(const queue_snapshot& stored, moment now, bool capped)
  : queue_(stored.queue), subscription_(stored.queue, now, capped) {
  jobs_.reserve(stored.jobs.size());
  for (const auto& m : stored.jobs)
    take_up(m, now);
}

due_heap::entry pull_queue::to_entry(const live_job& m, moment now) const {
  due_heap::entry result;
  result.seq = m.seq;
  // One that is leased has its place from when it was eligible.
  auto leased = m.status == job_status::awaiting_ack;
  result.due = to_steady(leased ? m.eligible_at : m.due, now);
  if (leased || m.waits_for == wait_kind::none)
    result.due = std::min(result.due, now.steady);
  if (queue_.pull.fifo)
    result.due = always;
  result.expires =
    to_steady(after(m.eligible_at, queue_.pull.message_retention), now);
  result.created_at = m.created_at;
  result.waits_for = m.waits_for;
  result.delivered = m.deliveries > 0;
  result.priority = m.priority;
  return result;
}

void pull_queue::take_up(const live_job& m, moment now) {
  const auto& fifo = queue_.pull.fifo;
  jobs_.add(to_entry(m, now), fifo ? m.limit_key : std::string{});
  auto leased = m.status == job_status::awaiting_ack;
  auto due = to_steady(m.due, now);
  auto delayed = !leased && m.waits_for == wait_kind::delay && due > now.steady;
  auto group = jobs_.find(m.seq)->lane;
  if (fifo && (leased || delayed))
    groups_.shut(group, m.seq, jobs_);
  if (fifo && delayed)
    groups_.open_at(group, m.seq, due);
  if (m.waits_for == wait_kind::dead_letter_queue) {
    jobs_.take_out(m.seq);
    leaving_.push_back({to_job(m, queue_.id), std::nullopt});
  }
  if (!leased)
    return;
  jobs_.take_out(m.seq);
  lease l{to_job(m, queue_.id), due};
  if (m.started_delivery != 0) {
    l.deadline.reset();
    interrupted_.push_back(m.seq);
  } else {
    deadlines_.emplace(due, m.seq);
  }
  leases_.emplace(m.seq, std::move(l));
}

// -- publishing ---------------------------------------------------------------

std::variant<job, error> pull_queue::make_message(const publish_message& what,
                                                  message_id id,
                                                  moment now) const {
  const auto& settings = queue_.pull;
  if (what.priority > 0 && !settings.enable_priority)
    return wrong("priority",
                 "must be 0 on a queue without enable_priority, got "
                   + std::to_string(what.priority));
  if (auto reason = check_group(what))
    return *reason;
  auto delay = what.delay.value_or(settings.delay);
  job result;
  result.id = {queue_.id, id.seq, id.tag};
  result.payload = what.payload;
  result.idempotency_key = what.deduplicates
                             ? deduplication_mark + what.idempotency_key
                             : what.idempotency_key;
  result.priority = what.priority;
  result.limit_key = what.group;
  result.context = job_context{{what.headers, {}, {}}};
  result.created_at = now.wall;
  result.eligible_at = after(now.wall, delay);
  result.due = result.eligible_at;
  if (delay > duration{0}) {
    result.waits_for = wait_kind::delay;
    result.waits_since = now.wall;
  }
  return result;
}

/// Returns what a fifo queue, or one that is none, does not take.
std::optional<error>
pull_queue::check_group(const publish_message& what) const {
  if (!queue_.pull.fifo) {
    if (!what.group.empty())
      return wrong("message_group_id", "is for fifo queues");
    if (what.deduplicates)
      return wrong("deduplication_id", "is for fifo queues");
    return std::nullopt;
  }
  if (what.group.empty())
    return wrong("message_group_id", "is required on a fifo queue");
  if (what.delay.value_or(duration{0}) > duration{0})
    return wrong("delay_seconds", "must be 0 on a fifo queue");
  return std::nullopt;
}

void pull_queue::stored(job&& what, moment made, moment now) {
  ++queue_.totals.published;
  ++counters_.published;
  counters_.publish_latency.observe(now.steady - made.steady);
  auto live = to_live(what);
  jobs_.add(to_entry(live, made),
            queue_.pull.fifo ? live.limit_key : std::string{});
  if (what.due <= now.wall && has_room(what))
    keep(std::move(what));
}

void pull_queue::arrived(const std::vector<live_job>& messages, moment now) {
  for (const auto& m : messages)
    if (!is_live(m.seq))
      take_up(m, now);
}

// -- the store ----------------------------------------------------------------

pull_transition pull_queue::committed(const std::vector<record>& records,
                                      const std::vector<commit_answer>& answers,
                                      moment now) {
  pull_transition out;
  for (std::size_t n = 0; n < records.size(); ++n) {
    if (auto change = std::get_if<update_job>(&records[n])) {
      auto i = unstored_.find(change->job.id.seq);
      if (i != unstored_.end() && --i->second == 0)
        unstored_.erase(i);
    } else if (auto move = std::get_if<move_message>(&records[n])) {
      if (answers[n].done) {
        send(move->to, to_live(move->job), out);
        continue;
      }
      // The dead-letter queue is gone: there will be another one.
      if (dead_letters_ == move->to)
        dead_letters_.reset();
      come_back(*move, now, out);
      store_totals(out);
    }
  }
  return out;
}

/// Messages that go the same way are told of together.
void pull_queue::send(queue_id to, live_job&& message, pull_transition& out) {
  auto last = out.effects.empty() ? nullptr
                                  : std::get_if<send_away>(&out.effects.back());
  if (!last || last->to != to)
    last = &std::get<send_away>(out.effects.emplace_back(send_away{to, {}}));
  last->messages.push_back(std::move(message));
}

/// A move has not taken place: the message waits where it was to be redriven
/// from, or for another dead-letter queue.
void pull_queue::come_back(const move_message& what, moment now,
                           pull_transition& out) {
  auto m = what.job;
  auto is_redrive = m.source_queue.empty();
  --(is_redrive ? queue_.totals.redriven : queue_.totals.dead_lettered);
  if (is_live(m.id.seq))
    return;
  jobs_.add(to_entry(to_live(m), now),
            queue_.pull.fifo ? m.limit_key : std::string{});
  if (is_redrive)
    return;
  m.attempts = m.source_receives;
  m.source_queue.clear();
  m.source_receives = 0;
  m.dead_lettered_at.reset();
  if (queue_.pull.max_receive_count == 0) {
    m.status = job_status::processing;
    update(m, out, what.entry);
    return;
  }
  jobs_.take_out(m.id.seq);
  give_up({std::move(m), what.entry}, now, out);
}

bool pull_queue::loaded(std::vector<job>&& messages) {
  auto missing = [this](job_seq seq) {
    return is_live(seq) && !loaded_.contains(seq) && !leases_.contains(seq)
           && !changed_while_loading_.contains(seq);
  };
  auto lost = messages.empty()
              && std::any_of(loading_.begin(), loading_.end(), missing);
  loading_.clear();
  for (auto& m : messages)
    if (missing(m.id.seq))
      keep(std::move(m));
  changed_while_loading_.clear();
  return !lost;
}

bool pull_queue::has_room(const job& message) const {
  return loaded_.size() < loaded_max
         && loaded_bytes_ + message.payload.bytes().size() <= loaded_bytes_max;
}

void pull_queue::keep(job&& message) {
  loaded_bytes_ += message.payload.bytes().size();
  auto seq = message.id.seq;
  loaded_.insert_or_assign(seq, std::move(message));
}

std::optional<job> pull_queue::take_loaded(job_seq seq) {
  auto i = loaded_.find(seq);
  if (i == loaded_.end())
    return std::nullopt;
  auto result = std::move(i->second);
  loaded_bytes_ -= result.payload.bytes().size();
  loaded_.erase(i);
  return result;
}

void pull_queue::forget(job_seq seq) {
  take_loaded(seq);
  auto group = jobs_.find(seq)->lane;
  // The lane goes with its last message, unless that keeps it shut.
  jobs_.erase(seq);
  groups_.open(group, seq, jobs_);
}

void pull_queue::update(const job& message, pull_transition& out,
                        const std::optional<history_entry>& entry) {
  ++unstored_[message.id.seq];
  if (!loading_.empty())
    changed_while_loading_.insert(message.id.seq);
  if (redrives_ > 0)
    changed_.insert(message.id.seq);
  out.records.push_back(update_job{message, entry});
}

service_event pull_queue::make_event(event_kind kind, moment now) const {
  service_event result;
  result.kind = kind;
  result.project = queue_.project;
  result.queue = queue_.name;
  result.at = now.wall;
  result.is_message = true;
  return result;
}

void pull_queue::store_totals(pull_transition& out) const {
  out.store(update_pull_totals{queue_.id, queue_.totals});
}

// -- time ---------------------------------------------------------------------

pull_transition pull_queue::advance(moment now) {
  pull_transition out;
  auto before = queue_.totals;
  advanced_at_ = now;
  give_back_interrupted(now, out);
  end_leases(now, out);
  send_leaving(now, out);
  retire(now, out);
  serve(now, out);
  push_out(now, out);
  drop_waiters(now, out);
  if (before != queue_.totals)
    store_totals(out);
  return out;
}

void pull_queue::end_leases(moment now, pull_transition& out) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.steady) {
    ++queue_.totals.expired;
    end_lease(deadlines_.begin()->second, duration{0}, now, std::nullopt, out);
  }
}

void pull_queue::send_leaving(moment now, pull_transition& out) {
  if (leaving_.empty())
    return;
  if (dead_letters_) {
    for (auto& what : std::exchange(leaving_, {}))
      move_to(*dead_letters_, std::move(what), now, out);
  } else if (!asked_for_dead_letters_) {
    asked_for_dead_letters_ = true;
    out.effects.push_back(find_dead_letter_queue{});
  }
}

void pull_queue::found_dead_letter_queue(std::optional<queue_id> id) {
  asked_for_dead_letters_ = false;
  dead_letters_ = id;
}

void pull_queue::retire(moment now, pull_transition& out) {
  remove_jobs gone{queue_.id, {}};
  while (gone.seqs.size() < retired_max) {
    auto seq = jobs_.first_expired(now.steady);
    if (!seq)
      break;
    gone.seqs.push_back(*seq);
    forget(*seq);
    ++queue_.totals.retired;
  }
  if (!gone.seqs.empty())
    out.records.push_back(std::move(gone));
}

std::optional<steady_time> pull_queue::next_wakeup() const {
  std::optional<steady_time> result = jobs_.next_expiry();
  auto at = [&result](std::optional<steady_time> when) {
    if (when && (!result || *when < *result))
      result = when;
  };
  if (!deadlines_.empty())
    at(deadlines_.begin()->first);
  if (!waiters_.empty()) {
    at(jobs_.next_due());
    at(groups_.next_wakeup());
    if (!awaits_store())
      for (const auto& w : waiters_)
        at(w.deadline);
  }
  at(next_push());
  return result;
}

// -- figures ------------------------------------------------------------------

pull_queue_view pull_queue::view(moment now) {
  jobs_.mature(now.steady);
  groups_.wake(now.steady, jobs_);
  pull_queue_view result;
  result.queue = queue_;
  subscription_.write(result.queue, now);
  result.posts = subscription_.in_flight();
  result.available = jobs_.ready() - groups_.waiting();
  result.delayed = jobs_.waiting() + groups_.waiting();
  result.in_flight = leases_.size() + leaving_.size();
  if (auto oldest = jobs_.oldest())
    result.oldest_age = std::max(duration{0}, now.wall - *oldest);
  return result;
}

queue_counters pull_queue::counters(moment now) const {
  auto result = counters_;
  result.deliveries = subscription_.counters();
  result.held = subscription_.held(now);
  return result;
}

queue_metrics pull_queue::metrics(moment now) {
  jobs_.mature(now.steady);
  groups_.wake(now.steady, jobs_);
  queue_metrics result;
  result.kind = queue_kind::pull;
  auto& counts = result.counts;
  counts.pending = jobs_.ready() - groups_.waiting();
  counts.scheduled = jobs_.waiting() + groups_.waiting();
  counts.processing = leases_.size() + leaving_.size();
  counts.in_flight = counts.processing;
  if (auto oldest = jobs_.oldest())
    result.oldest_age = std::max(duration{0}, now.wall - *oldest);
  result.gates[static_cast<std::size_t>(subscription_.state())] = 1;
  result.counters = counters(now);
  if (subscription_.state() != gate_state::open) {
    auto g = subscription_.gate_now(now);
    result.shut_since = g.since;
    result.held_until = g.release_at;
  }
  result.totals = queue_.totals;
  return result;
}

message_view pull_queue::view(job&& stored, moment now) const {
  message_view result;
  result.queue_name = queue_.name;
  auto e = jobs_.find(stored.id.seq);
  if (e && e->out)
    result.status = message_status::in_flight;
  else if (e
           && std::max(e->due,
                       groups_.back_at(e->lane, stored.id.seq).value_or(e->due))
                > now.steady)
    result.status = message_status::delayed;
  result.job = std::move(stored);
  return result;
}

} // namespace tidegate
