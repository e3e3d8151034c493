// Every message that an application exchanges with Tidegate's actors: who takes
// it, what comes back. The messages themselves stand in `messages.hpp`.
//
// A request that is refused is answered with a `caf::error` that `from_caf`
// turns back into a `tidegate::error`.
//
// The messages are values that travel within one process. An application that
// uses CAF's type ids includes `type_ids.hpp` as well.

#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/error.hpp"
#include "tidegate/event.hpp"
#include "tidegate/event_stream.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/metrics.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate {

// -- errors -------------------------------------------------------------------

/// Category of Tidegate's errors within CAF; their codes are those of `errc`.
inline constexpr caf::atom_value error_category = caf::atom("tidegate");

/// Wraps an error for its way through CAF.
caf::error to_caf(const error& reason);

/// Unwraps it. An error of CAF itself, such as that of a request to an actor
/// that is gone, becomes `draining`: the part that was asked has stopped.
error from_caf(const caf::error& reason);

// -- the actors ---------------------------------------------------------------

/// One push queue. Answers every request exactly once, at the latest when it
/// stops. What changes something is answered when it is on stable storage.
using queue_actor =
  caf::typed_actor<caf::replies_to<publish>::with<publish_result>,
                   caf::replies_to<publish_batch>::with<publish_batch_result>,
                   caf::replies_to<ack_job>::with<report_taken>,
                   caf::replies_to<nack_job>::with<report_taken>,
                   caf::replies_to<defer_job>::with<report_taken>,
                   caf::replies_to<touch_job>::with<report_taken>,
                   caf::replies_to<get_job>::with<job_view>,
                   caf::replies_to<cancel_job>::with<job_view>,
                   caf::replies_to<run_job_now>::with<job_view>,
                   caf::replies_to<replay_job>::with<job_view>,
                   caf::replies_to<list_jobs>::with<job_list>,
                   caf::replies_to<delete_dead_letters>::with<jobs_removed>,
                   caf::replies_to<replay_dead_letters>::with<replay_plan>,
                   caf::replies_to<get_queue>::with<queue_view>,
                   caf::replies_to<patch_queue>::with<queue_view>,
                   caf::replies_to<pause_queue>::with<queue_view>,
                   caf::replies_to<resume_queue>::with<queue_view>,
                   caf::replies_to<hold_queue>::with<queue_view>,
                   caf::replies_to<release_queue>::with<queue_view>,
                   caf::replies_to<purge_queue>::with<jobs_removed>,
                   caf::replies_to<rotate_secret>::with<queue_view>,
                   caf::replies_to<list_limit_keys>::with<limit_key_list>,
                   caf::replies_to<release_limit_key>::with<limit_key_view>>;

/// One pull queue. Answers every request exactly once, at the latest when it
/// stops; a consume after its `wait` at the latest, but for who is gone. What
/// changes something is answered when it is on stable storage.
using pull_queue_actor = caf::typed_actor<
  caf::replies_to<get_pull_queue>::with<pull_queue_view>,
  caf::replies_to<patch_pull_queue>::with<pull_queue_view>,
  caf::replies_to<subscribe_webhook>::with<pull_queue_view>,
  caf::replies_to<unsubscribe_webhook>::with<pull_queue_view>,
  caf::replies_to<publish_message>::with<message_published>,
  caf::replies_to<publish_messages>::with<message_batch_published>,
  caf::replies_to<consume_messages>::with<messages_received>,
  caf::reacts_to<return_messages>,
  caf::replies_to<settle_message>::with<message_settled>,
  caf::replies_to<settle_messages>::with<messages_settled>,
  caf::replies_to<peek_messages>::with<message_page>,
  caf::replies_to<list_dead_messages>::with<message_page>,
  caf::replies_to<purge_pull_queue>::with<jobs_removed>,
  caf::replies_to<redrive_messages>::with<redrive_result>>;

/// Knows every queue by name and number. Handles of queues come only from here;
/// they may be kept for as long as the queue answers.
using registry_actor =
  caf::typed_actor<caf::replies_to<create_queue>::with<put_queue_result>,
                   caf::replies_to<put_queue>::with<put_queue_result>,
                   caf::replies_to<delete_queue>::with<queue_deleted>,
                   caf::replies_to<list_queues>::with<queue_list>,
                   // Fails with `queue_not_found` or `wrong_queue_kind`.
                   caf::replies_to<find_queue>::with<queue_actor>,
                   caf::replies_to<create_pull_queue>::with<pull_queue_created>,
                   caf::replies_to<list_pull_queues>::with<pull_queue_list>,
                   // Fails with `queue_not_found` or `wrong_queue_kind`.
                   caf::replies_to<find_pull_queue>::with<pull_queue_actor>,
                   // Fails with `job_not_found`: only jobs name a number.
                   caf::replies_to<find_queue_of>::with<queue_actor>,
                   caf::replies_to<check_ready>::with<ready_for_work>>;

/// Knows every long-running operation and drives those that run.
using operations_actor =
  caf::typed_actor<caf::replies_to<list_operations>::with<operation_list>,
                   caf::replies_to<get_operation>::with<operation_record>,
                   caf::replies_to<cancel_operation>::with<operation_record>>;

/// Knows the API keys, and what was done with them.
using access_actor =
  caf::typed_actor<caf::replies_to<create_api_key>::with<api_key_record>,
                   caf::replies_to<list_api_keys>::with<api_key_list>,
                   caf::replies_to<revoke_api_key>::with<api_key_revoked>,
                   caf::replies_to<get_usage>::with<usage_list>>;

/// Hears of every event, in the order of each queue. A slow one is not waited
/// for: its mailbox grows.
using event_listener = caf::typed_actor<caf::reacts_to<service_event>>;

/// Tells how everything is. It asks queues a few at a time, so an answer over
/// thousands of them holds up nobody.
using metrics_actor =
  caf::typed_actor<caf::replies_to<collect_metrics>::with<service_metrics>>;

/// Hands out events as streams.
using events_actor =
  caf::typed_actor<caf::replies_to<subscribe_events>::with<events_subscribed>,
                   caf::reacts_to<unsubscribe_events>,
                   caf::reacts_to<feed_events>,
                   caf::replies_to<get_event_figures>::with<event_figures>>;

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::publish)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::publish_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::job_view)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_view)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::patch_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::pause_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::resume_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::create_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::put_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::put_queue_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::delete_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_deleted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_queues)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_queue_of)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::check_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::ready_for_work)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::publish_batch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::publish_batch_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::ack_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::nack_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::defer_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::touch_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::report_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::cancel_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::run_job_now)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::replay_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_jobs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::job_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::delete_dead_letters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::jobs_removed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::replay_dead_letters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::replay_plan)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::hold_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::release_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::purge_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::rotate_secret)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_limit_keys)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::limit_key_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::limit_key_view)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::release_limit_key)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_operations)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::operation_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_operation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::cancel_operation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::operation_record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::create_api_key)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::api_key_record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_api_keys)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::api_key_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::revoke_api_key)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::api_key_revoked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_usage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::usage_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::create_pull_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::pull_queue_created)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_pull_queues)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::pull_queue_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_pull_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::subscribe_webhook)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::unsubscribe_webhook)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_pull_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::pull_queue_view)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::patch_pull_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::publish_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_published)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::publish_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_batch_published)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::consume_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::messages_received)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::return_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::settle_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_settled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::settle_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::messages_settled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::peek_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::list_dead_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::purge_pull_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::redrive_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::redrive_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::service_event)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::subscribe_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::events_subscribed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::unsubscribe_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::feed_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_event_figures)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::event_figures)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::collect_metrics)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::service_metrics)
