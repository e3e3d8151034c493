#include "actors/events_actor.hpp"

#include <iterator>
#include <utility>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

events_state::events_state(events_impl_actor::pointer self) : self_(self) {
  // nop
}

void events_state::open(wall_time now, const event_limits& limits,
                        std::vector<event_listener> listeners) {
  limits_ = limits;
  listeners_ = std::move(listeners);
  buffer_.emplace(now, limits.events_max, limits.bytes_max);
}

// -- streams ------------------------------------------------------------------

caf::result<events_subscribed> events_state::handle(subscribe_events& request) {
  if (streams_.size() >= limits_.streams_max)
    return to_caf(
      {errc::overloaded, "as many event streams are open as may be"});
  stream s{std::move(request.sink), std::move(request.filter),
           request.after.value_or(buffer_->newest())};
  if (!request.after) {
    s.sink->begin(s.at);
  } else if (!buffer_->reaches_back_to(s.at)) {
    s.sink->put_gap();
    s.at = buffer_->oldest_place();
  }
  auto key = s.sink.get();
  feed(streams_.emplace(key, std::move(s)).first->second);
  if (streams_.size() == 1)
    arm_timer();
  return events_subscribed{};
}

void events_state::handle(const unsubscribe_events& request) {
  streams_.erase(request.sink.get());
}

void events_state::handle(const feed_events& request) {
  auto i = streams_.find(request.sink.get());
  if (i != streams_.end() && !feed(i->second))
    drop(i);
}

/// Puts what the stream has not had yet, as much as it takes. Returns false
/// where that is not there any more.
bool events_state::feed(stream& s) const {
  if (!buffer_->reaches_back_to(s.at))
    return false;
  for (auto e = buffer_->after(s.at); e; e = buffer_->after(s.at)) {
    if (s.filter.matches(e->event)) {
      if (!s.sink->has_room())
        return true;
      s.sink->put(*e);
    }
    s.at = e->id;
  }
  return true;
}

auto events_state::drop(stream_map::iterator i) -> stream_map::iterator {
  ++figures_.dropped;
  i->second.sink->end();
  return streams_.erase(i);
}

// -- what happens -------------------------------------------------------------

void events_state::handle(service_event& event) {
  ++figures_.numbered;
  const auto& added = buffer_->add(std::move(event));
  for (const auto& listener : listeners_)
    self_->send(listener, added.event);
  for (auto i = streams_.begin(); i != streams_.end();)
    i = feed(i->second) ? std::next(i) : drop(i);
}

event_figures events_state::handle(get_event_figures) const {
  auto result = figures_;
  result.streams = streams_.size();
  return result;
}

// -- time ---------------------------------------------------------------------

void events_state::handle(events_beat message) {
  if (message.generation != timer_generation_ || streams_.empty())
    return;
  for (auto& [key, s] : streams_)
    if (s.sink->has_room())
      s.sink->beat();
  arm_timer();
}

void events_state::arm_timer() {
  self_->delayed_send(self_, limits_.heartbeat,
                      events_beat{++timer_generation_});
}

void events_state::stop() {
  for (auto& [key, s] : std::exchange(streams_, {}))
    s.sink->end();
}

events_impl_actor::behavior_type
make_events(events_impl_actor::stateful_pointer<events_state> self,
            wall_time now, event_limits limits,
            std::vector<event_listener> listeners) {
  auto& state = self->state;
  state.open(now, limits, std::move(listeners));
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.stop();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](subscribe_events& x) { return state.handle(x); },
    [&state](const unsubscribe_events& x) { state.handle(x); },
    [&state](const feed_events& x) { state.handle(x); },
    [&state](get_event_figures x) { return state.handle(x); },
    [&state](service_event& x) { state.handle(x); },
    [&state](events_beat x) { state.handle(x); },
  };
}

} // namespace tidegate
