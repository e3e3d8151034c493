#include "actors/permits_actor.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

permits_state::permits_state(permits_actor::pointer self) : self_(self) {
  // nop
}

void permits_state::open(std::uint64_t max) {
  permits_ = permits{max};
}

void permits_state::handle(const ask_permits& request,
                           const permit_taker& taker) {
  if (takers_.try_emplace(taker.id(), taker).second)
    self_->monitor(taker);
  permits_.ask(taker.id(), request.count);
  share_out();
}

void permits_state::handle(const return_permits& message) {
  if (const auto& sender = self_->current_sender())
    permits_.give_back(sender->id(), message.count);
  share_out();
}

void permits_state::handle(const caf::down_msg& message) {
  auto who = message.source.id();
  takers_.erase(who);
  permits_.forget(who);
  share_out();
}

void permits_state::share_out() {
  for (auto [who, count] : permits_.share_out())
    self_->send(takers_.at(who), permits_granted{count});
}

permits_actor::behavior_type
make_permits(permits_actor::stateful_pointer<permits_state> self,
             std::uint64_t max) {
  auto& state = self->state;
  state.open(max);
  self->set_down_handler(
    [&state](const caf::down_msg& message) { state.handle(message); });
  return {
    [&state](const ask_permits& x, const permit_taker& taker) {
      state.handle(x, taker);
    },
    [&state](return_permits x) { state.handle(x); },
  };
}

} // namespace tidegate
