// What a delivery came to and what was decided of it, for the log.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// What becomes of the job, or the message, of a delivery.
enum class delivery_decision : std::uint8_t {
  completed,
  /// Ack mode: the webhook took it, the outcome is still owed.
  awaiting_ack,
  /// A real failure; another attempt follows.
  retry,
  /// "Not now"; no attempt was spent.
  defer,
  /// It was given up on.
  dead,
  /// It was interrupted through no fault of its own, and is made again.
  again,
  /// What the job came to was known before the webhook answered.
  known,
};

/// Returns the word of the log, e.g. `awaiting_ack`.
const char* to_string(delivery_decision decision);

/// An account of one delivery: what it came to, and everything that was decided
/// because of it. In ack mode there is one for the webhook's answer and one for
/// the outcome. What does not apply is empty.
struct delivery_account {
  std::string project;
  std::string queue;
  std::string limit_key;
  job_id job;

  /// Whether that is a message, of a pull queue.
  bool is_message = false;

  /// Number of the delivery, from 1.
  std::uint64_t delivery = 0;

  /// Number of the attempt that it was, from 1.
  std::uint64_t attempt = 0;

  /// Whether it tested a held queue or key.
  bool probe = false;

  /// Whether a worker told the outcome.
  bool reported = false;

  std::optional<std::uint16_t> http_status;
  delivery_errc error_code = delivery_errc::none;
  duration took{0};

  delivery_decision decision = delivery_decision::completed;

  /// `retry`, `defer`, `again`: when the job itself may go;
  /// `awaiting_ack`: when the outcome must have come.
  std::optional<wall_time> until;

  /// `dead`: why.
  dead_reason reason = dead_reason::none;

  /// The gate of the queue afterwards, or where that is open and the key's is
  /// not, that of the limit key.
  gate_state gate = gate_state::open;
  bool gate_of_key = false;

  /// That gate is shut: until when, and why.
  std::optional<wall_time> held_until;
  hold_cause cause = hold_cause::none;

  /// W3C Trace Context, as given at publish; empty: none.
  std::string traceparent;

  bool operator==(const delivery_account&) const = default;
};

/// Hears of every delivery once what was decided is stored. Called by actors,
/// from any thread, so it must not wait for anything.
using account_listener = std::function<void(const delivery_account&)>;

} // namespace tidegate
