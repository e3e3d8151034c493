// What becomes of messages that were received.

#include <algorithm>

#include "actors/core/pull_queue.hpp"

namespace tidegate {

namespace {

/// How long what was acked is remembered, for those who say it twice and for
/// its idempotency key.
constexpr duration remembered = std::chrono::hours{24};

error not_in_flight() {
  return {errc::message_not_in_flight,
          "The message is not in flight, or not under this receipt handle"};
}

error not_found() {
  return {errc::message_not_found, "Message not found"};
}

/// @pre `what` is `nack` or `release`
delivery_status status_of(settle_message::kind what) {
  return what == settle_message::kind::nack ? delivery_status::lease_nacked
                                            : delivery_status::lease_released;
}

/// What is kept of a lease that was ended under its handle, so that the same
/// can be said again.
std::optional<history_entry> entry_of(const settle_message& what, const job& m,
                                      duration wait, moment now) {
  if (!what.handle)
    return std::nullopt;
  history_entry result;
  result.attempt = m.attempts;
  result.delivery = m.deliveries;
  result.status = status_of(what.what);
  result.retry_after = wait;
  result.at = now.wall;
  return result;
}

bool is_of(const settle_message& what, std::uint64_t delivery) {
  return *what.handle == make_receipt(what.id, delivery);
}

/// Returns what was answered when exactly this was said before, if it was. An
/// extension said again extends once more, or comes too late.
std::optional<message_settled> find_repeat(const settle_message& what,
                                           const job_record& stored) {
  if (!what.handle || what.what == settle_message::kind::extend)
    return std::nullopt;
  message_settled result;
  result.id = what.id;
  result.duplicate = true;
  if (what.what == settle_message::kind::ack) {
    const auto& m = stored.job;
    if (m.reported != callback_kind::ack || !is_of(what, m.reported_delivery))
      return std::nullopt;
    if (m.published) {
      result.successor = to_published(*m.published);
      result.successor_queue = m.published->queue_name;
    }
    return result;
  }
  for (const auto& entry : stored.history)
    if (entry.status == status_of(what.what) && is_of(what, entry.delivery)) {
      result.visible_at = after(entry.at,
                                entry.retry_after.value_or(duration{0}));
      return result;
    }
  return std::nullopt;
}

} // namespace

message_published to_published(const successor& what) {
  return {{what.id.seq, what.id.tag},
          what.created_at,
          what.eligible_at,
          what.duplicate};
}

settle_decision pull_queue::settle(const settle_message& what,
                                   const std::optional<job_record>& stored,
                                   moment now, pull_transition& out) {
  // What no message can be called was never one.
  if (what.id.seq == job_seq{})
    return not_found();
  if (is_leased(what))
    return settle_lease(what, leases_.at(what.id.seq), now, out);
  return settle_other(what, stored);
}

bool pull_queue::is_leased(const settle_message& what) const {
  auto i = leases_.find(what.id.seq);
  if (i == leases_.end() || i->second.message.id.tag != what.id.tag)
    return false;
  return !what.handle || is_of(what, i->second.message.deliveries);
}

/// It is not leased, or under another handle, or is not here. What this queue
/// has given up on is known by the name that it has with it.
settle_decision
pull_queue::settle_other(const settle_message& what,
                         const std::optional<job_record>& stored) const {
  if (!stored)
    return read_message{};
  const auto& m = stored->job;
  auto is_known = m.id.tag == what.id.tag
                  && (m.id.queue == queue_.id || m.source_queue == queue_.name);
  if (!is_known)
    return not_found();
  if (auto repeat = find_repeat(what, *stored))
    return *std::move(repeat);
  return not_in_flight();
}

message_settled pull_queue::settle_lease(const settle_message& what, lease& l,
                                         moment now, pull_transition& out) {
  auto seq = what.id.seq;
  message_settled result;
  result.id = what.id;
  switch (what.what) {
    case settle_message::kind::ack:
      l.message.reported = callback_kind::ack;
      l.message.reported_delivery = l.message.deliveries;
      ++queue_.totals.acked;
      ack(seq, now, out);
      break;
    case settle_message::kind::nack: {
      ++queue_.totals.nacked;
      auto wait = is_spent(l.message) ? duration{0} : what.wait;
      result.visible_at = end_lease(seq, wait, now,
                                    entry_of(what, l.message, wait, now), out);
      break;
    }
    case settle_message::kind::release:
      give_back(seq, now, entry_of(what, l.message, duration{0}, now), out);
      result.visible_at = now.wall;
      break;
    case settle_message::kind::extend:
      result.visible_at = extend(seq, what.wait, now, out);
      return result;
  }
  store_totals(out);
  return result;
}

job pull_queue::take_lease(job_seq seq) {
  auto i = leases_.find(seq);
  auto result = std::move(i->second.message);
  result.started_delivery = 0;
  if (i->second.deadline)
    deadlines_.erase({*i->second.deadline, seq});
  leases_.erase(i);
  return result;
}

void pull_queue::ack(job_seq seq, moment now, pull_transition& out) {
  auto m = take_lease(seq);
  m.status = job_status::completed;
  m.ended_at = now.wall;
  m.remove_at = after(now.wall, remembered);
  forget(seq);
  ++queue_.completed;
  out.records.push_back(end_job{std::move(m), std::nullopt});
}

void pull_queue::add_successor(insert_job&& successor, std::string queue_name,
                               pull_transition& out) {
  for (auto& r : out.records)
    if (auto end = std::get_if<end_job>(&r)) {
      r = hand_over{std::move(end->job), std::move(successor),
                    std::move(queue_name)};
      return;
    }
}

bool pull_queue::is_spent(const job& message) const {
  auto most = queue_.pull.max_receive_count;
  return most > 0 && message.attempts >= most;
}

/// The lease has ended without an ack. Returns when the message is available.
wall_time pull_queue::end_lease(job_seq seq, duration wait, moment now,
                                const std::optional<history_entry>& entry,
                                pull_transition& out) {
  auto m = take_lease(seq);
  if (is_spent(m)) {
    m.due = now.wall;
    give_up({std::move(m), entry}, now, out);
    return now.wall;
  }
  make_available(std::move(m), after(now.steady, wait), now, entry, out);
  return after(now.wall, wait);
}

/// The delivery does not count, and the message keeps its place.
void pull_queue::give_back(job_seq seq, moment now,
                           const std::optional<history_entry>& entry,
                           pull_transition& out) {
  auto m = take_lease(seq);
  --m.attempts;
  auto due = queue_.pull.fifo ? now.steady : jobs_.find(seq)->due;
  make_available(std::move(m), due, now, entry, out);
}

/// What was leased can be received at `due`. On a fifo queue it keeps its place
/// and its group waits until then.
void pull_queue::make_available(job&& message, steady_time due, moment now,
                                const std::optional<history_entry>& entry,
                                pull_transition& out) {
  auto seq = message.id.seq;
  auto later = due > now.steady;
  message.status = message.attempts > 0 ? job_status::processing
                                        : job_status::pending;
  message.waits_for = later ? wait_kind::delay : wait_kind::none;
  message.due = to_wall(due, now);
  if (!queue_.pull.fifo) {
    jobs_.put_back(seq, due, message.waits_for);
  } else {
    auto group = jobs_.find(seq)->lane;
    jobs_.put_back(seq, jobs_.find(seq)->due, wait_kind::none);
    if (later)
      groups_.open_at(group, seq, due);
    else
      groups_.open(group, seq, jobs_);
  }
  update(message, out, entry);
}

wall_time pull_queue::extend(job_seq seq, duration wait, moment now,
                             pull_transition& out) {
  auto& l = leases_.at(seq);
  // What is pushed ends with its delivery.
  if (l.deadline) {
    deadlines_.erase({*l.deadline, seq});
    l.deadline = after(now.steady, wait);
    deadlines_.emplace(*l.deadline, seq);
  }
  l.message.due = after(now.wall, wait);
  update(l.message, out);
  return l.message.due;
}

/// The message leaves. Where it is not known yet where to, it is stored that it
/// does, so that its lease does not end once more after a death.
void pull_queue::give_up(leaving_message&& what, moment now,
                         pull_transition& out) {
  if (!dead_letters_) {
    auto& message = what.message;
    message.status = job_status::processing;
    message.waits_for = wait_kind::dead_letter_queue;
    update(message, out, std::exchange(what.entry, std::nullopt));
  }
  leaving_.push_back(std::move(what));
  send_leaving(now, out);
}

/// Moves a message that has been received too often.
void pull_queue::move_to(queue_id to, leaving_message&& what, moment now,
                         pull_transition& out) {
  auto& message = what.message;
  message.source_queue = queue_.name;
  message.source_receives = message.attempts;
  message.dead_lettered_at = now.wall;
  message.attempts = 0;
  message.status = job_status::pending;
  message.waits_for = wait_kind::none;
  message.due = now.wall;
  message.eligible_at = now.wall;
  ++queue_.totals.dead_lettered;
  forget(message.id.seq);
  auto event = make_event(event_kind::message_dead, now);
  event.job = message.id;
  out.effects.emplace_back(emit{std::move(event)});
  out.records.push_back(
    move_message{std::move(message), to, std::move(what.entry)});
}

pull_transition pull_queue::returned(const return_messages& what, moment now) {
  pull_transition out;
  for (const auto& item : what.items) {
    auto i = leases_.find(item.id.seq);
    if (i == leases_.end()
        || make_receipt(item.id, i->second.message.deliveries) != item.handle)
      continue;
    --queue_.totals.received;
    give_back(item.id.seq, now, std::nullopt, out);
  }
  if (!out.records.empty())
    store_totals(out);
  return out;
}

} // namespace tidegate
