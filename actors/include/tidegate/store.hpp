// The first door to the world: where queues and jobs are kept.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tidegate/error.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

// -- what is kept -------------------------------------------------------------

/// Position of the hold and probe machine. The numbers are on disk: do not
/// change them.
enum class gate_state : std::uint8_t { open = 0, held = 1, probing = 2 };

const char* to_string(gate_state state);

/// How the last probe ended. The numbers are on disk: do not change them.
enum class probe_verdict : std::uint8_t {
  /// It was taken.
  success = 0,
  /// The downstream works and refused this one job.
  refused = 1,
  /// "Not now" again.
  deferred = 2,
  /// It failed and said nothing about whether the downstream can take more.
  no_verdict = 3,
};

const char* to_string(probe_verdict verdict);

/// Why the gate is where it is.
enum class hold_cause : std::uint8_t {
  none = 0,
  /// A delivery was answered 429, 503 or 529.
  downstream = 1,
  /// A probe ended without a verdict.
  probe_failed = 2,
};

const char* to_string(hold_cause cause);

/// The last probe that ended, and how.
struct last_probe {
  job_id job;
  std::uint64_t delivery = 0;
  probe_verdict verdict = probe_verdict::success;
  wall_time at{};
  bool operator==(const last_probe&) const = default;
};

/// The gate as it is stored.
struct gate_record {
  gate_state state = gate_state::open;

  /// While held: nothing goes out before. Meaningless while open.
  wall_time release_at{};

  /// When it left `open`.
  wall_time since{};

  hold_cause cause = hold_cause::none;

  /// Job whose delivery set the present hold.
  std::optional<job_id> caused_by;

  /// Status that set the present hold, if one did.
  std::optional<std::uint16_t> http_status;

  /// Probes in a row that ended without a verdict.
  std::uint32_t failed_probes = 0;

  std::optional<last_probe> last;

  bool operator==(const gate_record&) const = default;
};

/// Deliveries that started close together: `count` of them, the latest at
/// `latest`.
struct rate_start {
  wall_time latest{};
  std::uint32_t count = 0;
  bool operator==(const rate_start&) const = default;
};

/// A signing secret as printed: `whsec_` and base64 of 32 random bytes.
using signing_secret = std::string;

/// A queue without its jobs.
struct queue_record {
  queue_id id;
  std::string name;
  queue_settings settings;
  signing_secret secret;
  bool paused = false;
  wall_time paused_since{};
  wall_time created_at{};
  wall_time updated_at{};
  gate_record gate;

  /// What counts against the rate limit, oldest first.
  std::vector<rate_start> rate;

  /// Jobs that have ended and are still kept.
  std::uint64_t completed = 0;
  std::uint64_t dead = 0;

  bool operator==(const queue_record&) const = default;
};

/// What has to stay in memory of a live job.
struct live_job {
  job_seq seq;
  wall_time due{};
  wall_time expires_at{};
  wall_time created_at{};
  wait_kind waits_for = wait_kind::none;
  job_status status = job_status::pending;
  /// See `job::started_delivery`.
  std::uint64_t started_delivery = 0;
  bool operator==(const live_job&) const = default;
};

/// A queue with its live jobs, in the order of their numbers.
struct queue_snapshot {
  queue_record queue;
  std::vector<live_job> jobs;
};

// -- what is asked for --------------------------------------------------------

/// Creates a queue. `queue.id` was drawn by the caller and is new.
struct insert_queue {
  queue_record queue;
};

/// Replaces name-independent parts of a queue: settings, paused, updated_at.
struct update_queue {
  queue_id id;
  queue_settings settings;
  bool paused = false;
  wall_time paused_since{};
  wall_time updated_at{};
};

/// Replaces the gate.
struct update_gate {
  queue_id id;
  gate_record gate;
};

/// Replaces what counts against the rate limit.
struct update_rate {
  queue_id id;
  std::vector<rate_start> rate;
};

/// Removes a queue, its jobs and their history.
struct remove_queue {
  queue_id id;
};

/// Adds a job, unless its queue has a job with the same idempotency key: then
/// nothing is stored and the existing job is the answer.
struct insert_job {
  tidegate::job job;
};

/// Replaces what deliveries change in a live job and adds to its history. What
/// was set at publish, the payload among it, is not looked at.
struct update_job {
  tidegate::job job;
  std::optional<history_entry> entry;
};

/// Moves a live job among the ended ones (`job.status` is completed or dead),
/// adds to its history, and counts it on its queue.
struct end_job {
  tidegate::job job;
  std::optional<history_entry> entry;
};

/// One change. A batch of them is applied in order and as a whole.
using record =
  std::variant<insert_queue, update_queue, update_gate, update_rate,
               remove_queue, insert_job, update_job, end_job>;

/// What became of an `insert_job`; the answer to every other record is empty.
struct commit_answer {
  /// The job that has the idempotency key already. Nothing was inserted.
  std::optional<job> existing;
};

// -- the door -----------------------------------------------------------------

/// Reads what has been committed. Used by one thread at a time; several may be
/// open beside the store. Must not outlive the store that made it.
class store_reader {
public:
  virtual ~store_reader() = default;

  /// Returns live jobs of one queue with their payloads, in the order of
  /// `seqs`. Numbers that are not live are left out. Stops early once the
  /// payloads come to `payload_bytes_max`, but never before the first job.
  virtual result<std::vector<job>> load(queue_id queue,
                                        std::span<const job_seq> seqs,
                                        std::size_t payload_bytes_max) = 0;

  /// Returns a job, live or ended, with its history; nothing where no job has
  /// exactly this id.
  virtual result<std::optional<job_record>> find(job_id id) = 0;
};

/// Keeps queues and jobs. One thread at a time calls it.
///
/// Every call answers with an error instead of throwing. After a failed commit
/// nothing of the batch is stored, and every further commit is refused until
/// `reopen` has succeeded.
///
/// A record that does not fit what is stored (a job that is not live, a queue
/// that is not there, a name that is taken) fails the whole batch: it is a
/// fault of the caller's.
class store {
public:
  virtual ~store() = default;

  /// Applies `batch` as a whole and returns one answer for each record, in
  /// order, once everything is on stable storage.
  virtual result<std::vector<commit_answer>>
  commit(std::span<const record> batch) = 0;

  /// Lets go of whatever may be broken and starts anew from stable storage,
  /// checking that it is sound and can be written. Readers that are open go on.
  virtual std::optional<error> reopen() = 0;

  /// Returns every queue with its live jobs, ordered by queue id.
  virtual result<std::vector<queue_snapshot>> load_queues() = 0;

  /// Returns the largest number that a job has ever had; 0 for none.
  virtual result<job_seq> last_job_seq() = 0;

  /// Returns the largest number that a queue has ever had, deleted ones
  /// included; 0 for none.
  virtual result<queue_id> last_queue_id() = 0;

  /// Opens another door for reading, to be used by another thread.
  virtual result<std::unique_ptr<store_reader>> open_reader() = 0;
};

} // namespace tidegate
