// Queues without their jobs and what only pull queues have: settings, secrets,
// gate, rate limit.

#pragma once

#include <optional>
#include <vector>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that change and read queues. Each change is a step of the
/// caller's transaction: after any error the transaction must be rolled back.
/// That the queue of a change exists is the caller's to check.
class queue_table {
public:
  explicit queue_table(sqlite::connection& db);

  std::optional<error> insert(const queue_record& what);
  std::optional<error> update(const update_queue& what);
  std::optional<error> set_gate(queue_id queue, const gate_record& gate);
  std::optional<error> set_rate(queue_id queue,
                                const std::vector<rate_start>& starts);
  std::optional<error> set_secrets(const update_secrets& what);

  /// Removes a queue without its jobs. Its number stays taken.
  std::optional<error> remove(queue_id queue);

  /// Returns every queue, ordered by number.
  result<std::vector<queue_record>> load();

private:
  std::optional<error> set_headers(queue_id queue,
                                   const std::vector<header>& headers);
  std::optional<error> load_headers(queue_record& out);

  sqlite::connection& db_;
  sqlite::statement insert_;
  sqlite::statement insert_counters_;
  sqlite::statement take_number_;
  sqlite::statement update_;
  sqlite::statement delete_headers_;
  sqlite::statement insert_header_;
  sqlite::statement set_gate_;
  sqlite::statement set_rate_;
  sqlite::statement set_secrets_;
  sqlite::statement select_;
  sqlite::statement select_headers_;
};

} // namespace tidegate
