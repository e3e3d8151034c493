// The DELIVERY actor: lives for one POST.

#pragma once

#include <cstdint>
#include <memory>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/ids.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// Tells a queue what a delivery came to.
struct delivery_ended {
  job_seq job;
  /// Which delivery of it.
  std::uint64_t number = 0;
  /// Of the queue's memory; see `queue_state`.
  std::uint64_t generation = 0;
  delivery_reply reply;
};

/// Whoever waits for the end of a delivery.
using delivery_owner = caf::typed_actor<caf::reacts_to<delivery_ended>>;

/// The transport has answered.
struct transport_replied {
  delivery_reply reply;
};

/// Ends the delivery early; it still ends with a `delivery_ended`.
struct abort_delivery {};

using delivery_actor = caf::typed_actor<caf::reacts_to<transport_replied>,
                                        caf::reacts_to<abort_delivery>>;

class delivery_state {
public:
  delivery_state();

  static inline const char* name = "tidegate.delivery";

  delivery_owner owner;
  job_seq job;
  std::uint64_t number = 0;
  std::uint64_t generation = 0;
  std::shared_ptr<transport::call> call;
};

/// Hands `what` to `door` and tells `owner` when it has ended, exactly once.
delivery_actor::behavior_type
make_delivery(delivery_actor::stateful_pointer<delivery_state> self,
              std::shared_ptr<transport> door, std::shared_ptr<delivery> what,
              delivery_owner owner, std::uint64_t generation);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::delivery_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::transport_replied)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::abort_delivery)
