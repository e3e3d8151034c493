#include "storage/memory_contents.hpp"

#include <algorithm>

namespace tidegate {

namespace {

error refusal(std::string message) {
  return {errc::storage_unavailable, std::move(message)};
}

error no_queue(queue_id id) {
  return refusal("no queue has number " + std::to_string(id.value));
}

error not_live(const job& what) {
  return refusal(to_string(what.id) + " is not a live job of its queue");
}

error wrong_status(const job& what) {
  return refusal(to_string(what.id) + " cannot be stored as "
                 + to_string(what.status) + " by this record");
}

bool has_ended(const job& what) {
  return what.status == job_status::completed
         || what.status == job_status::dead;
}

// Takes over what deliveries change; the rest stays as it was published.
void change(job& stored, const job& what) {
  stored.status = what.status;
  stored.attempts = what.attempts;
  stored.defers = what.defers;
  stored.deliveries = what.deliveries;
  stored.due = what.due;
  stored.waits_for = what.waits_for;
  stored.waits_since = what.waits_since;
  stored.expires_at = what.expires_at;
  stored.started_delivery = what.started_delivery;
}

template <class Table>
void assign(Table& table, const typename Table::key_type& key,
            const std::optional<typename Table::mapped_type>& value) {
  if (value)
    table.insert_or_assign(key, *value);
  else
    table.erase(key);
}

} // namespace

// -- primitives ---------------------------------------------------------------

template <class Table>
void memory_changes::set(Table& table, typename Table::key_type key,
                         std::optional<typename Table::mapped_type> value) {
  std::optional<typename Table::mapped_type> old;
  if (auto present = table.find(key); present != table.end())
    old = present->second;
  undo_.push_back([&table, key, old] { assign(table, key, old); });
  assign(table, key, value);
}

template <class T>
void memory_changes::set(T& variable, T value) {
  undo_.push_back([&variable, old = variable] { variable = old; });
  variable = value;
}

template <class F>
std::optional<error> memory_changes::change_queue(queue_id id, F change) {
  auto present = where_.queues.find(id);
  if (present == where_.queues.end())
    return no_queue(id);
  auto queue = present->second;
  change(queue);
  set(where_.queues, id, std::move(queue));
  return std::nullopt;
}

std::optional<job_record>
memory_changes::changed(const job& what,
                        const std::optional<history_entry>& entry) const {
  auto present = where_.live.find(what.id.seq);
  if (present == where_.live.end()
      || present->second.job.id.queue != what.id.queue)
    return std::nullopt;
  auto next = present->second;
  change(next.job, what);
  if (!entry)
    return next;
  next.history.push_back(*entry);
  if (next.history.size() > history_max) {
    next.history.erase(next.history.begin());
    ++next.history_dropped;
  }
  return next;
}

// -- queues -------------------------------------------------------------------

std::optional<error> memory_changes::apply(const record& what,
                                           commit_answer& answer) {
  return std::visit([&](auto& one) { return apply_one(one, answer); }, what);
}

std::optional<error> memory_changes::apply_one(const insert_queue& what,
                                               commit_answer&) {
  auto& added = what.queue;
  for (auto& [id, queue] : where_.queues)
    if (id == added.id || queue.name == added.name)
      return refusal("there is a queue of that number or name");
  set(where_.queues, added.id, added);
  set(where_.last_queue, std::max(where_.last_queue, added.id));
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const update_queue& what,
                                               commit_answer&) {
  return change_queue(what.id, [&](queue_record& queue) {
    queue.settings = what.settings;
    queue.paused = what.paused;
    queue.paused_since = what.paused_since;
    queue.updated_at = what.updated_at;
  });
}

std::optional<error> memory_changes::apply_one(const update_gate& what,
                                               commit_answer&) {
  return change_queue(what.id,
                      [&](queue_record& queue) { queue.gate = what.gate; });
}

std::optional<error> memory_changes::apply_one(const update_rate& what,
                                               commit_answer&) {
  return change_queue(what.id,
                      [&](queue_record& queue) { queue.rate = what.rate; });
}

std::optional<error> memory_changes::apply_one(const remove_queue& what,
                                               commit_answer&) {
  if (!where_.queues.contains(what.id))
    return no_queue(what.id);
  for (auto* table : {&where_.live, &where_.ended}) {
    std::vector<job_id> theirs;
    for (auto& [seq, stored] : *table)
      if (stored.job.id.queue == what.id)
        theirs.push_back(stored.job.id);
    for (auto& id : theirs)
      set(*table, id.seq, std::nullopt);
  }
  std::vector<memory_contents::key> keys;
  for (auto& [key, seq] : where_.keys)
    if (key.first == what.id)
      keys.push_back(key);
  for (auto& key : keys)
    set(where_.keys, key, std::nullopt);
  set(where_.queues, what.id, std::nullopt);
  return std::nullopt;
}

// -- jobs ---------------------------------------------------------------------

std::optional<error> memory_changes::apply_one(const insert_job& what,
                                               commit_answer& answer) {
  auto& added = what.job;
  if (has_ended(added))
    return wrong_status(added);
  if (!where_.queues.contains(added.id.queue))
    return no_queue(added.id.queue);
  memory_contents::key key{added.id.queue, added.idempotency_key};
  if (auto holder = where_.keys.find(key); holder != where_.keys.end()) {
    auto live = where_.live.find(holder->second);
    answer.existing = live != where_.live.end()
                        ? live->second.job
                        : where_.ended.at(holder->second).job;
    return std::nullopt;
  }
  if (where_.live.contains(added.id.seq) || where_.ended.contains(added.id.seq))
    return refusal("there is a job of that number");
  if (!added.idempotency_key.empty())
    set(where_.keys, key, added.id.seq);
  auto stored = added;
  stored.dead_reason = dead_reason::none;
  stored.ended_at.reset();
  set(where_.live, added.id.seq, job_record{stored, {}, 0});
  set(where_.last_job, std::max(where_.last_job, added.id.seq));
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const update_job& what,
                                               commit_answer&) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  auto next = changed(what.job, what.entry);
  if (!next)
    return not_live(what.job);
  set(where_.live, what.job.id.seq, std::move(next));
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const end_job& what,
                                               commit_answer&) {
  if (!has_ended(what.job))
    return wrong_status(what.job);
  auto next = changed(what.job, what.entry);
  if (!next)
    return not_live(what.job);
  next->job.dead_reason = what.job.dead_reason;
  next->job.ended_at = what.job.ended_at;
  set(where_.live, what.job.id.seq, std::nullopt);
  set(where_.ended, what.job.id.seq, std::move(next));
  return change_queue(what.job.id.queue, [&](queue_record& queue) {
    ++(what.job.status == job_status::dead ? queue.dead : queue.completed);
  });
}

} // namespace tidegate
