// A job as it is stored, and what one delivery of it came to.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/ids.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Immutable bytes that many may hold at once: copies share them. Safe to read
/// from several threads.
class payload {
public:
  payload() = default;

  /// Takes `bytes` over, which are not looked into.
  explicit payload(std::string bytes)
    : bytes_(std::make_shared<const std::string>(std::move(bytes))) {
    // nop
  }

  /// Returns the bytes, valid while any copy of this payload lives.
  const std::string& bytes() const {
    static const std::string none;
    return bytes_ ? *bytes_ : none;
  }

  bool operator==(const payload& other) const {
    return bytes() == other.bytes();
  }

private:
  std::shared_ptr<const std::string> bytes_;
};

/// What is sent along with a job besides its payload. Copies share it, like
/// those of a `payload`.
class job_context {
public:
  /// What copies share.
  struct values {
    /// Go before those of the queue that have the same name. At most 32.
    std::vector<std::pair<std::string, std::string>> headers;

    /// W3C Trace Context, as given at publish; empty: none.
    std::string traceparent;
    std::string tracestate;

    bool operator==(const values&) const = default;
  };

  job_context() = default;

  /// Takes `content` over. Nothing is kept of one that is empty.
  explicit job_context(values content)
    : values_(content == values{}
                ? nullptr
                : std::make_shared<const values>(std::move(content))) {
    // nop
  }

  /// Returns whether nothing is sent along.
  bool empty() const {
    return values_ == nullptr;
  }

  /// Returns the values, valid while any copy of this context lives.
  const values& operator*() const {
    static const values none;
    return values_ ? *values_ : none;
  }

  const values* operator->() const {
    return &**this;
  }

  bool operator==(const job_context& other) const {
    return **this == *other;
  }

private:
  std::shared_ptr<const values> values_;
};

/// The words on the wire. The numbers are on disk: do not change them.
enum class job_status : std::uint8_t {
  /// Stored, never delivered yet.
  pending = 0,
  /// Being delivered, or waiting for a retry or for the end of a defer.
  processing = 1,
  /// Done.
  completed = 2,
  /// Given up on; `dead_reason` says why.
  dead = 3,
  /// The webhook took it; whether it is done is still owed.
  awaiting_ack = 4,
};

/// Returns the word of the API, e.g. `awaiting_ack`.
const char* to_string(job_status status);

/// Why a job was given up on. The numbers are on disk: do not change them.
enum class dead_reason : std::uint8_t {
  none = 0,
  attempts_exhausted = 1,
  defer_cap_exhausted = 2,
  retry_after_exceeds_lifetime = 3,
  lifetime_exceeded = 4,
  /// A worker said so, or the status of an answer that is never retried.
  nack_not_retryable = 5,
  ack_timeout = 6,
  /// By the API; never in the dead-letter queue.
  cancelled = 7,
};

/// Returns the word of the API, e.g. `attempts_exhausted`.
const char* to_string(dead_reason reason);

/// What a waiting job waits for besides its turn. The numbers are on disk: do
/// not change them.
enum class wait_kind : std::uint8_t {
  /// Nothing of its own: it may go as soon as the queue lets it.
  none = 0,
  /// The delay that the publisher asked for.
  delay = 1,
  /// The backoff after a real failure.
  backoff = 2,
  /// The time that the downstream named, for the whole queue.
  defer = 3,
  /// The time that the publisher named. Follows the wall clock where that
  /// steps; all others do not.
  run_at = 4,
  /// The time that the downstream named, for this job alone.
  job_defer = 5,
  /// The time that the downstream named, for the job's limit key.
  key_defer = 6,
  /// Messages only: the dead-letter queue, to which it goes as soon as that is
  /// known.
  dead_letter_queue = 7,
};

/// How a delivery ended. The numbers are on disk: do not change them.
enum class delivery_status : std::uint8_t {
  success = 0,
  failed = 1,
  deferred = 2,
  /// The process died while it was under way.
  interrupted = 3,
  /// A worker reported a failure.
  nacked = 4,
  /// Not a delivery: the dead job was given another life.
  replayed = 5,
  /// Messages only: whoever received it nacked it under its receipt handle.
  /// `retry_after` says how long it was to wait.
  lease_nacked = 6,
  /// Messages only: the same, given back untouched.
  lease_released = 7,
};

/// Returns the word of the API, e.g. `deferred`.
const char* to_string(delivery_status status);

/// What a worker reports of a job. The numbers are on disk: do not change them.
enum class callback_kind : std::uint8_t {
  none = 0,
  ack = 1,
  nack = 2,
  defer = 3,
  // 4 stands in files of schema version 4.
};

