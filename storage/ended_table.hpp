// Jobs that come back to life, and jobs that go for good.

#pragma once

#include <optional>

#include "storage/history_table.hpp"
#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Statements that take jobs away from where they are, each a step of the
/// caller's transaction: after any error the transaction must be rolled back.
/// What has to come off the counters of the queue is in the answers.
class ended_table {
public:
  explicit ended_table(sqlite::connection& db);

  /// Moves an ended job among the live ones, or does nothing where there is no
  /// such ended job.
  std::optional<error> revive(const revive_job& what, commit_answer& answer);

  /// Removes single jobs, live or ended.
  std::optional<error> remove(const remove_jobs& what, commit_answer& answer);

  /// Removes everything about the jobs of a queue. Reads all jobs of all
  /// queues.
  std::optional<error> remove_all(queue_id queue);

private:
  std::optional<error> move_to_live(const job& what, std::uint64_t entries);
  std::optional<error> remove_one(queue_id queue, job_seq seq,
                                  commit_answer& answer);
  std::optional<error> remove_rest(job_seq seq, bool has_history);
  std::optional<error> release_key(queue_id home, const std::string& key,
                                   job_seq seq);

  sqlite::connection& db_;
  history_table history_;
  sqlite::statement find_;
  sqlite::statement copy_to_live_;
  sqlite::statement delete_;
  sqlite::statement replace_payload_;
  sqlite::statement take_ended_;
  sqlite::statement take_live_;
  sqlite::statement delete_payload_;
  sqlite::statement delete_key_;
  sqlite::statement keep_number_;
};

} // namespace tidegate
