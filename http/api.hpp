// From requests to calls and from replies to responses: pure functions that
// know neither actors nor sockets.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/codec.hpp"
#include "http/keys.hpp"
#include "http/message.hpp"
#include "tidegate/error.hpp"
#include "tidegate/event_stream.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate::http {

// -- calls --------------------------------------------------------------------

/// Something to ask of one queue.
struct queue_call {
  std::string project;
  std::string queue;
  std::variant<get_queue, patch_queue, pause_queue, resume_queue, hold_queue,
               release_queue, purge_queue, rotate_secret, publish,
               publish_batch, list_jobs, list_limit_keys, release_limit_key,
               replay_dead_letters, delete_dead_letters>
    what;

  /// Whether the answer shows the signing secret.
  bool shows_secret = false;

  /// Of a batch, see `publish_batch_body`. Where no job of it is valid, `what`
  /// only asks whether there is such a queue.
  std::vector<std::string> refusals = {};
};

/// Something to ask of the queue of one job.
struct job_call {
  std::string project;
  job_id id;
  std::variant<get_job, cancel_job, run_job_now, replay_job, ack_job, nack_job,
               defer_job, touch_job>
    what;
};

/// Something to ask of one pull queue.
struct pull_call {
  /// What becomes of a call to a queue that is not there.
  enum class absence : std::uint8_t {
    refuse,
    /// The queue is made.
    make,
    /// Where it would be the dead-letter queue of one that is there: the answer
    /// is that of an empty queue.
    empty,
  };

  std::string project;

  /// As the caller names it.
  std::string queue;

  std::variant<get_pull_queue, patch_pull_queue, subscribe_webhook,
               unsubscribe_webhook, publish_message, publish_messages,
               consume_messages, settle_message, settle_messages, peek_messages,
               list_dead_messages, purge_pull_queue, redrive_messages>
    what;

  absence if_absent = absence::refuse;

  /// Whether the dead-letter queue of `queue` is meant.
  bool of_dead_letters = false;

  /// What of the queue is shown.
  enum class aspect : std::uint8_t { settings, figures, subscription };

  aspect shows = aspect::settings;

  /// `list_dead_messages`: only those that were moved there.
  bool moved_only = false;

  /// Of a batch, see `batch_to_queue`.
  std::vector<std::string> refusals = {};
};

/// A page of the operations, which come whole and newest first.
struct operations_page {
  list_operations what;
  std::size_t limit = 100;
  /// Only those with smaller numbers.
  std::uint64_t before = UINT64_MAX;
};

/// Asks for a key to be stored whose text only the answer has.
struct new_api_key {
  create_api_key what;
  std::string key;
};

/// A page of the keys, which come whole and oldest first.
struct api_keys_page {
  list_api_keys what;
  std::size_t limit = 100;
  /// Only those with larger numbers.
  std::uint64_t after = 0;
};

/// Asks what a project has done, to be summed up.
struct usage_call {
  get_usage what;
  usage_by by = usage_by::queue;
};

/// Asks for a stream of events.
struct events_call {
  event_filter filter;
  std::optional<event_id> after;

  /// Whether who asked may still read: asked before each event, on any thread.
  /// Empty: for ever.
  std::function<bool()> may_read = nullptr;
};

/// Asks for metrics; none: of all projects, and of the server.
struct metrics_call {
  std::optional<std::string> project;
};

/// Is the process up? To be answered at once, with `alive()`.
struct health_check {};

/// Can the server do its work? To be answered with `ready()` or an `error`.
struct ready_check {};

/// What a request asks for. What has a `what` stands for the message in there;
/// the answer to each message stands in `protocol.hpp`.
using call =
  std::variant<create_queue, put_queue, delete_queue, list_queues, queue_call,
               job_call, create_pull_queue, list_pull_queues, pull_call,
               operations_page, get_operation, cancel_operation, new_api_key,
               api_keys_page, revoke_api_key, usage_call, events_call,
               metrics_call, health_check, ready_check>;

// -- requests -----------------------------------------------------------------

/// What the API is told about the server that it stands in.
struct api_options {
  /// Returns why a webhook URL cannot be called, or may not be by this server;
  /// nothing where it may. Empty: every URL may be. May be called from any
  /// thread.
  std::function<std::optional<std::string>(const std::string& url)>
    complaint_about_target;

  /// What one publish costs, in US dollars. At least 0.
  double publish_price = 0;

  /// Reads the clock. Any thread.
  std::function<wall_time()> now = [] {
    using std::chrono::system_clock;
    return wall_time{std::chrono::duration_cast<duration>(
      system_clock::now().time_since_epoch())};
  };
};

/// Returns the family that the answer to `what` belongs to.
api_family family_of(const call& what);

/// Decides whether a request may go on to its body. It is refused with 400,
/// 401, 403, 404, 405 or 429.
std::variant<admission, refusal> admit(const request_head& head,
                                       const key_ring& keys, moment now);

/// Reads what a request asks for, or returns the response that says what is
/// wrong with it. Takes the body's bytes out of `what` where it can.
std::variant<call, response> read_call(request& what,
                                       const api_options& options);

/// Returns what the log should warn of before `asked` is carried out: that a
/// webhook's certificate is not verified any more. Nothing where all is well.
std::optional<std::string> warning_about(const call& asked);

// -- responses ----------------------------------------------------------------
//
// Each of these returns the response to `asked` that tells of `reply`.

/// 201 with the signing secret where the queue was created, else 200.
response answer(const call& asked, const put_queue_result& reply);

response answer(const call& asked, const queue_view& reply);

response answer(const call& asked, const queue_list& reply);

/// 204.
response answer(const call& asked, const queue_deleted& reply);

/// 201, or 200 where the job was there already.
response answer(const call& asked, const publish_result& reply);

/// 200, whatever became of each.
response answer(const call& asked, const publish_batch_result& reply);

response answer(const call& asked, const job_view& reply);

response answer(const call& asked, const job_list& reply);

response answer(const call& asked, const jobs_removed& reply);

response answer(const call& asked, const replay_plan& reply);

response answer(const call& asked, const report_taken& reply);

response answer(const call& asked, const limit_key_view& reply);

response answer(const call& asked, const limit_key_list& reply);

/// 201 where the queue was created, else 200.
response answer(const call& asked, const pull_queue_created& reply);

response answer(const call& asked, const pull_queue_view& reply);

response answer(const call& asked, const pull_queue_list& reply);

/// 201, or 200 where the message was there already.
response answer(const call& asked, const message_published& reply);

/// 200, whatever became of each.
response answer(const call& asked, const message_batch_published& reply);

response answer(const call& asked, const messages_received& reply);

response answer(const call& asked, const message_settled& reply);

response answer(const call& asked, const messages_settled& reply);

response answer(const call& asked, const message_page& reply);

response answer(const call& asked, const redrive_result& reply);

/// Answers for a queue that is not there and counts as empty.
/// @pre `asked.if_absent` is `empty`
response answer_for_empty(const pull_call& asked);

response answer(const call& asked, const operation_record& reply);

response answer(const call& asked, const operation_list& reply);

/// 201 with the key.
response answer(const call& asked, const api_key_record& reply);

response answer(const call& asked, const api_key_list& reply);

/// 204.
response answer(const call& asked, const api_key_revoked& reply);

response answer(const call& asked, const usage_list& reply);

/// 200: the server can do its work.
response answer(const call& asked, const ready_for_work& reply);

/// The status belongs to the code, see `problem.hpp`.
response answer(const call& asked, const error& reason);

response alive();

} // namespace tidegate::http
