// What is said to pull queues and what they answer, as plain values.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tidegate/error.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/pull_settings.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

// -- names --------------------------------------------------------------------

/// Names a message wherever it is: it keeps this when it moves to another
/// queue. As text: `qmsg_` and 24 digits of Crockford's base 32, in lower case,
/// that spell `seq (48) | tag (48)`.
struct message_id {
  job_seq seq;
  std::uint64_t tag = 0;
  auto operator<=>(const message_id&) const = default;
};

/// Returns the public name of a message.
std::string to_string(message_id id);

/// Returns the id that `text` spells, exactly as `to_string` prints it.
std::optional<message_id> parse_message_id(std::string_view text);

/// Names one lease of a message. Leases of a message are numbered from 1 and no
/// number is ever used again.
struct receipt {
  std::uint64_t lease = 0;
  /// Of message and lease, so that a handle cannot be made up from another one.
  std::uint64_t check = 0;
  bool operator==(const receipt&) const = default;
};

/// Returns the receipt of a lease.
receipt make_receipt(message_id id, std::uint64_t lease);

/// As text: `rcpt_`, the number of the lease, `_`, and 16 hexadecimal digits.
std::string to_string(receipt handle);

/// Returns the receipt that `text` spells, exactly as `to_string` prints it.
std::optional<receipt> parse_receipt(std::string_view text);

// -- views --------------------------------------------------------------------

/// Where a message is between publish and ack.
enum class message_status : std::uint8_t { available, delayed, in_flight };

/// Returns the word of the API, e.g. `in_flight`.
const char* to_string(message_status status);

/// A message as people see it. Of the job: `attempts` is the delivery count,
/// `replays` the redrive count, `due` when it is visible, `eligible_at` when
/// its retention began.
struct message_view {
  tidegate::job job;
  std::string queue_name;
  message_status status = message_status::available;
  /// Only for whom it was handed out to.
  std::optional<receipt> handle;
};

/// A pull queue with its figures at one moment.
struct pull_queue_view {
  queue_record queue;
  std::uint64_t available = 0;
  std::uint64_t delayed = 0;
  std::uint64_t in_flight = 0;
  /// What its dead-letter queue holds.
  std::uint64_t dead_letters = 0;
  /// Deliveries to its webhook under way.
  std::uint32_t posts = 0;
  /// Age of the oldest message, if there is one.
  std::optional<duration> oldest_age;
};

// -- to the registry ----------------------------------------------------------

/// Creates a pull queue. Answered with `pull_queue_created`. Fails with
/// `queue_exists` where there is one of other settings, with `wrong_queue_kind`
/// where there is a push queue.
struct create_pull_queue {
  std::string project = default_project;
  std::string name;
  pull_settings settings;
};

/// Answer to `create_pull_queue`.
struct pull_queue_created {
  pull_queue_view view;
  /// Not: it was there with the same settings.
  bool created = false;
};

/// Pull queues by name. Answered with `pull_queue_list`.
struct list_pull_queues {
  std::string project = default_project;
  /// Only names after this one; empty: from the start.
  std::string after;
  std::size_t limit = 100;
};

/// Answer to `list_pull_queues`.
struct pull_queue_list {
  std::vector<pull_queue_view> items;
  std::string next_after;
};

/// Asks for the actor of a pull queue. Fails with `queue_not_found`.
struct find_pull_queue {
  std::string project = default_project;
  std::string name;
  /// Makes it where there is none: with the settings of a dead-letter queue
  /// where it is one by its name, else with the defaults.
  bool make = false;
};

// -- to a pull queue ----------------------------------------------------------

struct get_pull_queue {};

/// Changes some settings. Answered with `pull_queue_view`. Fails with
/// `validation_failed`.
struct patch_pull_queue {
  pull_settings_patch patch;
};

/// Pushes the messages of the queue to a webhook as well, or changes how that
/// is done. Answered with `pull_queue_view`.
struct subscribe_webhook {
  /// Of these count URL, concurrency, rate limit, timeout and TLS.
  queue_settings settings;
  /// None: the one that it has, or a new one.
  std::optional<signing_secret> secret;
};

/// Pushes nothing more; what is under way may finish. Answered with
/// `pull_queue_view`. Fails with `not_found` where nothing was pushed.
struct unsubscribe_webhook {};

/// Hands in a message. Answered with `message_published` when it is on stable
/// storage. Fails with `validation_failed`.
struct publish_message {
  /// Any JSON value but null; not looked into.
  tidegate::payload payload;
  /// 0 s to 604800 s; none: the queue's.
  std::optional<duration> delay;
  /// 0 to 9, higher first; not 0 only where the queue has `enable_priority`.
  std::uint8_t priority = 0;
  std::vector<header> headers;
  /// At most 255 bytes; empty: none. Keeps others away for 24 h.
  std::string idempotency_key;
  /// Fifo queues only: the key is a deduplication id, which keeps others away
  /// for 5 minutes and has nothing to do with idempotency keys.
  bool deduplicates = false;
  /// Fifo queues only, and there it must be: the group within which messages
  /// keep their order. At most 128 characters.
  std::string group;
  /// Who publishes, for the usage.
  api_key_id by;
};

