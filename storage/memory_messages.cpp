// What a memory store does with the records of pull queues and their messages.

#include "storage/job_rules.hpp"
#include "storage/memory_changes.hpp"
#include "storage/memory_rows.hpp"

namespace tidegate {

std::optional<error> memory_changes::apply_one(const update_pull_settings& what,
                                               commit_answer&) {
  return change_pull_queue(what.id, [&](queue_record& queue) {
    set(queue.pull, what.settings);
    set(queue.updated_at, what.updated_at);
  });
}

std::optional<error> memory_changes::apply_one(const update_pull_totals& what,
                                               commit_answer&) {
  return change_pull_queue(what.id, [&](queue_record& queue) {
    auto next = what.totals;
    next.published = queue.totals.published;
    set(queue.totals, next);
  });
}

std::optional<error> memory_changes::apply_one(const move_message& what,
                                               commit_answer& answer) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  auto* present = live(what.job.id);
  if (!present || !where_.queues.contains(what.to))
    return std::nullopt;
  auto& job = present->job;
  remember(job);
  change(job, what.job);
  change_life(job, what.job);
  job.id.queue = what.to;
  add_entry(*present, what.entry);
  answer.done = true;
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const hand_over& what,
                                               commit_answer& answer) {
  if (!has_ended(what.message))
    return wrong_status(what.message);
  if (has_ended(what.next.job))
    return wrong_status(what.next.job);
  if (!where_.queues.contains(what.next.job.id.queue))
    return std::nullopt;
  if (auto reason = apply_one(end_job{what.message, std::nullopt}, answer))
    return reason;
  if (auto reason = apply_one(what.next, answer))
    return reason;
  set(where_.ended.at(what.message.id.seq).job.published,
      outcome_of(what.next, answer.existing, what.queue_name));
  answer.done = true;
  return std::nullopt;
}

} // namespace tidegate
