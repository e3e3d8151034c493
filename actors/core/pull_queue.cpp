#include "actors/core/pull_queue.hpp"

#include <algorithm>
#include <cassert>

namespace tidegate {

namespace {

/// Most messages that are kept in memory to be handed out, and most bytes of
/// payload that they may have before no more are kept.
constexpr std::size_t loaded_max = 1024;
constexpr std::size_t loaded_bytes_max = 4 * 1024 * 1024;

/// How many messages are asked for at once.
constexpr std::size_t load_count = 64;

/// Most messages that are removed in one commit because they have waited too
/// long.
constexpr std::size_t retired_max = 256;

due_heap::entry to_entry(const live_job& m, moment now) {
  due_heap::entry result;
  result.seq = m.seq;
  result.due = to_steady(m.due, now);
  if (m.waits_for == wait_kind::none)
    result.due = std::min(result.due, now.steady);
  result.expires = to_steady(m.expires_at, now);
  result.created_at = m.created_at;
  result.waits_for = m.waits_for;
  result.delivered = m.deliveries > 0;
  result.priority = m.priority;
  return result;
}

job to_job(const live_job& m, queue_id queue) {
  job result;
  result.id = {queue, m.seq, m.tag};
  result.created_at = m.created_at;
  result.due = m.due;
  result.expires_at = m.expires_at;
  result.waits_for = m.waits_for;
  result.status = m.status;
  result.attempts = m.attempts;
  result.deliveries = m.deliveries;
  result.replays = m.replays;
  result.priority = m.priority;
  return result;
}

live_job to_live(const job& m) {
  live_job result;
  result.seq = m.id.seq;
  result.tag = m.id.tag;
  result.due = m.due;
  result.expires_at = m.expires_at;
  result.created_at = m.created_at;
  result.waits_for = m.waits_for;
  result.status = m.status;
  result.attempts = m.attempts;
  result.deliveries = m.deliveries;
  result.replays = m.replays;
  result.priority = m.priority;
  return result;
}

error wrong(const char* field, std::string what) {
  return {errc::validation_failed, field + (" " + std::move(what))};
}

} // namespace

pull_queue::pull_queue(const queue_snapshot& stored, moment now)
  : queue_(stored.queue) {
  for (const auto& m : stored.jobs)
    take_up(m, now);
}

void pull_queue::take_up(const live_job& m, moment now) {
  jobs_.add(to_entry(m, now));
  if (m.status != job_status::awaiting_ack)
    return;
  jobs_.take_out(m.seq);
  auto deadline = to_steady(m.due, now);
  leases_.emplace(m.seq, lease{to_job(m, queue_.id), deadline});
  deadlines_.emplace(deadline, m.seq);
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
  auto delay = what.delay.value_or(settings.delay);
  job result;
  result.id = {queue_.id, id.seq, id.tag};
  result.payload = what.payload;
  result.idempotency_key = what.idempotency_key;
  result.priority = what.priority;
  result.context = job_context{{what.headers, {}, {}}};
  result.created_at = now.wall;
  result.eligible_at = after(now.wall, delay);
  result.due = result.eligible_at;
  result.expires_at = after(result.eligible_at, settings.message_retention);
  if (delay > duration{0}) {
    result.waits_for = wait_kind::delay;
    result.waits_since = now.wall;
  }
  return result;
}

void pull_queue::stored(job&& what, moment made, moment now) {
  ++queue_.totals.published;
  jobs_.add(to_entry(to_live(what), made));
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
      if (i != unstored_.end() && --i->second.changes == 0)
        unstored_.erase(i);
    } else if (auto move = std::get_if<move_message>(&records[n])) {
      if (answers[n].done) {
        out.effects.push_back(send_away{move->to, {to_live(move->job)}});
        continue;
      }
      // The dead-letter queue is gone: there will be another one.
      if (dead_letters_ == move->to)
        dead_letters_.reset();
      come_back(*move, now);
      store_totals(out);
    }
  }
  return out;
}

/// A move has not taken place: what the store has is the lease that had ended,
/// or the message that waits where it was to be redriven from.
void pull_queue::come_back(const move_message& what, moment now) {
  auto m = what.job;
  auto is_redrive = m.source_queue.empty();
  --(is_redrive ? queue_.totals.redriven : queue_.totals.dead_lettered);
  if (is_live(m.id.seq))
    return;
  due_heap::entry e = to_entry(to_live(m), now);
  jobs_.add(e);
  if (is_redrive || queue_.pull.max_receive_count == 0)
    return;
  jobs_.take_out(m.id.seq);
  leaving_.push_back(std::move(m));
}

