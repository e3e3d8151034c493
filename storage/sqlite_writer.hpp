// The one connection that writes.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/api_key_table.hpp"
#include "storage/ended_table.hpp"
#include "storage/job_table.hpp"
#include "storage/limit_key_table.hpp"
#include "storage/operation_table.hpp"
#include "storage/pull_table.hpp"
#include "storage/queue_table.hpp"
#include "storage/snapshot_queries.hpp"
#include "storage/sqlite.hpp"
#include "storage/tally.hpp"
#include "storage/usage_table.hpp"
#include "tidegate/sqlite_store.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// A connection that can write, with its statements. Whoever owns it stops
/// using it after a commit failed.
class sqlite_writer {
public:
  /// Opens the file, which exists, refuses it or brings it to the present
  /// version.
  static result<std::unique_ptr<sqlite_writer>>
  open(const sqlite_options& options);

  /// @private
  sqlite_writer(sqlite::connection db, const sqlite_options& options);

  /// See `store::commit`.
  result<std::vector<commit_answer>> commit(std::span<const record> batch);

  /// Says what is wrong with the contents of the file, nothing where it is
  /// sound.
  std::optional<error> check();

  /// Commits a change that means nothing.
  std::optional<error> probe();

  /// See `store::load_queues`.
  result<std::vector<queue_snapshot>> load_queues();

  /// See `store::last_job_seq`.
  result<job_seq> last_job_seq();

  /// See `store::last_queue_id`.
  result<queue_id> last_queue_id();

  /// See `store::last_operation_id`.
  result<operation_id> last_operation_id();

private:
  using maybe_error = std::optional<error>;

  maybe_error apply(const insert_queue& what, commit_answer& answer);
  maybe_error apply(const update_queue& what, commit_answer& answer);
  maybe_error apply(const update_gate& what, commit_answer& answer);
  maybe_error apply(const update_rate& what, commit_answer& answer);
  maybe_error apply(const update_secrets& what, commit_answer& answer);
  maybe_error apply(const update_limit_key& what, commit_answer& answer);
  maybe_error apply(const remove_queue& what, commit_answer& answer);
  maybe_error apply(const insert_job& what, commit_answer& answer);
  maybe_error apply(const update_job& what, commit_answer& answer);
  maybe_error apply(const end_job& what, commit_answer& answer);
  maybe_error apply(const revive_job& what, commit_answer& answer);
  maybe_error apply(const remove_jobs& what, commit_answer& answer);
  maybe_error apply(const update_pull_settings& what, commit_answer& answer);
  maybe_error apply(const update_pull_totals& what, commit_answer& answer);
  maybe_error apply(const move_message& what, commit_answer& answer);
  maybe_error apply(const hand_over& what, commit_answer& answer);
  maybe_error apply(const insert_operation& what, commit_answer& answer);
  maybe_error apply(const update_operation& what, commit_answer& answer);
  maybe_error apply(const insert_api_key& what, commit_answer& answer);
  maybe_error apply(const remove_api_key& what, commit_answer& answer);

  /// Ends a live job and counts it.
  maybe_error end(const job& what, const std::optional<history_entry>& entry);

  /// Counts an update of a message that has not been made yet, if it hands the
  /// message out.
  maybe_error count_receive(const job& message);

  sqlite::connection db_;
  std::uint64_t full_check_bytes_max_;
  queue_table queues_;
  pull_table pulls_;
  limit_key_table limit_keys_;
  job_table jobs_;
  ended_table ended_;
  operation_table operations_;
  api_key_table api_keys_;
  tally tally_;
  usage_tally usage_;
  snapshot_queries snapshots_;
};

} // namespace tidegate
