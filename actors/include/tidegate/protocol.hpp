// Every message that an application exchanges with Tidegate's actors: who takes
// it, what comes back. The messages themselves stand in `messages.hpp`.
//
// A request that is refused is answered with a `caf::error` that `from_caf`
// turns back into a `tidegate::error`.
//
// The messages are values that travel within one process.

#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/error.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/error.hpp"
#include "tidegate/event.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/messages.hpp"

namespace tidegate {

// -- errors -------------------------------------------------------------------

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
                   caf::replies_to<get_job>::with<job_view>,
                   caf::replies_to<get_queue>::with<queue_view>,
                   caf::replies_to<patch_queue>::with<queue_view>,
                   caf::replies_to<pause_queue>::with<queue_view>,
                   caf::replies_to<resume_queue>::with<queue_view>>;

/// Knows every queue by name and number. Handles of queues come only from here;
/// they may be kept for as long as the queue answers.
using registry_actor =
  caf::typed_actor<caf::replies_to<create_queue>::with<put_queue_result>,
                   caf::replies_to<put_queue>::with<put_queue_result>,
                   caf::replies_to<delete_queue>::with<queue_deleted>,
                   caf::replies_to<list_queues>::with<queue_list>,
                   // Fails with `queue_not_found`.
                   caf::replies_to<find_queue>::with<queue_actor>,
                   // Fails with `job_not_found`: only jobs name a number.
                   caf::replies_to<find_queue_of>::with<queue_actor>,
                   caf::replies_to<check_ready>::with<ready_for_work>>;

/// Hears of every event, in the order of each queue. A slow one is not waited
/// for: its mailbox grows.
using event_listener = caf::typed_actor<caf::reacts_to<service_event>>;

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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::service_event)
