// The EVENTS actor: numbers what happens, keeps the newest of it, and tells
// whoever listens.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/core/event_buffer.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Sent to itself: time for a sign of life.
struct events_beat {
  std::uint64_t generation = 0;
};

using events_impl_actor = events_actor::extend<caf::reacts_to<service_event>,
                                               caf::reacts_to<events_beat>>;

/// Each stream has a place in the buffer, and moves on as long as its sink has
/// room. So a slow reader costs what fits into its sink, holds up nobody, and
/// is dropped when the buffer has moved past its place.
class events_state {
public:
  explicit events_state(events_impl_actor::pointer self);

  static inline const char* name = "tidegate.events";

  void open(wall_time now, const event_limits& limits,
            std::vector<event_listener> listeners);

  caf::result<events_subscribed> handle(subscribe_events& request);
  void handle(const unsubscribe_events& request);
  void handle(const feed_events& request);
  void handle(service_event& event);
  void handle(events_beat message);
  event_figures handle(get_event_figures) const;

  /// Ends every stream.
  void stop();

private:
  struct stream {
    event_sink_ptr sink;
    event_filter filter;
    event_id at;
  };

  using stream_map = std::map<event_sink*, stream>;

  bool feed(stream& s) const;
  stream_map::iterator drop(stream_map::iterator i);
  void arm_timer();

  events_impl_actor::pointer self_;
  std::vector<event_listener> listeners_;
  event_limits limits_;
  std::optional<event_buffer> buffer_;
  stream_map streams_;
  event_figures figures_;
  std::uint64_t timer_generation_ = 0;
};

events_impl_actor::behavior_type
make_events(events_impl_actor::stateful_pointer<events_state> self,
            wall_time now, event_limits limits,
            std::vector<event_listener> listeners);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::events_beat)
