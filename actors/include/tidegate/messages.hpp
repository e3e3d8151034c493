// What is said to Tidegate and what it answers, as plain values. How these
// travel between actors stands in `protocol.hpp`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tidegate/error.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"
#include "tidegate/view.hpp"

namespace tidegate {

// -- to the registry ----------------------------------------------------------

/// The project of those who name none.
inline constexpr char default_project[] = "default";

/// Creates a queue. Fails with `queue_exists`, or with `wrong_queue_kind` where
/// there is a pull queue of that name.
struct create_queue {
  std::string name;
  queue_settings settings;
  std::string project = default_project;
};

/// Creates a queue or replaces the settings of the one there is. Operational
/// state and secret stay.
struct put_queue {
  std::string name;
  queue_settings settings;
  std::string project = default_project;
};

/// Answer to `create_queue` and `put_queue`.
struct put_queue_result {
  queue_view view;
  bool created = false;
};

/// Removes a queue. Fails with `queue_not_empty` while it has live jobs, unless
/// `force` is set, and with `wrong_queue_kind` where it is of the other kind.
struct delete_queue {
  std::string name;
  bool force = false;
  std::string project = default_project;
  queue_kind kind = queue_kind::push;
};

/// Answer to `delete_queue`.
struct queue_deleted {};

/// Queues by name, in the order of their bytes. Fails where one of them cannot
/// say how it is.
struct list_queues {
  std::string project = default_project;
  /// Only names after this one; empty: from the start.
  std::string after;
  std::size_t limit = 100;
};

/// Answer to `list_queues`.
struct queue_list {
  std::vector<queue_view> items;
  /// Where the list goes on: `list_queues::after` of the next page. Empty: this
  /// is the last one.
  std::string next_after;
};

/// Asks for the actor of a push queue.
struct find_queue {
  std::string name;
  std::string project = default_project;
};

/// Asks for the actor of the queue that a job belongs to. Jobs of another
/// project are not found.
struct find_queue_of {
  job_id id;
  std::string project = default_project;
};

/// Asks whether work is taken on. Fails with `draining`, or with
/// `storage_unavailable` while queues are being recovered or the store cannot
/// be written.
struct check_ready {};

/// Answer to `check_ready`.
struct ready_for_work {};

// -- to a queue ---------------------------------------------------------------

/// Changes some settings. Fails with `validation_failed`.
struct patch_queue {
  queue_settings_patch patch;
};

/// Starts no delivery until `resume_queue`. Answered with a `queue_view`.
struct pause_queue {};

/// Ends a pause. Answered with a `queue_view`.
struct resume_queue {};

/// Asks how a queue is. Answered with a `queue_view`.
struct get_queue {};

/// Holds the queue by hand for `wait`, unless it is held for longer already.
struct hold_queue {
  duration wait{0};
  /// At most 500 characters.
  std::string reason;
};

/// Ends a hold: the next job that is eligible is the probe.
struct release_queue {};

/// Removes jobs that wait: those that are neither being delivered nor await
/// their ack. Answered with `jobs_removed`.
struct purge_queue {
  /// `pending` or `processing`; empty: both.
  std::optional<job_status> status;
};

/// Answer to `purge_queue` and others: how many are gone.
struct jobs_removed {
  std::uint64_t count = 0;
};

/// Makes a new signing secret. The one there is signs as well for `overlap`.
struct rotate_secret {
  /// 0 s to 2592000 s.
  duration overlap = std::chrono::hours{24};
};

/// Asks for the limit keys that are held, probing or busy. Answered with
/// `limit_key_list`.
struct list_limit_keys {
  /// Only keys after this one, in the order of their bytes; empty: from the
  /// start.
  std::string after;
  std::size_t limit = 100;
};

/// Answer to `list_limit_keys`.
struct limit_key_list {
  std::vector<limit_key_view> items;
  /// `list_limit_keys::after` of the next page. Empty: this is the last one.
  std::string next_after;
};

/// Ends the hold of a limit key. Answered with its `limit_key_view`. One that
/// is not held stays as it is.
struct release_limit_key {
  std::string key;
};

/// Hands in a job. The answer comes when the job is on stable storage.
struct publish {
  /// Any JSON value; not looked into.
  tidegate::payload payload;

  /// At most 255 bytes; empty: none.
  std::string idempotency_key;

  /// 0 to 2592000 s.
  duration delay{0};

  /// When it may go, instead of `delay`.
  std::optional<wall_time> run_at{};

  /// 0 to 9, higher first.
  std::uint8_t priority = 0;

  /// At most 128 characters; empty: none.
  std::string limit_key{};

  job_context context{};

  /// Who publishes, for the usage.
  api_key_id by{};
};

/// Hands in many jobs in one commit. Answered with `publish_batch_result`.
struct publish_batch {
  /// 1 to 1000.
  std::vector<publish> jobs;
};

/// Answer to `publish`. Fails with `queue_full` where the queue has a
/// `max_depth`.
struct publish_result {
  job_id id;
  job_status status = job_status::pending;
  wall_time created_at{};

  /// The job was there already under this idempotency key.
  bool duplicate = false;

