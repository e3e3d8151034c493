// Reading everything that queues start from.

#pragma once

#include <optional>
#include <vector>

#include "storage/limit_key_table.hpp"
#include "storage/pull_table.hpp"
#include "storage/queue_table.hpp"
#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Reads queues with their live jobs and limit keys.
class snapshot_queries {
public:
  explicit snapshot_queries(sqlite::connection& db);

  /// See `store::load_queues`.
  result<std::vector<queue_snapshot>> load();

private:
  std::optional<error> load_jobs(std::vector<queue_snapshot>& queues);

  queue_table queues_;
  pull_table pulls_;
  limit_key_table limit_keys_;
  sqlite::statement count_;
  sqlite::statement live_;
};

} // namespace tidegate
