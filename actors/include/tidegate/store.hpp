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
#include "tidegate/pull_settings.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

// -- what is kept -------------------------------------------------------------

/// Position of the hold and probe machine. The numbers are on disk: do not
/// change them.
enum class gate_state : std::uint8_t { open = 0, held = 1, probing = 2 };

/// Returns the word of the API, e.g. `held`.
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

/// Returns the word of the API, e.g. `no_verdict`.
const char* to_string(probe_verdict verdict);

/// Why the gate is where it is.
enum class hold_cause : std::uint8_t {
  none = 0,
  /// A delivery was answered 429, 503 or 529.
  downstream = 1,
  /// A probe ended without a verdict.
  probe_failed = 2,
  /// A worker reported a defer.
  worker = 3,
  /// An operator held the queue by hand.
  operator_hold = 4,
};

/// Returns the word of the API, e.g. `downstream`.
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

  /// What worker or operator said; empty: nothing. At most 500 characters.
  std::string reason;

  /// While a queue is coming back from a hold step by step: how many deliveries
  /// it has in flight at most. 0: as many as its settings say.
  std::uint32_t ramp = 0;

  bool operator==(const gate_record&) const = default;
};

/// Deliveries that started close together: `count` of them, the latest at
/// `latest`.
struct rate_start {
  wall_time latest{};
  std::uint32_t count = 0;
  bool operator==(const rate_start&) const = default;
};

/// The gate and the rate of one limit key. One that is open, has no failed
/// probe and no starts is at rest and is not kept.
struct limit_key_record {
  std::string key;
  gate_record gate;
  std::vector<rate_start> rate;

  /// Returns whether there is nothing to keep.
  bool at_rest() const {
    return gate.state == gate_state::open && gate.failed_probes == 0
           && rate.empty();
  }

  bool operator==(const limit_key_record&) const = default;
};

/// A signing secret as printed: `whsec_` and base64 of 32 random bytes.
using signing_secret = std::string;

/// Who moves first. The numbers are on disk: do not change them.
enum class queue_kind : std::uint8_t {
  /// Jobs are delivered to a webhook.
  push = 0,
  /// Messages are received by workers.
  pull = 1,
};

/// A queue without its jobs or messages.
struct queue_record {
  queue_id id;
  queue_kind kind = queue_kind::push;
  /// Whose it is: names are unique within a project.
  std::string project;
  std::string name;
  queue_settings settings;
  signing_secret secret;
  /// Signs as well until `previous_secret_until`; empty: none.
  signing_secret previous_secret;
  wall_time previous_secret_until{};
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

  /// Of pull queues; those of the other kind have none of what stands above.
  pull_settings pull;
  pull_totals totals;

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
  std::uint8_t priority = 0;
  bool background = false;
  std::string limit_key;
  /// Messages only: see `job`.
  wall_time eligible_at{};
  std::uint64_t tag = 0;
  std::uint64_t attempts = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t replays = 0;
  bool operator==(const live_job&) const = default;
};

/// A queue with its live jobs, in the order of their numbers, and its limit
/// keys that are not at rest.
struct queue_snapshot {
  queue_record queue;
  std::vector<live_job> jobs;
  std::vector<limit_key_record> keys;
};

/// Who may call the API. Of the key itself only its digest is kept.
struct api_key_record {
  api_key_id id;
  /// SHA-256 of the key, 32 bytes.
  std::string digest;
  std::string project;
  /// Bits as `http::scope_set` has them.
  std::uint8_t scopes = 0;
  /// For people; may be empty.
  std::string name;
  wall_time created_at{};
  std::optional<wall_time> expires_at;
  bool operator==(const api_key_record&) const = default;
};

/// Which jobs are meant. What is empty does not restrict.
struct job_filter {
  std::optional<job_status> status;
  std::optional<std::string> limit_key;
  std::optional<tidegate::dead_reason> reason;
  /// From `since` on and before `until`: when created, for dead letters when
  /// ended, for dead messages when given up on.
  std::optional<wall_time> since;
  std::optional<wall_time> until;
  bool operator==(const job_filter&) const = default;
};

/// What a long-running operation does. The numbers are on disk: do not change
/// them.
enum class operation_kind : std::uint8_t {
  /// Gives dead letters of a push queue another life.
  dlq_replay = 0,
  /// Moves the messages of a dead-letter queue back to where they came from.
  redrive = 1,
};

/// Returns the word of the API, e.g. `dlq_replay`.
const char* to_string(operation_kind kind);

/// The numbers are on disk: do not change them.
enum class operation_state : std::uint8_t {
  running = 0,
  done = 1,
  cancelled = 2,
  failed = 3,
};