bool pull_queue::loaded(std::vector<job>&& messages) {
  auto missing = [this](job_seq seq) {
    return is_live(seq) && !loaded_.contains(seq) && !leases_.contains(seq);
  };
  auto lost = messages.empty()
              && std::any_of(loading_.begin(), loading_.end(), missing);
  loading_.clear();
  for (auto& m : messages)
    if (missing(m.id.seq))
      keep(std::move(m));
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
  jobs_.erase(seq);
}

void pull_queue::update(const job& message, pull_transition& out) {
  auto& newer = unstored_[message.id.seq];
  newer.receives = message.attempts;
  newer.leases = message.deliveries;
  ++newer.changes;
  if (redrives_ > 0)
    changed_.insert(message.id.seq);
  out.records.push_back(update_job{message, std::nullopt});
}

void pull_queue::store_totals(pull_transition& out) const {
  out.records.push_back(update_pull_totals{queue_.id, queue_.totals});
}

// -- receiving ----------------------------------------------------------------

void pull_queue::wait(waiter_id id, const consume_messages& request,
                      moment now) {
  waiter w;
  w.id = id;
  w.limit = request.limit;
  w.visibility =
    request.visibility_timeout.value_or(queue_.pull.visibility_timeout);
  w.deadline = after(now.steady, request.wait);
  w.gone = request.gone;
  waiters_.push_back(std::move(w));
}

void pull_queue::drop_waiters(moment now, pull_transition& out) {
  std::erase_if(waiters_, [&](const waiter& w) {
    auto gone = w.gone && w.gone->load();
    // Who waits no longer still gets what is being read for it.
    if (!gone && (w.deadline > now.steady || !loading_.empty()))
      return false;
    out.effects.push_back(hand_out{w.id, {}});
    return true;
  });
}

void pull_queue::serve(moment now, pull_transition& out) {
  jobs_.mature(now.steady);
  while (!waiters_.empty() && serve_first(now, out))
    ;
}

/// Returns whether there may be something for the next one.
bool pull_queue::serve_first(moment now, pull_transition& out) {
  const auto& w = waiters_.front();
  if (w.gone && w.gone->load()) {
    out.effects.push_back(hand_out{w.id, {}});
    waiters_.pop_front();
    return true;
  }
  auto next = jobs_.ready_front(0, w.limit);
  if (next.empty())
    return false;
  std::erase_if(next, [this](job_seq seq) { return !loaded_.contains(seq); });
  auto all = next.size() == std::min(w.limit, jobs_.ready());
  if (!all && loading_.empty()) {
    // What is far down the line is read along with it.
    loading_ = jobs_.ready_front(0, load_count);
    std::erase_if(loading_,
                  [this](job_seq seq) { return loaded_.contains(seq); });
    out.effects.push_back(load_messages{loading_});
  }
  if (!all && next.empty())
    return false;
  hand_out effect{w.id, {}};
  for (auto seq : next)
    effect.messages.push_back(hand(*take_loaded(seq), w, now, out));
  waiters_.pop_front();
  out.effects.push_back(std::move(effect));
  return true;
}

message_view pull_queue::hand(job&& message, const waiter& to, moment now,
                              pull_transition& out) {
  auto seq = message.id.seq;
  if (auto newer = unstored_.find(seq); newer != unstored_.end()) {
    message.attempts = newer->second.receives;
    message.deliveries = newer->second.leases;
  }
  ++message.attempts;
  ++message.deliveries;
  ++queue_.totals.received;
  message.status = job_status::awaiting_ack;
  message.waits_for = wait_kind::none;
  message.waits_since = now.wall;
  message.due = after(now.wall, to.visibility);
  jobs_.take_out(seq);
  auto deadline = after(now.steady, to.visibility);
  deadlines_.emplace(deadline, seq);
  message_view result;
  result.job = message;
  result.queue_name = queue_.name;
  result.status = message_status::in_flight;
  result.handle = make_receipt({seq, message.id.tag}, message.deliveries);
  message.payload = {};
  update(message, out);
  leases_.emplace(seq, lease{std::move(message), deadline});
  return result;
}

