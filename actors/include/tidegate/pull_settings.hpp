// What an owner may set on a pull queue, with every default and every range.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/error.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Everything that an owner may set.
struct pull_settings {
  /// Where messages go that are given up on; empty: `<name>.dlq`.
  std::string dead_letter_queue;

  /// Receives until a message is dead-lettered; 0: never. 0 to 1000.
  std::uint32_t max_receive_count = 3;

  /// How long a message is kept that is available. 1 to 30 days.
  duration message_retention = std::chrono::hours{4 * 24};

  /// How long a receiver has where it names no time. 1 s to 43200 s.
  duration visibility_timeout = std::chrono::seconds{300};

  /// Delay of a message that names none. 0 s to 604800 s.
  duration delay{0};

  /// Whether messages may have a priority. Not of fifo queues.
  bool enable_priority = false;

  /// Whether messages keep their order within groups. Never changed.
  bool fifo = false;

  bool operator==(const pull_settings&) const = default;
};

/// Returns the settings of a dead-letter queue: it never makes one of its own,
/// and keeps its messages for 14 days.
pull_settings dead_letter_settings();

/// Some settings to change; what is absent stays as it is.
struct pull_settings_patch {
  std::optional<std::string> dead_letter_queue;
  std::optional<std::uint32_t> max_receive_count;
  std::optional<duration> message_retention;
  std::optional<duration> visibility_timeout;
  std::optional<duration> delay;
  std::optional<bool> enable_priority;

  bool operator==(const pull_settings_patch&) const = default;
};

/// Returns `settings` with the changes of `patch`.
pull_settings apply(pull_settings settings, const pull_settings_patch& patch);

/// Returns everything that is wrong with `settings`, empty where all is well.
/// Names and units are those of the HTTP API (`max_receive_count`, seconds).
std::vector<field_error> validate(const pull_settings& settings);

/// Returns what is wrong with where a queue of this name sends its dead
/// letters: to itself, or by default to a name that is too long. Nothing where
/// it sends none.
std::optional<field_error> validate_dead_letters(const std::string& name,
                                                 const pull_settings& settings);

/// What has happened on a pull queue since it was made.
struct pull_totals {
  std::uint64_t published = 0;
  /// Messages handed out, each as often as that happened.
  std::uint64_t received = 0;
  std::uint64_t acked = 0;
  std::uint64_t nacked = 0;
  /// Leases that ran out.
  std::uint64_t expired = 0;
  /// Messages that were moved to the dead-letter queue.
  std::uint64_t dead_lettered = 0;
  /// Messages that came back from there, or as a dead-letter queue: went back.
  std::uint64_t redriven = 0;
  /// Messages that were removed because they had waited too long.
  std::uint64_t retired = 0;

  bool operator==(const pull_totals&) const = default;
};

} // namespace tidegate
