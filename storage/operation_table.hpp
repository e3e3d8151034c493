// Long-running operations.

#pragma once

#include <optional>
#include <vector>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that change and read operations. Each change is a step of the
/// caller's transaction: after any error the transaction must be rolled back.
class operation_table {
public:
  explicit operation_table(const sqlite::connection& db);

  /// Adds an operation whose number was never used. Its queue may be gone.
  std::optional<error> insert(const operation_record& what);

  /// Replaces state, progress and end.
  std::optional<error> update(const operation_record& what);

  /// Returns all, ordered by number.
  result<std::vector<operation_record>> load();

private:
  sqlite::statement insert_;
  sqlite::statement take_number_;
  sqlite::statement update_;
  sqlite::statement select_;
};

} // namespace tidegate
