// Changes to a memory store that can be taken back.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/memory_contents.hpp"

namespace tidegate {

/// Changes to a `memory_contents` that are taken back at the end of the life of
/// this object, unless they were kept.
class memory_changes {
public:
  explicit memory_changes(memory_contents& where) : where_(where) {
    constexpr std::size_t usual_steps = 16;
    undo_.reserve(usual_steps);
  }

  memory_changes(const memory_changes&) = delete;
  memory_changes& operator=(const memory_changes&) = delete;

  ~memory_changes() {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
      (*undo)->take_back();
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

  /// Returns the live job that `what` names, null where its queue has no such
  /// live job.
  job_record* live(job_id what);

  /// Returns an ended job, null where the queue has no such one.
  job_record* ended(queue_id queue, job_seq seq);

  /// Adds to the history of a job.
  void add_entry(job_record& row, const std::optional<history_entry>& entry);

  /// Takes an ended job off the counters of its queue and off those that may be
  /// removed.
  void take_off(const job& ended, commit_answer& answer);

  /// Returns the job, live or ended, that keeps `added` out by its key. Where
  /// that has held it since before `key_since`, it loses the key.
  const job* key_holder(const insert_job& added);

  /// Takes the key away from a job that has one.
  void release_key(job_seq holder);

  /// Counts an update of a message that was `before`, if it hands the message
  /// out.
  void count_receive(const update_job& what, const job& before);

  /// Counts a delivery for the usage, if `entry` tells of one.
  void count_delivery(queue_id queue,
                      const std::optional<history_entry>& entry);

  /// Applies `change` to the usage of a day.
  template <class F>
  void change_usage(std::int64_t day, queue_id queue, api_key_id by, F change);

  /// Calls `change` with a pull queue, or says that there is none.
  template <class F>
  maybe_error change_pull_queue(queue_id id, F change) {
    auto present = where_.queues.find(id);
    if (present == where_.queues.end()
        || present->second.kind != queue_kind::pull)
      return no_queue(id);
    change(present->second);
    return std::nullopt;
  }

  /// Calls `change` with a queue, or says that there is none.
  template <class F>
  maybe_error change_queue(queue_id id, F change) {
    auto present = where_.queues.find(id);
    if (present == where_.queues.end())
      return no_queue(id);
    change(present->second);
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

  // -- what can be taken back -------------------------------------------------

  /// How to take one change back. Rows stay where they are in memory, so a step
  /// may refer to one: by the time that it is taken, all later ones have been.
  class step {
  public:
    virtual ~step() = default;
    virtual void take_back() = 0;
  };

  template <class F>
  class step_of : public step {
  public:
    explicit step_of(F&& f) : what(std::move(f)) {
      // nop
    }

    void take_back() override {
      what();
    }

    F what;
  };

  /// Puts back a row that has been taken out, if one has.
  template <class Table>
  struct put_back {
    Table* table;
    typename Table::node_type row{};

    void operator()() {
      table->insert(std::move(row));
    }
  };

  /// Notes how to take back the change that is made next. Returns the note.
  template <class F>
  F& on_undo(F what) {
    auto added = std::make_unique<step_of<F>>(std::move(what));
    auto& note = added->what;
    undo_.push_back(std::move(added));
    return note;
  }

  /// Sets or removes one row.
  template <class Table>
  void set(Table& table, const typename Table::key_type& key,
           std::optional<typename Table::mapped_type> value) {
    auto present = table.find(key);
    if (present == table.end()) {
      if (!value)
        return;
      on_undo([&table, key] { table.erase(key); });
      table.emplace(key, std::move(*value));
    } else if (value) {
      set(present->second, std::move(*value));
    } else {
      auto& note = on_undo(put_back<Table>{&table});
      note.row = table.extract(present);
    }
  }

  /// Remembers what a variable is, which is about to change.
  template <class T>
  void remember(T& variable) {
    on_undo(
      [&variable, old = variable]() mutable { variable = std::move(old); });
  }

  /// Sets one variable.
  template <class T>
  void set(T& variable, std::type_identity_t<T> value) {
    remember(variable);
    variable = std::move(value);
  }

  void count(std::uint64_t& sum) {
    set(sum, sum + 1);
  }

  /// Moves a row that is there from one table to another.
  template <class Table>
  void move_row(Table& from, Table& to, typename Table::key_type key) {
    on_undo([&from, &to, key] { from.insert(to.extract(key)); });
    to.insert(from.extract(key));
  }

  memory_contents& where_;
  std::vector<std::unique_ptr<step>> undo_;
};

} // namespace tidegate
