#include "storage/memory_changes.hpp"

#include <algorithm>

namespace tidegate {

error memory_changes::refusal(std::string message) {
  return {errc::storage_unavailable, std::move(message)};
}

error memory_changes::no_queue(queue_id id) {
  return refusal("no queue has number " + std::to_string(id.value));
}

std::optional<error> memory_changes::apply(const record& what,
                                           commit_answer& answer) {
  return std::visit([&](auto& one) { return apply_one(one, answer); }, what);
}

// -- queues -------------------------------------------------------------------

std::optional<error> memory_changes::apply_one(const insert_queue& what,
                                               commit_answer&) {
  auto& added = what.queue;
  for (auto& [id, queue] : where_.queues)
    if (id == added.id
        || (queue.project == added.project && queue.name == added.name))
      return refusal("there is a queue of that number or name");
  auto stored = added;
  if (stored.kind != queue_kind::pull) {
    stored.pull = {};
    stored.totals = {};
  }
  set(where_.queues, added.id, stored);
  set(where_.last_queue, std::max(where_.last_queue, added.id));
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const update_queue& what,
                                               commit_answer&) {
  return change_queue(what.id, [&](queue_record& queue) {
    set(queue.settings, what.settings);
    set(queue.paused, what.paused);
    set(queue.paused_since, what.paused_since);
    set(queue.updated_at, what.updated_at);
  });
}

std::optional<error> memory_changes::apply_one(const update_gate& what,
                                               commit_answer&) {
  return change_queue(what.id,
                      [&](queue_record& queue) { set(queue.gate, what.gate); });
}

std::optional<error> memory_changes::apply_one(const update_rate& what,
                                               commit_answer&) {
  return change_queue(what.id,
                      [&](queue_record& queue) { set(queue.rate, what.rate); });
}

std::optional<error> memory_changes::apply_one(const update_secrets& what,
                                               commit_answer&) {
  return change_queue(what.id, [&](queue_record& queue) {
    set(queue.secret, what.secret);
    set(queue.previous_secret, what.previous_secret);
    set(queue.previous_secret_until, what.previous_secret_until);
  });
}

std::optional<error> memory_changes::apply_one(const update_limit_key& what,
                                               commit_answer&) {
  if (!where_.queues.contains(what.id))
    return no_queue(what.id);
  memory_contents::key key{what.id, what.key.key};
  if (what.key.at_rest())
    set(where_.limit_keys, key, std::nullopt);
  else
    set(where_.limit_keys, key, what.key);
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const remove_queue& what,
                                               commit_answer&) {
  if (!where_.queues.contains(what.id))
    return no_queue(what.id);
  auto of_job = [&](auto&, auto& row) { return row.job.id.queue == what.id; };
  auto of_key = [&](auto& key, auto&) { return key.first == what.id; };
  for (auto* table : {&where_.live, &where_.ended}) {
    for (auto& [seq, row] : *table)
      if (of_job(seq, row))
        release_key(seq);
    remove_if(*table, of_job);
  }
  remove_if(where_.removals,
            [&](auto&, auto& id) { return id.queue == what.id; });
  remove_if(where_.keys, of_key);
  remove_if(where_.held_keys,
            [&](auto&, auto& key) { return key.first == what.id; });
  remove_if(where_.limit_keys, of_key);
  set(where_.queues, what.id, std::nullopt);
  return std::nullopt;
}

// -- operations ---------------------------------------------------------------

std::optional<error> memory_changes::apply_one(const insert_operation& what,
                                               commit_answer&) {
  auto id = what.operation.id;
  if (where_.operations.contains(id))
    return refusal("there is an operation of that number");
  set(where_.operations, id, what.operation);
  set(where_.last_operation, std::max(where_.last_operation, id));
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const update_operation& what,
                                               commit_answer&) {
  auto present = where_.operations.find(what.operation.id);
  if (present == where_.operations.end())
    return std::nullopt;
  auto next = present->second;
  next.state = what.operation.state;
  next.position = what.operation.position;
  next.total = what.operation.total;
  next.done = what.operation.done;
  next.finished_at = what.operation.finished_at;
  next.error = what.operation.error;
  set(where_.operations, next.id, next);
  return std::nullopt;
}

// -- API keys -----------------------------------------------------------------

std::optional<error> memory_changes::apply_one(const insert_api_key& what,
                                               commit_answer& answer) {
  auto added = what.key;
  added.id.value = where_.last_api_key.value + 1;
  set(where_.last_api_key, added.id);
  set(where_.api_keys, added.id, added);
  set(where_.api_keys_version, where_.api_keys_version + 1);
  answer.key = added.id;
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const remove_api_key& what,
                                               commit_answer& answer) {
  answer.done = where_.api_keys.contains(what.id);
  if (!answer.done)
    return std::nullopt;
  set(where_.api_keys, what.id, std::nullopt);
  set(where_.api_keys_version, where_.api_keys_version + 1);
  return std::nullopt;
}

} // namespace tidegate
