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
};

const char* to_string(job_status status);

/// Why a job was given up on. The numbers are on disk: do not change them.
enum class dead_reason : std::uint8_t {
  none = 0,
  attempts_exhausted = 1,
  defer_cap_exhausted = 2,
  retry_after_exceeds_lifetime = 3,
  lifetime_exceeded = 4,
};

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
  /// The time that the downstream named.
  defer = 3,
};

/// How a delivery ended. The numbers are on disk: do not change them.
enum class delivery_status : std::uint8_t {
  success = 0,
  failed = 1,
  deferred = 2,
  /// The process died while it was under way.
  interrupted = 3,
};

const char* to_string(delivery_status status);

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
  /// The certificate has expired or is not valid yet.
  tls_certificate_expired = 5,
  /// The certificate is not signed by anybody who is trusted.
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
};

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

  bool operator==(const history_entry&) const = default;
};

/// A job as the store has it.
struct job {
  // -- set at publish, never changed ------------------------------------------

  job_id id;

  /// Any JSON value, byte for byte as it was published.
  tidegate::payload payload;

  /// At most 255 bytes; empty: none.
  std::string idempotency_key;

  wall_time created_at{};

  /// Publish time plus delay: the lifetime counts from here.
  wall_time eligible_at{};

  // -- changed by deliveries --------------------------------------------------

  job_status status = job_status::pending;

  /// Deliveries that ended in success or in a real failure.
  std::uint64_t attempts = 0;

  /// Deliveries that ended in "not now".
  std::uint64_t defers = 0;

  /// Deliveries that were started. A number that was stored is never used
  /// again; see `started_delivery`.
  std::uint64_t deliveries = 0;

  /// When it may go, as far as the job itself is concerned.
  wall_time due{};

  wait_kind waits_for = wait_kind::none;

  /// Since when it waits for `waits_for`.
  wall_time waits_since{};

  /// When it is given up on if it is still waiting. Fixed at publish.
  wall_time expires_at{};

  /// Number of a delivery whose start was stored before its POST and whose
  /// outcome is not known yet, else 0.
  std::uint64_t started_delivery = 0;

  // -- set when it ended ------------------------------------------------------

  tidegate::dead_reason dead_reason = tidegate::dead_reason::none;

  /// When it was completed or given up on.
  std::optional<wall_time> ended_at;

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
