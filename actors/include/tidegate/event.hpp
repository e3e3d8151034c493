// What happens that an operator wants to hear of.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// What has happened.
enum class event_kind : std::uint8_t {
  /// The gate has shut, or stays shut for longer.
  queue_held,
  /// The one probe goes out.
  queue_probing,
  /// The gate has opened.
  queue_opened,
  queue_paused,
  queue_resumed,
  /// The owner has changed the settings.
  queue_changed,
  /// A job was given up on.
  job_dead,
  /// A dead job was given another life.
  job_replayed,
  /// The signing secret was replaced.
  queue_secret_rotated,
  /// Nothing can be stored; whatever would change something is refused.
  store_failed,
  /// The store is in order again.
  store_recovered,
  queue_created,
  queue_deleted,
  /// A message went to the dead-letter queue.
  message_dead,
  /// Messages went back to where they came from.
  messages_redriven,
  /// A long-running operation has begun.
  operation_started,
  /// It is done, or was cancelled, or has failed.
  operation_ended,
  /// A hold was ended before its time, by an operator or another webhook URL:
  /// the next job that can go is the probe.
  queue_released,
  /// An operator removed jobs or messages that waited.
  queue_purged,
  /// An operator removed dead letters of a push queue.
  dead_letters_deleted,
};

/// Every kind, in the order of the enumeration.
inline constexpr std::array all_event_kinds = {
  event_kind::queue_held,
  event_kind::queue_probing,
  event_kind::queue_opened,
  event_kind::queue_paused,
  event_kind::queue_resumed,
  event_kind::queue_changed,
  event_kind::job_dead,
  event_kind::job_replayed,
  event_kind::queue_secret_rotated,
  event_kind::store_failed,
  event_kind::store_recovered,
  event_kind::queue_created,
  event_kind::queue_deleted,
  event_kind::message_dead,
  event_kind::messages_redriven,
  event_kind::operation_started,
  event_kind::operation_ended,
  event_kind::queue_released,
  event_kind::queue_purged,
  event_kind::dead_letters_deleted,
};

/// Returns the name of the event, e.g. `queue.held`.
const char* to_string(event_kind kind);

/// One event. What does not apply to its kind is empty.
struct service_event {
  event_kind kind = event_kind::queue_held;
  /// Empty where it is about no queue.
  std::string project;
  std::string queue;
  wall_time at{};

  /// Limit key whose gate it is about; empty: the queue's own.
  std::string limit_key;

  /// The job or message that caused it or that it is about.
  std::optional<job_id> job;

  /// Whether that is a message, of a pull queue.
  bool is_message = false;

  /// Gate events: why it shut; `queue_released`: what it had shut for.
  hold_cause cause = hold_cause::none;

  /// Gate events: the status that said so.
  std::optional<std::uint16_t> http_status;

  /// `queue_held`: until when; `queue_released`: from when on a probe may go.
  std::optional<wall_time> release_at;

  /// Gate events: how the last probe ended, where this event comes of it.
  std::optional<probe_verdict> verdict;

  /// `job_dead`: why.
  dead_reason reason = dead_reason::none;

  /// `store_failed`: what the store says; gate events: what worker or operator
  /// said. For people.
  std::string detail;

  /// Events of operations: as far as it has come.
  std::optional<operation_record> operation;

  /// `messages_redriven`, `queue_purged`, `dead_letters_deleted`: how many.
  std::uint64_t count = 0;

  bool operator==(const service_event&) const = default;
};

} // namespace tidegate