/// Returns whether a queue that is made for it can take it: one with defaults
/// has neither groups nor priorities.
inline bool fits_new_queue(const publish_message& what) {
  return what.group.empty() && !what.deduplicates && what.priority == 0;
}

/// Answer to `publish_message`.
struct message_published {
  message_id id;
  wall_time published_at{};
  wall_time visible_at{};
  /// It was there already under this idempotency key.
  bool duplicate = false;
};

/// Hands in many messages in one commit. Answered with
/// `message_batch_published`.
struct publish_messages {
  /// 1 to 1000.
  std::vector<publish_message> messages;
};

/// Answer to `publish_messages`.
struct message_batch_published {
  /// One for each message, in order.
  std::vector<std::variant<message_published, error>> results;
};

/// Whether whoever asked has gone away. Shared with who notices. Any thread.
using gone_flag = std::shared_ptr<const std::atomic<bool>>;

/// Receives messages. Answered with `messages_received` as soon as there is
/// one, or empty after `wait`.
struct consume_messages {
  /// 1 to 10.
  std::size_t limit = 1;
  /// 1 s to 43200 s; none: the queue's.
  std::optional<duration> visibility_timeout;
  /// 0 s to 20 s.
  duration wait{0};
  /// Who is gone is given nothing. May be empty.
  gone_flag gone;
};

/// Answer to `consume_messages`.
struct messages_received {
  std::vector<message_view> items;
};

/// Takes back leases whose answer has not reached anybody: they do not count.
struct return_messages {
  /// One lease.
  struct item {
    message_id id;
    receipt handle;
  };
  std::vector<item> items;
};

/// What becomes of a message that was received. Fails with
/// `message_not_in_flight`, `message_not_found`, for the successor with what
/// `publish_message` fails with.
struct settle_message {
  /// What the receiver says.
  enum class kind : std::uint8_t {
    /// Done: it is removed.
    ack,
    /// It failed.
    nack,
    /// Given back untouched: the delivery does not count.
    release,
    /// The lease ends later.
    extend,
  };

  kind what = kind::ack;
  message_id id;
  /// None: the present lease is meant.
  std::optional<receipt> handle;
  /// `nack`: until it is available again, 0 s to 604800 s; `extend`: until the
  /// lease ends, 1 s to 43200 s.
  duration wait{0};
  /// `ack`: published in the same commit, to `successor_queue` (empty: the
  /// same queue, which must exist).
  std::optional<publish_message> successor;
  std::string successor_queue;
};

/// Answer to `settle_message`.
struct message_settled {
  message_id id;
  /// The same has been said before, with the same handle.
  bool duplicate = false;
  /// `extend`, `nack`, `release`: when it is visible.
  wall_time visible_at{};
  std::optional<message_published> successor;
  /// The queue of the successor, as it was named then.
  std::string successor_queue{};
};

/// Many at once. Answered with `messages_settled`: one for each, in order.
struct settle_messages {
  /// 1 to 1000; without successors.
  std::vector<settle_message> entries;
};

/// Answer to `settle_messages`: one for each, in order.
struct messages_settled {
  std::vector<std::variant<message_settled, error>> results;
};

/// Shows the messages that would be received next, without receiving them.
/// Answered with `message_page`.
struct peek_messages {
  std::size_t limit = 10;
};

/// Shows what a dead-letter queue holds, newest first, without receiving it.
/// Answered with `message_page`.
struct list_dead_messages {
  /// Of the time at which they were moved.
  std::optional<wall_time> since;
  std::optional<wall_time> until;
  job_seq before{max_48_bits};
  std::size_t limit = 100;
};

/// Answer to `peek_messages` and `list_dead_messages`.
struct message_page {
  std::vector<message_view> items;
  std::optional<job_seq> next_before;
};

/// Removes all messages that are not in flight. Answered with `jobs_removed`.
struct purge_pull_queue {};

/// Most messages that a redrive moves before it is answered.
inline constexpr std::uint64_t redriven_at_once_max = 1000;

/// Moves messages of a dead-letter queue back to where they came from, the
/// oldest first. Messages that are leased, or were published there by hand, are
/// not meant. Answered with `redrive_result`: when that is done, or where it
/// takes long with the operation that does it.
struct redrive_messages {
  /// None: all.
  std::optional<std::uint64_t> limit;
  /// Only these, at most 1000; empty: all that fit.
  std::vector<message_id> ids;
  /// Of the time at which they were moved there, or could be received first.
  std::optional<wall_time> since;
  std::optional<wall_time> until;
  /// Not those that were published there.
  bool moved_only = false;
  /// Where those go that were published there; empty: nowhere.
  std::string source;
  bool dry_run = false;
  /// Messages a second, 0.1 to 10000: then it is an operation, however few they
  /// are. Not together with `ids`.
  std::optional<double> per_second;
};

/// Answer to `redrive_messages`.
struct redrive_result {
  /// Moved, or to be moved; on a dry run: that would be.
  std::uint64_t count = 0;
  /// On a dry run: some of them, oldest first.
  std::vector<message_view> sample;
  /// What moves them, where that is not done yet.
  std::optional<operation_record> operation;
};

} // namespace tidegate
