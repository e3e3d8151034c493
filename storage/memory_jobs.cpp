// What a memory store does with the records of jobs.

#include <algorithm>

#include "storage/job_rules.hpp"
#include "storage/memory_changes.hpp"
#include "storage/memory_rows.hpp"
#include "storage/usage_table.hpp"

namespace tidegate {

namespace {

void forget_end(job& stored) {
  stored.dead_reason = dead_reason::none;
  stored.ended_at.reset();
  stored.remove_at.reset();
  stored.dead_letter = false;
  stored.published.reset();
}

} // namespace

std::optional<job_record>
memory_changes::changed(const job& what,
                        const std::optional<history_entry>& entry) const {
  auto* present = live(what.id);
  if (!present)
    return std::nullopt;
  auto next = *present;
  change(next.job, what);
  if (entry)
    add(next, *entry);
  return next;
}

const job_record* memory_changes::live(job_id what) const {
  auto present = where_.live.find(what.seq);
  if (present == where_.live.end()
      || present->second.job.id.queue != what.queue)
    return nullptr;
  return &present->second;
}

// -- usage --------------------------------------------------------------------

template <class F>
void memory_changes::change_usage(std::int64_t day, queue_id queue,
                                  api_key_id by, F change) {
  memory_contents::usage_key key{day, queue, by};
  usage_record next;
  next.project = where_.queues.at(queue).project;
  next.queue = queue;
  next.key = by;
  next.day = day;
  if (auto present = where_.usage.find(key); present != where_.usage.end())
    next = present->second;
  change(next);
  set(where_.usage, key, next);
}

void memory_changes::count_delivery(queue_id queue,
                                    const std::optional<history_entry>& entry) {
  if (is_outcome(entry))
    change_usage(day_of(entry->at), queue, api_key_id{},
                 [](usage_record& sum) { ++sum.deliveries; });
}

void memory_changes::count_receive(const update_job& what) {
  if (!may_be_receive(what.job, what.entry))
    return;
  auto id = what.job.id;
  auto* before = live(id);
  if (before && where_.queues.at(id.queue).kind == queue_kind::pull
      && what.job.deliveries > before->job.deliveries)
    change_usage(day_of(what.job.waits_since), id.queue, api_key_id{},
                 [](usage_record& sum) { ++sum.receives; });
}

// -- publish ------------------------------------------------------------------

std::optional<error> memory_changes::apply_one(const insert_job& what,
                                               commit_answer& answer) {
  auto& added = what.job;
  if (has_ended(added))
    return wrong_status(added);
  if (!where_.queues.contains(added.id.queue))
    return no_queue(added.id.queue);
  if (auto* holder = key_holder(what)) {
    answer.existing = *holder;
    return std::nullopt;
  }
  if (where_.live.contains(added.id.seq) || where_.ended.contains(added.id.seq))
    return refusal("there is a job of that number");
  if (!added.idempotency_key.empty()) {
    memory_contents::key key{added.id.queue, added.idempotency_key};
    set(where_.keys, key, added.id.seq);
    set(where_.held_keys, added.id.seq, key);
  }
  auto stored = added;
  forget_end(stored);
  take_source(stored, added);
  set(where_.live, added.id.seq, job_record{stored, {}, 0});
  set(where_.last_job, std::max(where_.last_job, added.id.seq));
  change_usage(day_of(added.created_at), added.id.queue, what.by,
               [&](usage_record& sum) {
                 ++sum.publishes;
                 sum.bytes += added.payload.bytes().size();
               });
  if (where_.queues.at(added.id.queue).kind == queue_kind::push)
    return std::nullopt;
  return change_queue(added.id.queue,
                      [](queue_record& queue) { ++queue.totals.published; });
}

const job* memory_changes::key_holder(const insert_job& added) {
  auto holder =
    where_.keys.find({added.job.id.queue, added.job.idempotency_key});
  if (holder == where_.keys.end())
    return nullptr;
  auto seq = holder->second;
  auto live = where_.live.find(seq);
  auto& found = live != where_.live.end() ? live->second.job
                                          : where_.ended.at(seq).job;
  if (found.created_at >= added.key_since)
    return &found;
  release_key(seq);
  return nullptr;
}

void memory_changes::release_key(job_seq holder) {
  auto held = where_.held_keys.find(holder);
  if (held == where_.held_keys.end())
    return;
  auto key = held->second;
  set(where_.keys, key, std::nullopt);
  set(where_.held_keys, holder, std::nullopt);
}

// -- deliveries ---------------------------------------------------------------

std::optional<error> memory_changes::apply_one(const update_job& what,
                                               commit_answer&) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  auto next = changed(what.job, what.entry);
  if (!next)
    return not_live(what.job);
  count_receive(what);
  set(where_.live, what.job.id.seq, std::move(next));
  count_delivery(what.job.id.queue, what.entry);
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const end_job& what,
                                               commit_answer&) {
  if (!has_ended(what.job))
    return wrong_status(what.job);
  auto next = changed(what.job, what.entry);
  if (!next)
    return not_live(what.job);
  auto& job = next->job;
  job.dead_reason = what.job.dead_reason;
  job.ended_at = what.job.ended_at;
  job.remove_at = what.job.remove_at;
  job.dead_letter = what.job.dead_letter;
  if (job.remove_at)
    set(where_.removals, {*job.remove_at, job.id.seq}, job.id);
  set(where_.live, job.id.seq, std::nullopt);
  set(where_.ended, job.id.seq, next);
  count_delivery(job.id.queue, what.entry);
  return change_queue(job.id.queue, [&](queue_record& queue) {
    ++(job.status == job_status::dead ? queue.dead : queue.completed);
  });
}

// -- another life, or none ----------------------------------------------------

std::optional<job_record>
memory_changes::take_ended(queue_id queue, job_seq seq, commit_answer& answer) {
  auto present = where_.ended.find(seq);
  if (present == where_.ended.end() || present->second.job.id.queue != queue)
    return std::nullopt;
  auto taken = present->second;
  auto& job = taken.job;
  if (job.remove_at)
    set(where_.removals, {*job.remove_at, seq}, std::nullopt);
  set(where_.ended, seq, std::nullopt);
  auto dead = job.status == job_status::dead;
  ++(dead ? answer.dead : answer.completed);
  change_queue(queue, [&](queue_record& counted) {
    --(dead ? counted.dead : counted.completed);
  });
  return taken;
}

std::optional<error> memory_changes::apply_one(const revive_job& what,
                                               commit_answer& answer) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  auto next = take_ended(what.job.id.queue, what.job.id.seq, answer);
  if (!next)
    return std::nullopt;
  change(next->job, what.job);
  forget_end(next->job);
  change_life(next->job, what.job);
  if (!what.entry.replaced.bytes().empty())
    next->job.payload = what.job.payload;
  add(*next, what.entry);
  set(where_.live, what.job.id.seq, next);
  answer.done = true;
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const remove_jobs& what,
                                               commit_answer& answer) {
  for (auto seq : what.seqs) {
    auto gone = take_ended(what.id, seq, answer).has_value();
    if (live({what.id, seq, 0})) {
      gone = true;
      set(where_.live, seq, std::nullopt);
      ++answer.live;
    }
    if (gone)
      release_key(seq);
  }
  return std::nullopt;
}

} // namespace tidegate