/// The stage at which a delivery failed, or `none` where an HTTP status says
/// it all. The numbers are on disk: do not change them.
enum class delivery_errc : std::uint8_t {
  none = 0,
  /// The name did not resolve.
  dns_failed = 1,
  /// The address is one that the server may not call.
  target_blocked = 2,
  /// Nobody accepted the connection.
  connect_failed = 3,
  /// TLS could not be agreed on.
  tls_failed = 4,
  /// The certificate has expired.
  tls_certificate_expired = 5,
  /// The certificate comes from an authority that is not trusted.
  tls_certificate_untrusted = 6,
  /// The certificate is for another name.
  tls_certificate_name_mismatch = 7,
  /// The connection broke before a complete response head had arrived.
  connection_reset = 8,
  /// The deadline passed.
  timeout = 9,
  /// What came back is not HTTP, or larger than allowed.
  malformed_response = 10,
  /// The URL cannot be called at all.
  invalid_url = 11,
  /// Tidegate was told to stop before an answer came.
  aborted = 12,
  /// No worker reported the outcome in time.
  ack_timeout = 13,
  /// The certificate is not valid yet.
  tls_certificate_not_yet_valid = 14,
  /// Nobody but the certificate itself has signed it.
  tls_certificate_self_signed = 15,
  /// Who signed the certificate is neither trusted nor sent along: an
  /// intermediate certificate is missing, or the authority is a stranger.
  tls_certificate_issuer_unknown = 16,
};

/// Returns the word of the API, e.g. `connect_failed`.
const char* to_string(delivery_errc code);

/// One line of a job's history: a delivery and what it came to.
struct history_entry {
  /// Number of the attempt that this delivery was, from 1.
  std::uint64_t attempt = 0;

  /// Number of this delivery, from 1.
  std::uint64_t delivery = 0;

  delivery_status status = delivery_status::success;

  /// For people; empty where there is nothing to say.
  std::string error;

  delivery_errc error_code = delivery_errc::none;

  /// Status of the webhook's answer, if there was one.
  std::optional<std::uint16_t> http_status;

  /// From the start of the delivery to its outcome.
  duration took{0};

  /// First bytes of the response's body: at most 2048, always valid UTF-8.
  std::string response_excerpt;

  /// How long the downstream asked to be left alone, if it did.
  std::optional<duration> retry_after;

  /// When the outcome was known.
  wall_time at{};

  /// `replayed` with another payload: the one before. Else empty.
  payload replaced;

  bool operator==(const history_entry&) const = default;
};

/// A message that was published in the commit that acked another one.
struct successor {
  job_id id;
  wall_time created_at{};
  wall_time eligible_at{};
  /// It was there already under its idempotency key.
  bool duplicate = false;
  /// Its queue, as that was named then.
  std::string queue_name{};
  bool operator==(const successor&) const = default;
};

/// A job as the store has it.
struct job {
  // -- set at publish, never changed ------------------------------------------

  job_id id;

  /// Any JSON value, byte for byte as it was published.
  tidegate::payload payload;

  /// At most 255 bytes; empty: none.
  std::string idempotency_key;

  /// 0 to 9, higher first.
  std::uint8_t priority = 0;

  /// At most 128 characters; empty: none.
  std::string limit_key;

  job_context context;

  wall_time created_at{};

  // -- set at publish and at a replay -----------------------------------------

  /// When it was first eligible: the lifetime counts from here.
  wall_time eligible_at{};

  /// When it is given up on if it is still waiting. Not of messages: those
  /// have what their queue says.
  wall_time expires_at{};

  /// How often it has been replayed.
  std::uint64_t replays = 0;

  /// Replayed together with many others: goes after all that are not.
  bool background = false;

  // -- changed by deliveries --------------------------------------------------

  job_status status = job_status::pending;

  /// Deliveries that ended in success or in a real failure.
  std::uint64_t attempts = 0;

  /// Deliveries that ended in "not now".
  std::uint64_t defers = 0;

  /// Deliveries that were started. A number that was stored is never used
  /// again; see `started_delivery`.
  std::uint64_t deliveries = 0;

  /// When it may go, as far as the job itself is concerned. While it awaits its
  /// ack: when that must have come.
  wall_time due{};

  wait_kind waits_for = wait_kind::none;

  /// Since when it waits for `waits_for`.
  wall_time waits_since{};

  /// Number of a delivery whose start was stored before its POST and whose
  /// outcome is not known yet, else 0.
  std::uint64_t started_delivery = 0;

  /// The last outcome that a worker reported, and of which delivery: tells a
  /// report that comes twice.
  callback_kind reported = callback_kind::none;
  std::uint64_t reported_delivery = 0;

  // -- set when it ended ------------------------------------------------------

  tidegate::dead_reason dead_reason = tidegate::dead_reason::none;

  /// When it was completed or given up on.
  std::optional<wall_time> ended_at;

  /// When it may be removed.
  std::optional<wall_time> remove_at;

  /// Whether it is in the dead-letter queue.
  bool dead_letter = false;

  /// Messages only: what its ack published.
  std::optional<tidegate::successor> published;

  // -- of messages in a dead-letter queue -------------------------------------

  /// Where it came from, and after how many receives; empty: it was published
  /// there.
  std::string source_queue;
  std::uint64_t source_receives = 0;
  std::optional<wall_time> dead_lettered_at;

  bool operator==(const job&) const = default;
};

/// How many history rows a job keeps: the newest ones.
inline constexpr std::size_t history_max = 200;

/// A job with its history, oldest entry first.
struct job_record {
  tidegate::job job;
  std::vector<history_entry> history;

  /// Entries that were dropped because there were more than `history_max`.
  std::uint64_t history_dropped = 0;
};

} // namespace tidegate
