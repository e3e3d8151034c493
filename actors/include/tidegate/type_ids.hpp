// Type ids of every message that an application exchanges with Tidegate's
// actors, so that they fit beside its own.
//
// CAF 0.17 delivers messages within a process by their C++ types. The ids keep
// blocks of different projects apart at compile time, and the names are what
// CAF prints. Only the application includes this, the library does not: so the
// application can move the block. What is in it, and in which order, may change
// with each version.

#pragma once

#include <string>

#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/message.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/actor_transport.hpp"
#include "tidegate/protocol.hpp"

/// The first id of Tidegate's block, which is less than 200 long. To set, in
/// all files of an application alike: with the CMake variable of this name
/// before `find_package(tidegate)`, or as a definition of the compiler.
#ifndef TIDEGATE_FIRST_TYPE_ID
#  define TIDEGATE_FIRST_TYPE_ID caf::first_custom_type_id
#endif

// clang-format off
CAF_BEGIN_TYPE_ID_BLOCK(tidegate, TIDEGATE_FIRST_TYPE_ID)

  CAF_ADD_TYPE_ID(tidegate, (tidegate::queue_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::pull_queue_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::registry_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::operations_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::access_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::events_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::metrics_actor))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::event_listener))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::job_handler))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::delivery))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::handler_reply))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::publish))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::publish_result))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::get_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::job_view))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::get_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::queue_view))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::patch_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::pause_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::resume_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::create_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::put_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::put_queue_result))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::delete_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::queue_deleted))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_queues))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::queue_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::find_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::find_queue_of))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::check_ready))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::ready_for_work))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::publish_batch))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::publish_batch_result))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::ack_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::nack_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::defer_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::touch_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::report_taken))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::cancel_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::run_job_now))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::replay_job))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_jobs))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::job_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::delete_dead_letters))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::jobs_removed))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::replay_dead_letters))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::replay_plan))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::hold_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::release_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::purge_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::rotate_secret))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_limit_keys))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::limit_key_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::limit_key_view))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::release_limit_key))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_operations))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::operation_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::get_operation))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::cancel_operation))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::operation_record))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::create_api_key))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::api_key_record))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_api_keys))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::api_key_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::revoke_api_key))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::api_key_revoked))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::get_usage))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::usage_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::create_pull_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::pull_queue_created))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_pull_queues))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::pull_queue_list))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::find_pull_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::subscribe_webhook))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::unsubscribe_webhook))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::get_pull_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::pull_queue_view))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::patch_pull_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::publish_message))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::message_published))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::publish_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::message_batch_published))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::consume_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::messages_received))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::return_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::settle_message))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::message_settled))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::settle_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::messages_settled))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::peek_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::list_dead_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::message_page))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::purge_pull_queue))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::redrive_messages))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::redrive_result))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::service_event))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::subscribe_events))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::events_subscribed))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::unsubscribe_events))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::feed_events))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::get_event_figures))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::event_figures))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::collect_metrics))
  CAF_ADD_TYPE_ID(tidegate, (tidegate::service_metrics))

CAF_END_TYPE_ID_BLOCK(tidegate);
// clang-format on

namespace tidegate {

/// Makes Tidegate's messages and handles known to an actor system under their
/// names, and has its errors printed as `queue_not_found: there is no queue …`.
/// Call it before the actor system is made.
inline void register_types(caf::actor_system_config& config) {
  config.add_message_types<caf::id_block::tidegate>();
  auto print = [](std::uint8_t code, caf::atom_value category,
                  const caf::message& context) {
    auto reason = from_caf(caf::error{code, category, context});
    return std::string{to_string(reason.code)} + ": " + reason.message;
  };
  config.add_error_category(error_category, print);
}

} // namespace tidegate