  /// It was, and with another payload.
  bool payload_mismatch = false;
};

/// Answer to `publish_batch`: one for each job, in order.
struct publish_batch_result {
  std::vector<std::variant<publish_result, error>> results;
};

/// Answered with a `job_view`. Fails with `job_not_found`.
struct get_job {
  job_id id;
};

/// Gives up on a live job; a delivery that is under way is aborted. Answered
/// with a `job_view`. Fails with `job_completed` or `job_dead`.
struct cancel_job {
  job_id id;
};

/// Ends the delay or backoff of a job; gates and defers stay. Answered with a
/// `job_view`. Fails with `job_completed` or `job_dead`.
struct run_job_now {
  job_id id;
};

/// Gives a dead job another life with fresh budgets. Answered with a
/// `job_view`. Fails with `not_dead`.
struct replay_job {
  job_id id;
  /// Another payload; none: the same again.
  std::optional<tidegate::payload> payload;
};

/// A page of jobs, newest first. Answered with a `job_list`.
struct list_jobs {
  job_filter filter;
  bool dead_letters = false;
  /// With it the other restrictions do not count; at most one job has it.
  std::string idempotency_key;
  job_seq before{max_48_bits};
  std::size_t limit = 100;
  bool payloads = false;
};

/// Answer to `list_jobs`.
struct job_list {
  /// Without history.
  std::vector<job_view> items;
  std::optional<job_seq> next_before;
};

/// Removes dead letters. Answered with `jobs_removed`.
struct delete_dead_letters {
  job_filter filter;
};

/// Replays dead letters. Answered with `replay_plan`.
struct replay_dead_letters {
  job_filter filter;
  /// Only these, at most 1000; empty: all that fit the filter.
  std::vector<job_id> ids;
  /// Most jobs that are replayed, the newest first.
  std::optional<std::uint64_t> limit;
  bool dry_run = false;
  /// Jobs a second, 0.1 to 10000.
  double per_second = 1000;
};

/// Answer to `replay_dead_letters`.
struct replay_plan {
  /// Jobs that fit; with `ids`, those of them that are dead letters.
  std::uint64_t count = 0;
  /// Dry run: some of them, newest first.
  std::vector<job_view> sample;
  /// What does it; none on a dry run.
  std::optional<operation_record> operation;
};

// -- what workers report, to a queue in ack mode ------------------------------
//
// A report can be fenced with the number of the delivery that it is about. Each
// may be repeated: the same outcome of the same delivery again changes nothing.
// Fails with `not_ack_mode`, `job_not_found`, `not_awaiting_outcome`,
// `stale_delivery`, `job_completed` or `job_dead`.

/// The job is done.
struct ack_job {
  job_id id;
  std::optional<std::uint64_t> delivery;
};

/// The job failed.
struct nack_job {
  job_id id;
  std::optional<std::uint64_t> delivery;
  /// Whether it may be tried again.
  bool retryable = true;
  /// At most 500 characters.
  std::string reason;
};

/// What a defer holds.
enum class defer_scope : std::uint8_t { queue, job, key };

/// "Not now": no attempt is spent, and queue, job or limit key is held.
struct defer_job {
  job_id id;
  std::optional<std::uint64_t> delivery;
  duration wait{0};
  /// None: as the queue's `backpressureScope` says.
  std::optional<defer_scope> scope;
  /// At most 500 characters.
  std::string reason;
};

/// The outcome will come within `extend` from now.
struct touch_job {
  job_id id;
  std::optional<std::uint64_t> delivery;
  /// 1 s to 604800 s.
  duration extend{0};
};

/// Answer to all four.
struct report_taken {
  job_id id;
};

// -- to the operations actor --------------------------------------------------

/// Asks for the operations of a project. Answered with `operation_list`.
struct list_operations {
  std::string project = default_project;
};

/// Answer to `list_operations`.
struct operation_list {
  /// Newest first.
  std::vector<operation_record> items;
};

/// Answered with an `operation_record`. Fails with `not_found`.
struct get_operation {
  std::string project = default_project;
  operation_id id;
};

/// Stops a running operation where it is; one that has ended stays as it is.
/// Answered with an `operation_record`. Fails with `not_found`.
struct cancel_operation {
  std::string project = default_project;
  operation_id id;
};

// -- to the access actor ------------------------------------------------------

/// Stores a key. Answered with its `api_key_record`.
struct create_api_key {
  /// Without `id` and `created_at`.
  api_key_record key;
};

/// Asks for all API keys. Answered with `api_key_list`.
struct list_api_keys {};

/// Answer to `list_api_keys`.
struct api_key_list {
  std::vector<api_key_record> items;
};

/// Ends a key at once. Answered with `api_key_revoked`. Fails with `not_found`.
struct revoke_api_key {
  api_key_id id;
};

/// Answer to `revoke_api_key`.
struct api_key_revoked {};

/// Asks what a project has done. Answered with `usage_list`.
struct get_usage {
  std::string project = default_project;
  /// Days since 1970-01-01, both included.
  std::int64_t from_day = 0;
  std::int64_t to_day = 0;
};

/// Answer to `get_usage`.
struct usage_list {
  std::vector<usage_record> items;
};

} // namespace tidegate
