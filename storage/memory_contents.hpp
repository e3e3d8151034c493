// The tables of the memory store, and changes that can be taken back.

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidegate/store.hpp"

namespace tidegate {

struct memory_contents {
  using key = std::pair<queue_id, std::string>;

  /// Held by the store for a whole batch, by a reader for a whole call.
  std::mutex mutex;

  std::map<queue_id, queue_record> queues;
  std::map<job_seq, job_record> live;
  std::map<job_seq, job_record> ended;
  std::map<key, job_seq> keys;
  job_seq last_job;
  queue_id last_queue;
};

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
  maybe_error apply_one(const remove_queue& what, commit_answer& answer);
  maybe_error apply_one(const insert_job& what, commit_answer& answer);
  maybe_error apply_one(const update_job& what, commit_answer& answer);
  maybe_error apply_one(const end_job& what, commit_answer& answer);

  /// Returns the live job that `what` is about with its changes and the entry,
  /// nothing where its queue has no such live job.
  std::optional<job_record>
  changed(const job& what, const std::optional<history_entry>& entry) const;

  /// Applies `change` to a queue, or says that there is none.
  template <class F>
  maybe_error change_queue(queue_id id, F change);

  /// Sets or removes one row and remembers what was there.
  template <class Table>
  void set(Table& table, typename Table::key_type key,
           std::optional<typename Table::mapped_type> value);

  /// Sets one variable and remembers what was there.
  template <class T>
  void set(T& variable, T value);

  memory_contents& where_;
  std::vector<std::function<void()>> undo_;
};

} // namespace tidegate
