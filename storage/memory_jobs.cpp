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

job_record* memory_changes::live(job_id what) {
  auto present = where_.live.find(what.seq);
  if (present == where_.live.end()
      || present->second.job.id.queue != what.queue)
    return nullptr;
  return &present->second;
}

job_record* memory_changes::ended(queue_id queue, job_seq seq) {
  auto present = where_.ended.find(seq);
  if (present == where_.ended.end() || present->second.job.id.queue != queue)
    return nullptr;
  return &present->second;
}

void memory_changes::add_entry(job_record& row,
                               const std::optional<history_entry>& entry) {
  if (!entry)
    return;
  // Of a long history one entry is dropped, which takes more to take back.
  if (row.history.size() < history_max)
    on_undo([&row, kept = row.history.size()] { row.history.resize(kept); });
  else
    on_undo([&row, old = row.history, dropped = row.history_dropped]() mutable {
      row.history = std::move(old);
      row.history_dropped = dropped;
    });
  add(row, *entry);
}

// -- usage --------------------------------------------------------------------

template <class F>
void memory_changes::change_usage(std::int64_t day, queue_id queue,
                                  api_key_id by, F change) {
  memory_contents::usage_key key{day, queue, by};
  auto row = where_.usage.find(key);
  if (row == where_.usage.end()) {
    usage_record added;
    added.project = where_.queues.at(queue).project;
    added.queue = queue;
    added.key = by;
    added.day = day;
    set(where_.usage, key, std::move(added));
    row = where_.usage.find(key);
  }
  change(row->second);
}

void memory_changes::count_delivery(queue_id queue,
                                    const std::optional<history_entry>& entry) {
  if (is_outcome(entry))
    change_usage(day_of(entry->at), queue, api_key_id{},
                 [this](usage_record& sum) { count(sum.deliveries); });
}

void memory_changes::count_receive(const update_job& what, const job& before) {
  auto id = what.job.id;
  if (may_be_receive(what.job, what.entry)
      && what.job.deliveries > before.deliveries
      && where_.queues.at(id.queue).kind == queue_kind::pull)
    change_usage(day_of(what.job.waits_since), id.queue, api_key_id{},
                 [this](usage_record& sum) { count(sum.receives); });
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
  job_record row{added, {}, 0};
  forget_end(row.job);
  take_source(row.job, added);
  set(where_.live, added.id.seq, std::move(row));
  set(where_.last_job, std::max(where_.last_job, added.id.seq));
  change_usage(day_of(added.created_at), added.id.queue, what.by,
               [&](usage_record& sum) {
                 count(sum.publishes);
                 set(sum.bytes, sum.bytes + added.payload.bytes().size());
               });
  if (where_.queues.at(added.id.queue).kind == queue_kind::push)
    return std::nullopt;
  return change_queue(added.id.queue, [&](queue_record& queue) {
    count(queue.totals.published);
  });
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
  auto* row = live(what.job.id);
  if (!row)
    return not_live(what.job);
  count_receive(what, row->job);
  remember(row->job);
  change(row->job, what.job);
  add_entry(*row, what.entry);
  count_delivery(what.job.id.queue, what.entry);
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const end_job& what,
                                               commit_answer&) {
  if (!has_ended(what.job))
    return wrong_status(what.job);
  auto* row = live(what.job.id);
  if (!row)
    return not_live(what.job);
  auto id = what.job.id;
  auto& job = row->job;
  remember(job);
  change(job, what.job);
  job.dead_reason = what.job.dead_reason;
  job.ended_at = what.job.ended_at;
  job.remove_at = what.job.remove_at;
  job.dead_letter = what.job.dead_letter;
  add_entry(*row, what.entry);
  if (what.job.remove_at)
    set(where_.removals, {*what.job.remove_at, id.seq}, job.id);
  move_row(where_.live, where_.ended, id.seq);
  count_delivery(id.queue, what.entry);
  return change_queue(id.queue, [&](queue_record& queue) {
    count(what.job.status == job_status::dead ? queue.dead : queue.completed);
  });
}

// -- another life, or none ----------------------------------------------------

void memory_changes::take_off(const job& ended, commit_answer& answer) {
  if (ended.remove_at)
    set(where_.removals, {*ended.remove_at, ended.id.seq}, std::nullopt);
  auto dead = ended.status == job_status::dead;
  ++(dead ? answer.dead : answer.completed);
  change_queue(ended.id.queue, [&](queue_record& queue) {
    auto& sum = dead ? queue.dead : queue.completed;
    set(sum, sum - 1);
  });
}

std::optional<error> memory_changes::apply_one(const revive_job& what,
                                               commit_answer& answer) {
  if (has_ended(what.job))
    return wrong_status(what.job);
  auto* row = ended(what.job.id.queue, what.job.id.seq);
  if (!row)
    return std::nullopt;
  take_off(row->job, answer);
  auto& job = row->job;
  remember(job);
  change(job, what.job);
  forget_end(job);
  change_life(job, what.job);
  if (!what.entry.replaced.bytes().empty())
    job.payload = what.job.payload;
  add_entry(*row, what.entry);
  move_row(where_.ended, where_.live, what.job.id.seq);
  answer.done = true;
  return std::nullopt;
}

std::optional<error> memory_changes::apply_one(const remove_jobs& what,
                                               commit_answer& answer) {
  for (auto seq : what.seqs) {
    if (auto* row = ended(what.id, seq)) {
      take_off(row->job, answer);
      set(where_.ended, seq, std::nullopt);
    } else if (live({what.id, seq, 0})) {
      set(where_.live, seq, std::nullopt);
      ++answer.live;
    } else {
      continue;
    }
    release_key(seq);
  }
  return std::nullopt;
}

} // namespace tidegate
