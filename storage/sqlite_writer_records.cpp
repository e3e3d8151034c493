// What the connection that writes does with each record.

#include "storage/job_rules.hpp"
#include "storage/sqlite_writer.hpp"

namespace tidegate {

// -- queues -------------------------------------------------------------------

std::optional<error> sqlite_writer::apply(const insert_queue& what,
                                          commit_answer&) {
  if (auto reason = queues_.insert(what.queue))
    return reason;
  return pulls_.insert(what.queue);
}

std::optional<error> sqlite_writer::apply(const update_queue& what,
                                          commit_answer&) {
  if (auto reason = tally_.require(what.id))
    return reason;
  return queues_.update(what);
}

std::optional<error> sqlite_writer::apply(const update_gate& what,
                                          commit_answer&) {
  if (auto reason = tally_.require(what.id))
    return reason;
  return queues_.set_gate(what.id, what.gate);
}

std::optional<error> sqlite_writer::apply(const update_rate& what,
                                          commit_answer&) {
  if (auto reason = tally_.require(what.id))
    return reason;
  return queues_.set_rate(what.id, what.rate);
}

std::optional<error> sqlite_writer::apply(const update_secrets& what,
                                          commit_answer&) {
  if (auto reason = tally_.require(what.id))
    return reason;
  return queues_.set_secrets(what);
}

std::optional<error> sqlite_writer::apply(const update_limit_key& what,
                                          commit_answer&) {
  if (auto reason = tally_.require(what.id))
    return reason;
  return limit_keys_.set(what);
}

std::optional<error> sqlite_writer::apply(const remove_queue& what,
                                          commit_answer&) {
  if (auto reason = tally_.require(what.id))
    return reason;
  // Usage is written with the project of its queue, which is about to go.
  if (auto reason = usage_.write())
    return reason;
  if (auto reason = ended_.remove_all(what.id))
    return reason;
  if (auto reason = limit_keys_.remove_all(what.id))
    return reason;
  if (auto reason = pulls_.remove(what.id))
    return reason;
  tally_.drop(what.id);
  return queues_.remove(what.id);
}

// -- jobs ---------------------------------------------------------------------

std::optional<error> sqlite_writer::apply(const insert_job& what,
                                          commit_answer& answer) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  if (auto reason = tally_.require(what.job.id.queue))
    return reason;
  if (auto reason = jobs_.insert(what, answer))
    return reason;
  if (answer.existing)
    return std::nullopt;
  usage_.count(what);
  return pulls_.count_published(what.job.id.queue);
}

std::optional<error> sqlite_writer::apply(const update_job& what,
                                          commit_answer&) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  if (may_be_receive(what.job, what.entry))
    if (auto reason = count_receive(what.job))
      return reason;
  if (auto reason = jobs_.update(what))
    return reason;
  usage_.count(what.job.id.queue, what.entry);
  return std::nullopt;
}

// Whether it is one is told by the row before the change.
std::optional<error> sqlite_writer::count_receive(const job& message) {
  auto known = pulls_.is_pull(message.id.queue);
  if (!known)
    return known.reason();
  if (!*known)
    return std::nullopt;
  auto before = jobs_.deliveries(message.id);
  if (!before)
    return before.reason();
  if (*before && message.deliveries > **before)
    usage_.count_receive(message);
  return std::nullopt;
}

std::optional<error> sqlite_writer::apply(const end_job& what, commit_answer&) {
  return end(what.job, what.entry);
}

std::optional<error>
sqlite_writer::end(const job& what, const std::optional<history_entry>& entry) {
  if (!has_ended(what))
    return wrong_status(what);
  if (auto reason = jobs_.end(what, entry))
    return reason;
  tally_.count(what.id.queue, what.status);
  usage_.count(what.id.queue, entry);
  return std::nullopt;
}

std::optional<error> sqlite_writer::apply(const revive_job& what,
                                          commit_answer& answer) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  if (auto reason = ended_.revive(what, answer))
    return reason;
  tally_.take_off(what.job.id.queue, answer.completed, answer.dead);
  return std::nullopt;
}

std::optional<error> sqlite_writer::apply(const remove_jobs& what,
                                          commit_answer& answer) {
  if (auto reason = ended_.remove(what, answer))
    return reason;
  tally_.take_off(what.id, answer.completed, answer.dead);
  return std::nullopt;
}

// -- messages -----------------------------------------------------------------

std::optional<error> sqlite_writer::apply(const update_pull_settings& what,
                                          commit_answer&) {
  return pulls_.set_settings(what);
}

std::optional<error> sqlite_writer::apply(const update_pull_totals& what,
                                          commit_answer&) {
  return pulls_.set_totals(what);
}

std::optional<error> sqlite_writer::apply(const move_message& what,
                                          commit_answer& answer) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  auto known = tally_.knows(what.to);
  if (!known)
    return known.reason();
  return *known ? jobs_.move(what, answer) : std::nullopt;
}

std::optional<error> sqlite_writer::apply(const hand_over& what,
                                          commit_answer& answer) {
  if (!has_ended(what.message))
    return wrong_status(what.message);
  if (has_ended(what.next.job))
    return wrong_status(what.next.job);
  auto known = tally_.knows(what.next.job.id.queue);
  if (!known)
    return known.reason();
  if (!*known)
    return std::nullopt;
  if (auto reason = end(what.message, std::nullopt))
    return reason;
  if (auto reason = apply(what.next, answer))
    return reason;
  answer.done = true;
  return jobs_.set_published(what.message.id.seq,
                             outcome_of(what.next, answer.existing,
                                        what.queue_name));
}

// -- operations and API keys --------------------------------------------------

std::optional<error> sqlite_writer::apply(const insert_operation& what,
                                          commit_answer&) {
  return operations_.insert(what.operation);
}

std::optional<error> sqlite_writer::apply(const update_operation& what,
                                          commit_answer&) {
  return operations_.update(what.operation);
}

std::optional<error> sqlite_writer::apply(const insert_api_key& what,
                                          commit_answer& answer) {
  return api_keys_.insert(what.key, answer.key);
}

std::optional<error> sqlite_writer::apply(const remove_api_key& what,
                                          commit_answer& answer) {
  return api_keys_.remove(what.id, answer.done);
}

} // namespace tidegate
