// Limit keys that are not at rest: their gates and rates.

#pragma once

#include <optional>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that change and read limit keys. Each change is a step of the
/// caller's transaction: after any error the transaction must be rolled back.
/// That the queue of a change exists is the caller's to check.
class limit_key_table {
public:
  explicit limit_key_table(const sqlite::connection& db);

  /// Replaces a key, or removes it where it is at rest.
  std::optional<error> set(const update_limit_key& what);

  /// Removes the keys of a queue.
  std::optional<error> remove_all(queue_id queue);

  /// Adds the keys of a queue to `out`, ordered by their bytes.
  std::optional<error> load(queue_id queue, std::vector<limit_key_record>& out);

private:
  sqlite::statement set_;
  sqlite::statement remove_;
  sqlite::statement remove_all_;
  sqlite::statement select_;
};

} // namespace tidegate
