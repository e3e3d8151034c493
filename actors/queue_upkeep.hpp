// What the registry, the janitor, the operations and the permits say to a
// queue, of either kind, and what it says to itself.

#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/ids.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

// -- the REGISTRY, and the queue itself ---------------------------------------

/// Removes the queue with its jobs and ends the actor. Fails with
/// `queue_not_empty`.
struct close_queue {
  bool force = false;
};

/// Starts nothing more; answered when nothing is under way any more.
struct drain_queue {};

struct queue_drained {};

/// Sent to itself: the one timer has fired.
struct queue_tick {
  std::uint64_t generation = 0;
};

/// Sent to itself: try again to agree with the store.
struct attach_again {};

/// How long it waits before that.
inline constexpr duration attach_pause = std::chrono::seconds{1};

// -- those who look after queues ----------------------------------------------

/// Removes ended jobs whose retention is over. Those that are live again are
/// passed over. Answered when that is on stable storage.
struct remove_ended {
  std::vector<job_seq> seqs;
};

/// Replays dead letters, or moves dead messages back, as the kind of the
/// operation says, and stores how far that has come, in one commit. Those that
/// are dead no more, or have nowhere to go, are passed over; what is done is
/// added to `progress.done`. Answered when that is on stable storage.
struct replay_slice {
  operation_record progress;
  std::vector<job_id> ids;
};

/// Answer to `replay_slice`.
struct slice_replayed {
  operation_record progress;
};

/// Lets the queue start so many deliveries more than it may already. It gives
/// back those that it does not need, and each one when its delivery has ended.
struct permits_granted {
  std::uint32_t count = 0;
};

/// What a queue does for those who look after it.
using queue_upkeep =
  caf::typed_actor<caf::replies_to<remove_ended>::with<jobs_removed>,
                   caf::replies_to<replay_slice>::with<slice_replayed>,
                   caf::reacts_to<permits_granted>>;

// -- to those who look after queues -------------------------------------------

/// Starts nothing more; answered when nothing of its own is under way any more.
struct stand_down {};

struct stood_down {};

// -- the REGISTRY, as those who look after queues see it ----------------------

/// Asks for the actor of a queue by its number. Fails with `queue_not_found`
/// only where there is no such queue, with something else while that is not
/// known yet.
struct find_upkeep {
  queue_id id;
};

using queue_directory =
  caf::typed_actor<caf::replies_to<find_upkeep>::with<queue_upkeep>>;

// -- the PERMITS actor --------------------------------------------------------

/// Asks for up to `count` permits; they come one by one with `permits_granted`,
/// in turn with those of the other queues. Replaces what the same queue has
/// asked for before and not been given.
struct ask_permits {
  std::uint32_t count = 0;
};

/// Gives back permits. Sent by the taker itself, by which it is known.
struct return_permits {
  std::uint32_t count = 0;
};

/// Whoever takes permits.
using permit_taker = caf::typed_actor<caf::reacts_to<permits_granted>>;

/// Shares out the deliveries that may be in flight over all queues. What a
/// taker has when it dies is taken back, so one that quits need not return it.
using permits_actor =
  caf::typed_actor<caf::reacts_to<ask_permits, permit_taker>,
                   caf::reacts_to<return_permits>>;

// -- the OPERATIONS actor, as queues see it -----------------------------------

/// Stores an operation and begins it. `operation.id` is not set yet; one whose
/// state is not `running` is only stored. Answered with the
/// `operation_record`.
struct start_operation {
  operation_record operation;
};

using operations_impl_actor = operations_actor::extend<
  caf::replies_to<start_operation>::with<operation_record>>;

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::close_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::drain_queue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_drained)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queue_tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::attach_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::remove_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::replay_slice)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::slice_replayed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::permits_granted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::stand_down)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::stood_down)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_upkeep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::ask_permits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::return_permits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_operation)
