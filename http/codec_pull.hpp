// Pull queues and their messages to JSON and back. Reading is as strict as in
// `codec.hpp`; whole numbers are never taken from anything else.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/codec.hpp"
#include "http/message_json.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate::http {

/// Longest delay of a message, in seconds.
inline constexpr std::uint64_t message_delay_max = 604'800;

/// Longest time that a receiver may have, in seconds.
inline constexpr std::uint64_t visibility_timeout_max = 43'200;

/// Longest time that a receiver may wait, in seconds.
inline constexpr std::uint64_t wait_seconds_max = 20;

/// Ends the name of a dead-letter queue, unless it has one of its own.
inline constexpr std::string_view dead_letter_suffix = ".dlq";

/// Most messages that are received at once.
inline constexpr std::uint64_t receive_max = 10;

/// Most receives until a message is dead-lettered.
inline constexpr std::uint64_t receive_count_max = 1000;

/// Longest time that messages are kept, in days.
inline constexpr std::uint64_t retention_days_max = 30;

/// Most messages that one redrive can be asked to move.
inline constexpr std::uint64_t redrive_max = 1'000'000'000;

/// A message to a queue that the body names.
template <class T>
struct to_named_queue {
  std::string queue;
  T what;
};

/// Many messages, and what is wrong with those that are not valid.
template <class T>
struct batch_to_queue {
  std::string queue;

  /// The valid ones, in their order.
  std::vector<T> entries;

  /// One for each that was sent: empty where it is among `entries`, else the
  /// result that stands for it, as JSON.
  std::vector<std::string> refusals;
};

// -- reading ------------------------------------------------------------------

/// Reads `name` and settings; those that are missing have their defaults.
decoded<create_pull_queue> decode_create_pull_queue(std::string_view body);

/// Reads the settings that are there. `queue` is whose they are.
decoded<pull_settings_patch> decode_pull_patch(std::string_view body,
                                               std::string_view queue);

decoded<to_named_queue<publish_message>>
decode_publish_message(std::string_view body);

decoded<batch_to_queue<publish_message>>
decode_publish_messages(std::string_view body);

decoded<to_named_queue<consume_messages>> decode_consume(std::string_view body);

/// Reads what is said of a message. An id that no message can have becomes
/// `message_id{}`, a handle that none can have `receipt{}`.
decoded<to_named_queue<settle_message>>
decode_settle(std::string_view body, settle_message::kind kind);

/// The same of many. `kind` is `ack` or `nack`.
decoded<batch_to_queue<settle_message>>
decode_settle_batch(std::string_view body, settle_message::kind kind);

/// Reads what is to be redriven; an empty body stands for `{}`.
decoded<redrive_messages> decode_redrive(std::string_view body);

/// Reads where and how messages are to be pushed.
decoded<subscribe_webhook> decode_push_subscription(std::string_view body,
                                                    const target_check& check);

/// Returns what is wrong with an idempotency key, if anything.
std::optional<std::string> complaint_about_key(std::string_view key);

// -- writing ------------------------------------------------------------------
//
// What stands under `data`. The cursor of a page says where the next one
// starts; empty: there is none.

std::string encode(const pull_queue_view& view);

std::string encode_stats(const pull_queue_view& view);

/// Prints the push subscription of a queue that has one.
std::string encode_subscription(const pull_queue_view& view, bool with_secret);

std::string encode(const pull_queue_list& list, std::string_view next_cursor);

std::string encode(const message_published& result, std::string_view queue);

std::string encode(const messages_received& received);

std::string encode(const message_settled& result, settle_message::kind kind);

/// Prints one result for each message that was sent: its refusal, or where that
/// is empty the next of `results`.
std::string encode(const message_batch_published& results,
                   std::string_view queue,
                   const std::vector<std::string>& refusals);

/// The same for what was said of messages. `asked` has what was sent of those
/// that are not refused.
std::string encode(const messages_settled& results,
                   const settle_messages& asked,
                   const std::vector<std::string>& refusals);

/// Prints what was moved, what would be, or where to see how far that has come.
std::string encode(const redrive_result& result, bool dry_run);

/// Returns the cursor of what follows an item.
using cursor_maker = std::function<std::string(const message_view& item)>;

/// Prints the first of `items`, as many as go into `bytes_max` bytes and at
/// least one, with the cursor of what follows: `last_cursor` where all of them
/// were printed.
std::string encode_messages(const std::vector<message_view>& items,
                            std::size_t bytes_max, std::string last_cursor,
                            const cursor_maker& cursor_after);

} // namespace tidegate::http
