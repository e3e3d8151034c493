// What queues and registry say to the actors in front of the store.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/error.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/pull_messages.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// The records of one transition, to be committed as a whole. Requests of one
/// queue are committed in the order in which they arrive.
struct commit_request {
  /// 0: about no queue. An earlier failure never refuses such a request.
  queue_id queue;
  /// Chosen by the sender, who gets it back.
  std::uint64_t ticket = 0;
  std::vector<record> records;
};

/// The records are on stable storage.
struct committed {
  std::uint64_t ticket = 0;
  std::vector<record> records;
  /// One for each record.
  std::vector<commit_answer> answers;
};

/// The records are not stored. Nothing more of this queue is stored until it
/// has asked for its snapshot with `attach_queue`.
struct commit_failed {
  std::uint64_t ticket = 0;
  error reason;
  /// Other queues to which the records bring messages. They are stored all the
  /// same where only the answer was lost.
  std::vector<queue_id> reached;
};

/// Whoever asks for a commit.
using committer =
  caf::typed_actor<caf::reacts_to<committed>, caf::reacts_to<commit_failed>>;

/// Asks for a queue as it is on stable storage, to go on from there after a
/// failed commit. Mends the store first, if it is broken.
struct attach_queue {
  queue_id queue;
};

/// Asks for everything, at start.
struct load_queues {};

/// Answer to `load_queues`.
struct stored_queues {
  std::vector<queue_snapshot> queues;
  job_seq last_job;
  queue_id last_queue;
};

/// Asks whether the store can be written, and tries to mend it if not.
struct check_store {};

struct store_usable {};

/// Asks for the number that was given to an operation last. Mends the store
/// first, if it is broken, so that what is read afterwards is what it has.
struct read_last_operation {};

struct last_operation {
  operation_id id;
};

/// Sent to itself: commit what has come in.
struct flush {};

/// Commits everything that arrived while the last commit was running. Owns the
/// store. Blocks, so that it is spawned detached in a server.
using persistence_actor =
  caf::typed_actor<caf::reacts_to<commit_request, committer>,
                   caf::reacts_to<flush>,
                   caf::replies_to<attach_queue>::with<queue_snapshot>,
                   caf::replies_to<load_queues>::with<stored_queues>,
                   caf::replies_to<check_store>::with<store_usable>,
                   caf::replies_to<read_last_operation>::with<last_operation>>;

/// Asks for live jobs with their payloads.
struct read_jobs {
  queue_id queue;
  std::vector<job_seq> seqs;
};

/// Answer to `read_jobs`: those that are live, in order, possibly not all.
struct jobs_read {
  std::vector<job> jobs;
};

/// Asks for a job with its history. Fails with `job_not_found`.
struct find_job {
  job_id id;
};

/// Asks for the job that has an idempotency key. Answered with `job_by_key`.
struct find_job_by_key {
  queue_id queue;
  std::string key;
};

struct job_by_key {
  /// Without its history.
  std::optional<job> found;
};

/// Asks for a message, whichever queue it is in. Answered with `message_found`.
struct find_message {
  message_id id;
};

struct message_found {
  std::optional<job_record> found;
};

/// Asks how many dead letters fit a filter. Answered with `dead_letter_count`.
struct count_dead_letters {
  queue_id queue;
  job_filter filter;
  /// Whether dead messages are meant, as in `job_page_query`.
  bool messages = false;
};

struct dead_letter_count {
  std::uint64_t count = 0;
};

/// Asks for ended jobs that may be removed. Answered with `removable_jobs`.
struct find_removable {
  wall_time now{};
  std::size_t limit = 0;
};

struct removable_jobs {
  /// The longest overdue first.
  std::vector<job_id> ids;
};

/// Asks for all operations. Answered with `operations_read`.
struct read_operations {};

struct operations_read {
  /// Oldest first.
  std::vector<operation_record> items;
};

/// Asks for the API keys, unless they are those of version `known`. Answered
/// with `api_keys_read`.
struct read_api_keys {
  std::optional<std::uint64_t> known;
};

struct api_keys_read {
  std::uint64_t version = 0;
  /// Oldest first. None: they are those that the asker knows.
  std::optional<std::vector<api_key_record>> items;
};

/// Reads what has been committed, beside the persistence actor. Blocks, so that
/// it is spawned detached in a server. There are two of one kind: the one that
/// loads what is about to be delivered never waits for a long list.
using reader_actor =
  caf::typed_actor<caf::replies_to<read_jobs>::with<jobs_read>,
                   caf::replies_to<find_job>::with<job_record>,
                   caf::replies_to<find_job_by_key>::with<job_by_key>,
                   caf::replies_to<find_message>::with<message_found>,
                   caf::replies_to<job_page_query>::with<job_page>,
                   caf::replies_to<count_dead_letters>::with<dead_letter_count>,
                   caf::replies_to<find_removable>::with<removable_jobs>,
                   caf::replies_to<read_operations>::with<operations_read>,
                   caf::replies_to<read_api_keys>::with<api_keys_read>,
                   caf::replies_to<get_usage>::with<usage_list>>;

/// How much has been handed to persistence and is not on stable storage.
/// Shared by all queues; any thread.
struct commit_backlog {
  std::atomic<std::uint64_t> records{0};
};

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::commit_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::committed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::commit_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::attach_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_snapshot)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::load_queues)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::stored_queues)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::check_store)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::store_usable)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::read_last_operation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::last_operation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::flush)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::read_jobs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::jobs_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::job_record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_job_by_key)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::job_by_key)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::job_page_query)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::job_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::count_dead_letters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::dead_letter_count)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_removable)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::removable_jobs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::read_operations)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::operations_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::read_api_keys)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::api_keys_read)