/// Returns the word of the API, e.g. `running`.
const char* to_string(operation_state state);

/// A long-running operation, as far as it has come.
struct operation_record {
  operation_id id;
  operation_kind kind = operation_kind::dlq_replay;
  queue_id queue;
  std::string project;
  std::string queue_name;
  operation_state state = operation_state::running;

  /// Dead letters that it is about. Of a redrive: `queue` is where they are.
  job_filter filter;

  /// Most jobs that it replays or moves; none: all that were dead when it
  /// began.
  std::optional<std::uint64_t> limit;

  /// Jobs a second.
  double per_second = 0;

  /// Where it goes on: a replay with smaller numbers than this, from the newest
  /// to the oldest; a redrive with larger ones, from the oldest to the newest.
  job_seq position;

  /// How many there were when it began, and how many are done.
  std::uint64_t total = 0;
  std::uint64_t done = 0;

  wall_time started_at{};
  std::optional<wall_time> finished_at;

  /// Redrives: where messages go that were published in the dead-letter queue
  /// itself.
  std::string source;

  /// Why it failed; else empty.
  std::string error;

  bool operator==(const operation_record&) const = default;
};

/// What was done on one day (UTC) for one queue by one key.
struct usage_record {
  std::string project;
  /// Empty where the queue has been deleted since.
  std::string queue_name;
  queue_id queue;
  /// Who published; 0: nobody, as with deliveries.
  api_key_id key;
  /// Days since 1970-01-01.
  std::int64_t day = 0;
  std::uint64_t publishes = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t receives = 0;
  /// Of payloads that were published.
  std::uint64_t bytes = 0;
  bool operator==(const usage_record&) const = default;
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

/// Replaces the signing secrets.
struct update_secrets {
  queue_id id;
  signing_secret secret;
  signing_secret previous_secret;
  wall_time previous_secret_until{};
};

/// Replaces gate and rate of a limit key; one at rest is forgotten.
struct update_limit_key {
  queue_id id;
  limit_key_record key;
};

/// Removes a queue, its jobs and their history, and its limit keys. Its usage
/// and the operations on it stay.
struct remove_queue {
  queue_id id;
};

/// Adds a job, unless its queue has a job with the same idempotency key: then
/// nothing is stored and the existing job is the answer.
struct insert_job {
  tidegate::job job;
  /// Who published, for the usage; 0: nobody.
  api_key_id by;
  /// A job that was created before loses its idempotency key to this one.
  wall_time key_since{};
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

/// Moves an ended job back among the live ones, with everything as `job` says
/// but what was set at publish, takes it off the counters of its queue, and
/// adds to its history. Where `entry.replaced` is not empty the payload is
/// replaced by `job.payload`. Does nothing where the job has been removed since
/// or is live.
struct revive_job {
  tidegate::job job;
  history_entry entry;
};

/// Removes jobs of one queue, live or ended, with everything about them, and
/// takes the ended ones off its counters. Numbers that it does not have are
/// passed over.
struct remove_jobs {
  queue_id id;
  std::vector<job_seq> seqs;
};

/// Replaces settings of a pull queue.
struct update_pull_settings {
  queue_id id;
  pull_settings settings;
  wall_time updated_at{};
};

/// Replaces the totals of a pull queue, but for `published`: that is counted by
/// the store, with each message that it inserts.
struct update_pull_totals {
  queue_id id;
  pull_totals totals;
};

/// Moves a live message to another queue, with everything as `job` says but
/// what was set at publish, and adds to its history. `job.id.queue` is the
/// queue that it leaves. Does nothing where it is not live there or the other
/// queue does not exist.
struct move_message {
  tidegate::job job;
  queue_id to;
  std::optional<history_entry> entry{};
};

/// Ends a live message and adds another one, both or neither: neither where the
/// queue of `next` does not exist. Where `next` is there already under its key,
/// `message` ends all the same. What was published, or was there, is kept with
/// `message`.
struct hand_over {
  tidegate::job message;
  insert_job next;
  /// Name of the queue of `next`.
  std::string queue_name{};
};

/// Returns what became of `next`, where `existing` is what has its key.
inline successor outcome_of(const insert_job& next,
                            const std::optional<job>& existing,
                            const std::string& queue_name = {}) {
  const auto& shown = existing ? *existing : next.job;
  return {shown.id, shown.created_at, shown.eligible_at, existing.has_value(),
          queue_name};
}

/// Adds an operation. `operation.id` is drawn by the caller and new.
struct insert_operation {
  operation_record operation;
};

/// Replaces state, progress and end of an operation. Passes over one that has
/// been removed.
struct update_operation {
  operation_record operation;
};

/// Adds a key. `key.id` is 0: the store draws the number.
struct insert_api_key {
  api_key_record key;
};

/// Removes a key. Passes over one that is not there.
struct remove_api_key {
  api_key_id id;
};

/// One change. A batch of them is applied in order and as a whole.
using record =
  std::variant<insert_queue, update_queue, update_gate, update_rate,
               update_secrets, update_limit_key, remove_queue, insert_job,
               update_job, end_job, revive_job, remove_jobs,
               update_pull_settings, update_pull_totals, move_message,
               hand_over, insert_operation, update_operation, insert_api_key,
               remove_api_key>;

/// What became of a record, where its kind leaves more than one possibility.
struct commit_answer {
  /// `insert_job`, `hand_over`: the job that has the idempotency key already.
  /// Nothing was inserted.
  std::optional<job> existing;

