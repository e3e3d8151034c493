// Events as they are handed out: numbered, filtered, to whoever can take them.

#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidegate/event.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Number of an event. It grows over restarts too, as long as the wall clock is
/// not set back.
struct event_id {
  /// When the service began to number. Unit: microseconds since the Unix epoch.
  std::int64_t era = 0;

  /// From 1; 0: before the first one.
  std::uint64_t number = 0;

  auto operator<=>(const event_id&) const = default;
};

/// Returns `<era>-<number>`, in decimal.
std::string to_string(event_id id);

/// Reads what `to_string` prints; nothing where `text` is anything else.
std::optional<event_id> parse_event_id(std::string_view text);

/// An event with its number.
struct numbered_event {
  event_id id;
  service_event event;
};

/// Which events a stream is about.
struct event_filter {
  std::string project;

  /// Whether it also has those that are about no project, such as a store that
  /// fails.
  bool whole_server = false;

  /// Empty: every queue.
  std::string queue;

  /// Empty: every kind.
  std::vector<event_kind> kinds;

  /// Returns whether the stream has `event`.
  bool matches(const service_event& event) const {
    auto is_own = event.project.empty() ? whole_server
                                        : event.project == project;
    return is_own && (queue.empty() || event.queue == queue)
           && (kinds.empty()
               || std::find(kinds.begin(), kinds.end(), event.kind)
                    != kinds.end());
  }
};

/// Takes events for one reader. Called by the EVENTS actor only, which lets go
/// of it after `end`.
class event_sink {
public:
  virtual ~event_sink() = default;

  /// Whether it takes something now. One that takes nothing says with
  /// `feed_events` when it does again.
  virtual bool has_room() const = 0;

  /// Says where the reader stands: what follows is newer than `at`.
  virtual void begin(event_id at) = 0;

  /// Takes the next event.
  virtual void put(const numbered_event& what) = 0;

  /// Says that events are missing between those before and those to come.
  virtual void put_gap() = 0;

  /// Says that nothing has happened, so that a broken connection is noticed.
  virtual void beat() = 0;

  /// Nothing more comes.
  virtual void end() = 0;
};

/// Who made a sink may hold it as well.
using event_sink_ptr = std::shared_ptr<event_sink>;

/// Opens a stream. Fails with `overloaded` where there are as many as may be,
/// and with `draining`.
struct subscribe_events {
  event_filter filter;

  /// What the reader had last; none: it wants what comes from now on.
  std::optional<event_id> after;

  event_sink_ptr sink;
};

/// Answer to `subscribe_events`.
struct events_subscribed {};

/// Ends a stream whose reader has gone. Nothing is said to it any more.
struct unsubscribe_events {
  event_sink_ptr sink;
};

/// A sink has room again.
struct feed_events {
  event_sink_ptr sink;
};

/// Asks for `event_figures`.
struct get_event_figures {};

/// Answer to `get_event_figures`.
struct event_figures {
  /// Events since the service was started.
  std::uint64_t numbered = 0;

  /// Streams that are open.
  std::uint64_t streams = 0;

  /// Streams that were ended because their reader was too slow.
  std::uint64_t dropped = 0;
};

/// How much the EVENTS actor keeps and serves.
struct event_limits {
  /// Newest events that a reader can go back to, and their bytes, counted
  /// roughly. Whoever falls behind them is dropped.
  std::size_t events_max = 10'000;
  std::size_t bytes_max = std::size_t{4} * 1024 * 1024;

  /// Streams at once.
  std::size_t streams_max = 100;

  duration heartbeat = std::chrono::seconds{15};
};

} // namespace tidegate
