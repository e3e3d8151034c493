// The writing side of jobs on their way from publish to their end.

#pragma once

#include <optional>

#include "storage/history_table.hpp"
#include "storage/job_queries.hpp"
#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that change live jobs, each a step of the caller's transaction:
/// after any error the transaction must be rolled back. That the queues of the
/// records exist is the caller's to check.
class job_table {
public:
  explicit job_table(sqlite::connection& db);

  /// Stores the job, or sets `answer` to the one that has its key.
  std::optional<error> insert(const insert_job& what, commit_answer& answer);

  /// Replaces the mutable part of a live job and adds to its history.
  std::optional<error> update(const update_job& what);

  /// Moves a live job among the ended ones. The entry becomes part of the ended
  /// row, so that a job that goes well never has a row of history.
  std::optional<error> end(const job& what,
                           const std::optional<history_entry>& entry);

  /// Says what the ack of an ended message published.
  std::optional<error> set_published(job_seq seq, const successor& what);

  /// Moves a live message to a queue that exists and adds to its history.
  /// Answers whether it was live where the record says.
  std::optional<error> move(const move_message& what, commit_answer& answer);

  /// Returns how often a live job has been delivered, nothing where its queue
  /// has no such live job.
  result<std::optional<std::uint64_t>> deliveries(job_id id);

private:
  /// Runs an update that tells how many entries there are now, and adds
  /// `entry`. Answers whether the job was there.
  result<bool> change(sqlite::execution& use, job_seq seq,
                      const std::optional<history_entry>& entry);

  std::optional<error> reserve_key(const insert_job& what,
                                   commit_answer& answer);
  std::optional<error> take_key_over(const job& what);

  sqlite::connection& db_;
  job_queries queries_;
  history_table history_;
  sqlite::statement add_key_;
  sqlite::statement take_key_;
  sqlite::statement insert_;
  sqlite::statement insert_payload_;
  sqlite::statement update_;
  sqlite::statement copy_to_ended_;
  sqlite::statement delete_live_;
  sqlite::statement set_published_;
  sqlite::statement move_;
  sqlite::statement deliveries_;
};

} // namespace tidegate