  /// `revive_job`: whether the job is live now; `move_message`, `hand_over`:
  /// whether it was done; `remove_api_key`: whether it was there.
  bool done = false;

  /// `revive_job`, `remove_jobs`: ended jobs that have been taken off the
  /// counters.
  std::uint64_t completed = 0;
  std::uint64_t dead = 0;

  /// `remove_jobs`: live ones that are gone.
  std::uint64_t live = 0;

  /// `insert_api_key`: its number.
  api_key_id key;
};

/// What is read of many jobs at once.
struct job_page {
  /// Newest first, without their history. Payloads only where asked for.
  std::vector<job> jobs;

  /// Where the next page starts; none: there is no more.
  std::optional<job_seq> next_before;

  /// The same of a page of dead messages.
  std::optional<job_seq> next_after;
};

/// Asks for a page of the jobs of one queue, newest first.
struct job_page_query {
  queue_id queue;
  job_filter filter;

  /// Whether only dead letters are meant.
  bool dead_letters = false;

  /// Only jobs with smaller numbers.
  job_seq before{max_48_bits};

  /// Whether, instead of all that, messages of a dead-letter queue are meant
  /// that are not leased: the oldest first, and only those with numbers larger
  /// than `after`. Of the filter `since` and `until` count, of the time at
  /// which they were moved there or could be received first; with a `reason`,
  /// only those are meant that were moved.
  bool dead_messages = false;
  job_seq after{};

  /// Most jobs on the page.
  std::size_t limit = 100;

  /// Most rows that are looked at before the page ends as it is.
  std::size_t rows_max = 10'000;

  bool payloads = false;
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

  /// Returns a message, live or ended, whichever queue it is in, with its
  /// history; nothing where none has this number and tag.
  virtual result<std::optional<job_record>> find_message(job_seq seq,
                                                         std::uint64_t tag) = 0;

  /// Returns the job that has an idempotency key, without its history.
  virtual result<std::optional<job>>
  find_by_key(queue_id queue, const std::string& idempotency_key) = 0;

  /// Reads one page of jobs.
  virtual result<job_page> list(const job_page_query& query) = 0;

  /// Returns how many dead letters of a queue fit a filter. Reads all of them.
  virtual result<std::uint64_t>
  count_dead_letters(queue_id queue, const job_filter& filter) = 0;

  /// Returns how many dead messages, see `job_page_query`, are in a queue and
  /// fit a filter. Reads all live jobs.
  virtual result<std::uint64_t>
  count_dead_messages(queue_id queue, const job_filter& filter) = 0;

  /// Returns up to `limit` ended jobs whose `remove_at` has come, the longest
  /// overdue first.
  virtual result<std::vector<job_id>> removable(wall_time now,
                                                std::size_t limit) = 0;

  /// Returns all operations, oldest first.
  virtual result<std::vector<operation_record>> operations() = 0;

  /// Returns all API keys, oldest first.
  virtual result<std::vector<api_key_record>> api_keys() = 0;

  /// Returns a number that changes whenever a key is added or removed, by this
  /// process or another one.
  virtual result<std::uint64_t> api_keys_version() = 0;

  /// Returns the usage of a project from one day to another, both included,
  /// ordered by day, queue and key.
  virtual result<std::vector<usage_record>> usage(const std::string& project,
                                                  std::int64_t from_day,
                                                  std::int64_t to_day) = 0;
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

  /// Returns the largest number that an operation has ever had; 0 for none.
  virtual result<operation_id> last_operation_id() = 0;

  /// Opens another door for reading, to be used by another thread.
  virtual result<std::unique_ptr<store_reader>> open_reader() = 0;
};

} // namespace tidegate
