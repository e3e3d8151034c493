// What is said to Tidegate and what it answers, as plain values. How these
// travel between actors stands in `protocol.hpp`.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidegate/job.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/time.hpp"
#include "tidegate/view.hpp"

namespace tidegate {

// -- to the registry ----------------------------------------------------------

/// Creates a queue. Fails with `queue_exists`.
struct create_queue {
  std::string name;
  queue_settings settings;
};

/// Creates a queue or replaces the settings of the one there is. Operational
/// state and secret stay.
struct put_queue {
  std::string name;
  queue_settings settings;
};

/// Answer to `create_queue` and `put_queue`.
struct put_queue_result {
  queue_view view;
  bool created = false;
};

/// Removes a queue. Fails with `queue_not_empty` while it has live jobs, unless
/// `force` is set.
struct delete_queue {
  std::string name;
  bool force = false;
};

/// Answer to `delete_queue`.
struct queue_deleted {};

/// Queues by name, in the order of their bytes. Fails where one of them cannot
/// say how it is.
struct list_queues {
  /// Only names after this one; empty: from the start.
  std::string after;
  std::size_t limit = 100;
};

struct queue_list {
  std::vector<queue_view> items;
  /// Where the list goes on: `list_queues::after` of the next page. Empty: this
  /// is the last one.
  std::string next_after;
};

/// Asks for the actor of a queue.
struct find_queue {
  std::string name;
};

/// Asks for the actor of the queue that a job belongs to.
struct find_queue_of {
  job_id id;
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

struct pause_queue {};

struct resume_queue {};

struct get_queue {};

/// Hands in a job. The answer comes when the job is on stable storage.
struct publish {
  /// Any JSON value; not looked into.
  tidegate::payload payload;

  /// At most 255 bytes; empty: none.
  std::string idempotency_key;

  /// 0 to 2592000 s.
  duration delay{0};
};

/// Answer to `publish`.
struct publish_result {
  job_id id;
  job_status status = job_status::pending;
  wall_time created_at{};

  /// The job was there already under this idempotency key.
  bool duplicate = false;

  /// It was, and with another payload.
  bool payload_mismatch = false;
};

/// Answered with a `job_view`. Fails with `job_not_found`.
struct get_job {
  job_id id;
};

} // namespace tidegate
