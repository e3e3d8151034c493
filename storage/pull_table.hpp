// What pull queues have beyond other queues: settings and totals.

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that change and read settings and totals of pull queues. Each
/// change is a step of the caller's transaction: after any error the
/// transaction must be rolled back, and no further one begun.
class pull_table {
public:
  explicit pull_table(const sqlite::connection& db);

  /// Adds what a pull queue has; does nothing for a queue of another kind.
  std::optional<error> insert(const queue_record& what);

  std::optional<error> set_settings(const update_pull_settings& what);

  /// Totals of one batch are written at its end, once for each queue.
  std::optional<error> set_totals(const update_pull_totals& what);

  /// Counts a message that was inserted, if its queue is a pull queue.
  std::optional<error> count_published(queue_id queue);

  /// Forgets totals that have not been written: a batch begins.
  void clear_totals();

  std::optional<error> write_totals();

  std::optional<error> remove(queue_id queue);

  /// Returns whether there is a pull queue of this number. Asks the file once
  /// for each queue.
  result<bool> is_pull(queue_id queue);

  /// Completes a queue with what it has here.
  std::optional<error> load(queue_record& out);

private:
  std::optional<error> require(queue_id queue);
  std::optional<error> write_settings(queue_id queue,
                                      const pull_settings& settings);
  std::optional<error> replace_totals(queue_id queue,
                                      const pull_totals& totals);

  sqlite::statement kind_;
  sqlite::statement set_settings_;
  sqlite::statement set_updated_at_;
  sqlite::statement insert_totals_;
  sqlite::statement set_totals_;
  sqlite::statement add_published_;
  sqlite::statement remove_settings_;
  sqlite::statement remove_totals_;
  sqlite::statement select_;

  /// Of queues that exist. Kinds never change, and numbers are never given
  /// again.
  std::unordered_map<queue_id, queue_kind> kinds_;

  std::unordered_map<queue_id, pull_totals> totals_;
  std::unordered_map<queue_id, std::uint64_t> published_;
};

} // namespace tidegate
