// What operators do to a pull queue.

#include "actors/core/pull_queue.hpp"

namespace tidegate {

pull_transition pull_queue::change_settings(const pull_settings& settings,
                                            moment now) {
  pull_transition out;
  if (settings.dead_letter_queue != queue_.pull.dead_letter_queue)
    dead_letters_.reset();
  jobs_.shift_expiry(settings.message_retention
                     - queue_.pull.message_retention);
  queue_.pull = settings;
  queue_.updated_at = now.wall;
  out.records.push_back(update_pull_settings{queue_.id, settings, now.wall});
  out.effects.emplace_back(emit{make_event(event_kind::queue_changed, now)});
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
    out.records.push_back(move_message{std::move(m), to});
  }
  if (out.records.empty())
    return out;
  auto event = make_event(event_kind::messages_redriven, now);
  event.count = out.records.size();
  out.effects.emplace_back(emit{std::move(event)});
  store_totals(out);
  return out;
}

std::vector<job_seq> pull_queue::next_messages(std::size_t count, moment now) {
  jobs_.mature(now.steady);
  groups_.wake(now.steady, jobs_);
  auto result = jobs_.ready_front(count);
  if (result.size() > count)
    result.resize(count);
  return result;
}

pull_transition pull_queue::stop() {
  pull_transition out;
  waiters_.clear();
  subscription_.stop(out);
  return out;
}

} // namespace tidegate
