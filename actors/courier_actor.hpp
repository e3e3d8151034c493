// The COURIER actor: watches over the deliveries to an actor of the host.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/error.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_actor.hpp>

#include "actors/one_timer.hpp"
#include "tidegate/actor_transport.hpp"
#include "tidegate/time.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// A delivery that the transport was given.
struct errand {
  std::uint64_t id = 0;
  delivery what;
  transport::callback done;
  steady_time started{};
};

/// Begins a delivery. Nobody else has `what`.
struct start_errand {
  std::shared_ptr<errand> what;
};

/// Ends one early.
struct abort_errand {
  std::uint64_t id = 0;
};

/// The handler has answered.
struct errand_answered {
  std::uint64_t id = 0;
  handler_reply reply;
};

/// It has answered with an error, or is gone.
struct errand_failed {
  std::uint64_t id = 0;
  caf::error reason;
};

/// Sends what comes from now on to another handler.
struct use_handler {
  job_handler handler;
};

/// A deadline may have passed.
struct courier_tick {
  std::uint64_t generation = 0;
};

using courier_actor =
  caf::typed_actor<caf::reacts_to<start_errand>, caf::reacts_to<abort_errand>,
                   caf::reacts_to<errand_answered>,
                   caf::reacts_to<errand_failed>, caf::reacts_to<use_handler>,
                   caf::reacts_to<courier_tick>>;

/// Each delivery has a runner, an actor that waits for the answer and goes down
/// when the delivery is over. So whatever never answers leaves nothing behind.
class courier_state {
public:
  explicit courier_state(courier_actor::pointer self);

  static inline const char* name = "tidegate.courier";

  void open(std::function<moment()> now);
  void handle(const start_errand& message);
  void handle(abort_errand message);
  void handle(const errand_answered& message);
  void handle(const errand_failed& message);
  void handle(const use_handler& message);
  void handle(courier_tick message);
  void handle(const caf::down_msg& message);

  /// Ends all deliveries.
  void end_all();

private:
  struct under_way {
    std::shared_ptr<errand> what;
    caf::actor runner;
    steady_time deadline{};
    caf::actor_id handler = 0;
  };

  /// Tells what came back, unless the delivery is over already.
  void end(std::uint64_t id, delivery_reply reply);

  void end(std::uint64_t id, delivery_errc code, std::string text);
  void arm();

  courier_actor::pointer self_;
  std::function<moment()> now_;

  /// Empty when it has died.
  job_handler handler_;

  /// Handlers that are alive and were named.
  std::unordered_set<caf::actor_id> watched_;

  std::unordered_map<std::uint64_t, under_way> open_;
  std::set<std::pair<steady_time, std::uint64_t>> deadlines_;
  one_timer<courier_tick> timer_;
};

/// Waits for errands. Ends them all when it is told to exit.
courier_actor::behavior_type
make_courier(courier_actor::stateful_pointer<courier_state> self,
             job_handler handler, std::function<moment()> now);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_errand)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::abort_errand)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::errand_answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::errand_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::use_handler)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::courier_tick)
