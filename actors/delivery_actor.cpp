#include "actors/delivery_actor.hpp"

#include <exception>

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

/// Keeps a transport that throws from taking the delivery with it.
std::shared_ptr<transport::call> post(transport& door, delivery what,
                                      const delivery_actor& self) {
  auto done = [self](delivery_reply reply) {
    caf::anon_send(self, transport_replied{std::move(reply)});
  };
  try {
    return door.post(std::move(what), done);
  } catch (const std::exception& reason) {
    delivery_reply reply;
    reply.error_code = delivery_errc::connect_failed;
    reply.error = reason.what();
    done(std::move(reply));
    return nullptr;
  }
}

} // namespace

delivery_state::delivery_state() {
  // nop
}

delivery_actor::behavior_type
make_delivery(delivery_actor::stateful_pointer<delivery_state> self,
              std::shared_ptr<transport> door, std::shared_ptr<delivery> what,
              delivery_owner owner, std::uint64_t generation) {
  auto& state = self->state;
  state.owner = std::move(owner);
  state.job = what->job.seq;
  state.number = what->number;
  state.generation = generation;
  state.call = post(*door, std::move(*what), self);
  return {
    [self](transport_replied& message) {
      auto& s = self->state;
      self->send(s.owner, delivery_ended{s.job, s.number, s.generation,
                                         std::move(message.reply)});
      self->quit();
    },
    [self](abort_delivery) {
      if (self->state.call)
        self->state.call->abort();
    },
  };
}

} // namespace tidegate
