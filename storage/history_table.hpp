// The lines of history of jobs, the newest of each.

#pragma once

#include <cstdint>
#include <optional>

#include "storage/sqlite.hpp"
#include "tidegate/job.hpp"

namespace tidegate {

/// Statements that change `history`, each a step of the caller's transaction.
class history_table {
public:
  explicit history_table(const sqlite::connection& db);

  /// Adds the `n`-th entry of a job, counted from 1, and drops those that are
  /// too many.
  std::optional<error> add(job_seq seq, std::uint64_t n,
                           const history_entry& entry);

  /// Adds the entry that came with the end of a job, as the `n`-th.
  std::optional<error> add_last_of_ended(job_seq seq, std::uint64_t n);

  /// Removes all of a job.
  std::optional<error> remove(job_seq seq);

private:
  sqlite::statement insert_;
  sqlite::statement trim_;
  sqlite::statement copy_last_;
  sqlite::statement remove_;
};

} // namespace tidegate