// -- time ---------------------------------------------------------------------

pull_transition pull_queue::advance(moment now) {
  pull_transition out;
  auto before = queue_.totals;
  end_leases(now, out);
  send_leaving(now, out);
  retire(now, out);
  serve(now, out);
  drop_waiters(now, out);
  if (before != queue_.totals)
    store_totals(out);
  return out;
}

void pull_queue::end_leases(moment now, pull_transition& out) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.steady) {
    ++queue_.totals.expired;
    end_lease(deadlines_.begin()->second, callback_kind::none, duration{0}, now,
              out);
  }
}

void pull_queue::send_leaving(moment now, pull_transition& out) {
  if (leaving_.empty())
    return;
  if (dead_letters_) {
    for (auto& m : std::exchange(leaving_, {}))
      move_to(*dead_letters_, std::move(m), now, out);
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
  if (waiters_.empty())
    return result;
  at(jobs_.next_due());
  if (loading_.empty())
    for (const auto& w : waiters_)
      at(w.deadline);
  return result;
}

// -- operators ----------------------------------------------------------------

pull_transition pull_queue::change_settings(const pull_settings& settings,
                                            moment now) {
  pull_transition out;
  if (settings.dead_letter_queue != queue_.pull.dead_letter_queue)
    dead_letters_.reset();
  queue_.pull = settings;
  queue_.updated_at = now.wall;
  out.records.push_back(update_pull_settings{queue_.id, settings, now.wall});
  return out;
}

pull_transition pull_queue::purge(due_heap::idle_range& range,
                                  std::size_t count) {
  pull_transition out;
  remove_jobs gone{queue_.id, jobs_.idle(range, count)};
  for (auto seq : gone.seqs)
    forget(seq);
  if (!gone.seqs.empty())
    out.records.push_back(std::move(gone));
  return out;
}

pull_transition
pull_queue::remove_ended(const std::vector<job_seq>& seqs) const {
  pull_transition out;
  remove_jobs gone{queue_.id, {}};
  for (auto seq : seqs)
    if (!is_live(seq))
      gone.seqs.push_back(seq);
  if (!gone.seqs.empty())
    out.records.push_back(std::move(gone));
  return out;
}

void pull_queue::begin_redrive() {
  ++redrives_;
  for (const auto& [seq, newer] : unstored_)
    changed_.insert(seq);
}

void pull_queue::end_redrive() {
  if (--redrives_ == 0)
    changed_.clear();
}

pull_transition pull_queue::redrive(const std::vector<redrive_target>& targets,
                                    moment now) {
  pull_transition out;
  for (const auto& [message, to] : targets) {
    auto e = jobs_.find(message.id.seq);
    if (!e || e->out || changed_.contains(message.id.seq))
      continue;
    auto m = message;
    ++m.replays;
    m.source_queue.clear();
    m.source_receives = 0;
    m.dead_lettered_at.reset();
    forget(m.id.seq);
    changed_.insert(m.id.seq);
    ++queue_.totals.redriven;
    m.attempts = 0;
    m.eligible_at = now.wall;
    m.due = now.wall;
    m.waits_for = wait_kind::none;
    m.status = job_status::pending;
    m.expires_at = after(now.wall, queue_.pull.message_retention);
    out.records.push_back(move_message{std::move(m), to});
  }
  if (!out.records.empty())
    store_totals(out);
  return out;
}

std::vector<job_seq> pull_queue::next_messages(std::size_t count, moment now) {
  jobs_.mature(now.steady);
  return jobs_.ready_front(0, count);
}

// -- figures ------------------------------------------------------------------

pull_queue_view pull_queue::view(moment now) {
  jobs_.mature(now.steady);
  pull_queue_view result;
  result.queue = queue_;
  result.available = jobs_.ready();
  result.delayed = jobs_.waiting();
  result.in_flight = leases_.size() + leaving_.size();
  if (auto oldest = jobs_.oldest())
    result.oldest_age = std::max(duration{0}, now.wall - *oldest);
  return result;
}

message_view pull_queue::view(job&& stored, moment now) const {
  message_view result;
  result.queue_name = queue_.name;
  auto e = jobs_.find(stored.id.seq);
  if (e && e->out)
    result.status = message_status::in_flight;
  else if (e && e->due > now.steady)
    result.status = message_status::delayed;
  result.job = std::move(stored);
  return result;
}

} // namespace tidegate
