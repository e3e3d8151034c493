// Changes to a memory store that can be taken back.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory_contents.hpp"

namespace tidegate {

/// Changes to a `memory_contents` that are taken back at the end of the life of
/// this object, unless they were kept.
class memory_changes {
public:
  explicit memory_changes(memory_contents& where) : where_(where) {
    // nop
  }

  memory_changes(const memory_changes&) = delete;
  memory_changes& operator=(const memory_changes&) = delete;

  ~memory_changes() {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
      (*undo)();
  }

  void keep() {
    undo_.clear();
  }

  /// Applies one record, or says why that cannot be.
  std::optional<error> apply(const record& what, commit_answer& answer);

private:
  using maybe_error = std::optional<error>;

  maybe_error apply_one(const insert_queue& what, commit_answer& answer);
  maybe_error apply_one(const update_queue& what, commit_answer& answer);
  maybe_error apply_one(const update_gate& what, commit_answer& answer);
  maybe_error apply_one(const update_rate& what, commit_answer& answer);
  maybe_error apply_one(const update_secrets& what, commit_answer& answer);
  maybe_error apply_one(const update_limit_key& what, commit_answer& answer);
  maybe_error apply_one(const remove_queue& what, commit_answer& answer);
  maybe_error apply_one(const insert_job& what, commit_answer& answer);
  maybe_error apply_one(const update_job& what, commit_answer& answer);
  maybe_error apply_one(const end_job& what, commit_answer& answer);
  maybe_error apply_one(const revive_job& what, commit_answer& answer);
  maybe_error apply_one(const remove_jobs& what, commit_answer& answer);
  maybe_error apply_one(const update_pull_settings& what,
                        commit_answer& answer);
  maybe_error apply_one(const update_pull_totals& what, commit_answer& answer);
  maybe_error apply_one(const move_message& what, commit_answer& answer);
  maybe_error apply_one(const hand_over& what, commit_answer& answer);
  maybe_error apply_one(const insert_operation& what, commit_answer& answer);
  maybe_error apply_one(const update_operation& what, commit_answer& answer);
  maybe_error apply_one(const insert_api_key& what, commit_answer& answer);
  maybe_error apply_one(const remove_api_key& what, commit_answer& answer);

  static error refusal(std::string message);
  static error no_queue(queue_id id);

  /// Returns the live job that `what` is about with its changes and the entry,
  /// nothing where its queue has no such live job.
  std::optional<job_record>
  changed(const job& what, const std::optional<history_entry>& entry) const;

  /// Removes an ended job from the ended ones and from the counters of its
  /// queue. Returns it, or nothing where there is none.
  std::optional<job_record> take_ended(queue_id queue, job_seq seq,
                                       commit_answer& answer);

  /// Returns the live job that `what` names, null where its queue has no such
  /// live job.
  const job_record* live(job_id what) const;

  /// Returns the job, live or ended, that keeps `added` out by its key. Where
  /// that has held it since before `key_since`, it loses the key.
  const job* key_holder(const insert_job& added);

  /// Takes the key away from a job that has one.
  void release_key(job_seq holder);

  /// Counts an update of a message that has not been made yet, if it hands the
  /// message out.
  void count_receive(const update_job& what);

  /// Counts a delivery for the usage, if `entry` tells of one.
  void count_delivery(queue_id queue,
                      const std::optional<history_entry>& entry);

  /// Applies `change` to the usage of a day.
  template <class F>
  void change_usage(std::int64_t day, queue_id queue, api_key_id by, F change);

  /// Applies `change` to a pull queue, or says that there is none.
  template <class F>
  maybe_error change_pull_queue(queue_id id, F change) {
    auto present = where_.queues.find(id);
    if (present == where_.queues.end()
        || present->second.kind != queue_kind::pull)
      return no_queue(id);
    return change_queue(id, change);
  }

  /// Applies `change` to a queue, or says that there is none.
  template <class F>
  maybe_error change_queue(queue_id id, F change) {
    auto present = where_.queues.find(id);
    if (present == where_.queues.end())
      return no_queue(id);
    auto queue = present->second;
    change(queue);
    set(where_.queues, id, std::move(queue));
    return std::nullopt;
  }

  /// Removes the rows of `table` that `theirs` is true for.
  template <class Table, class F>
  void remove_if(Table& table, F theirs) {
    std::vector<typename Table::key_type> keys;
    for (auto& [key, row] : table)
      if (theirs(key, row))
        keys.push_back(key);
    for (auto& key : keys)
      set(table, key, std::nullopt);
  }

  /// Sets or removes one row and remembers what was there.
  template <class Table>
  void set(Table& table, typename Table::key_type key,
           std::optional<typename Table::mapped_type> value) {
    std::optional<typename Table::mapped_type> old;
    if (auto present = table.find(key); present != table.end())
      old = present->second;
    undo_.push_back([&table, key, old] { assign(table, key, old); });
    assign(table, key, value);
  }

  /// Sets one variable and remembers what was there.
  template <class T>
  void set(T& variable, T value) {
    undo_.push_back([&variable, old = variable] { variable = old; });
    variable = value;
  }

  template <class Table>
  static void assign(Table& table, const typename Table::key_type& key,
                     const std::optional<typename Table::mapped_type>& value) {
    if (value)
      table.insert_or_assign(key, *value);
    else
      table.erase(key);
  }

  memory_contents& where_;
  std::vector<std::function<void()>> undo_;
};

} // namespace tidegate
