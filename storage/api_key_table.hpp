// API keys: their digests and what they may do.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that change and read API keys. Each change is a step of the
/// caller's transaction: after any error the transaction must be rolled back.
class api_key_table {
public:
  explicit api_key_table(sqlite::connection& db);

  /// Adds a key under a number that was never used, and answers it.
  std::optional<error> insert(const api_key_record& what, api_key_id& drawn);

  /// Removes a key and says whether it was there.
  std::optional<error> remove(api_key_id id, bool& was_there);

  /// Returns all, ordered by number.
  result<std::vector<api_key_record>> load();

  /// Returns the number that every change has moved on.
  result<std::uint64_t> version();

private:
  sqlite::connection& db_;
  sqlite::statement draw_;
  sqlite::statement insert_;
  sqlite::statement remove_;
  sqlite::statement mark_;
  sqlite::statement select_;
  sqlite::statement version_;
};

} // namespace tidegate
