// What each limit key of a queue may do.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/due_heap.hpp"
#include "actors/core/gate.hpp"
#include "actors/core/rate_window.hpp"
#include "actors/core/slots.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Gives each limit key of a queue a gate, a concurrency and a rate of its own.
///
/// A key has a state here only while something is to be known of it: it is
/// held, has deliveries in flight, or has started some within its window. So
/// keys that are idle cost nothing, however many there have been.
///
/// The lane of a key that may not start anything is shut in the `due_heap`, so
/// that nobody looks at it again before that may have changed: at a time that
/// is known, or by an event. Lane 0, of jobs without a key, is never limited.
class limit_keys {
public:
  /// The state of one key.
  struct state {
    gate door;
    slots flying{std::numeric_limits<std::uint32_t>::max()};
    rate_window rate{std::nullopt, duration{0}};

    /// Whether the store has a row of it.
    bool stored = false;

    /// When it is to be looked at again.
    std::optional<steady_time> revisit;
  };

  /// Takes up a key as it was stored.
  void restore(const limit_key_record& stored, const queue_settings& settings,
               due_heap& jobs, moment now);

  /// Changes the limits of all keys, and lets all of them try again.
  void change(const queue_settings& settings, due_heap& jobs);

  /// Returns what a delivery of this lane is told that wants to start.
  gate::answer ask(lane_id lane, steady_time now) const;

  /// Shuts a lane that has been told to wait.
  void shut(lane_id lane, due_heap& jobs, steady_time now);

  /// Lets those lanes try again that have waited for a time that has come, and
  /// forgets those that are idle. Returns the keys of those that are stored.
  std::vector<std::string> wake(due_heap& jobs, steady_time now);

  /// Returns when `wake` has something to do.
  std::optional<steady_time> next_wakeup() const;

  /// A delivery has started. @pre `ask` let it pass
  void start(lane_id lane, const queue_settings& settings, due_heap& jobs,
             steady_time now);

  /// A job from before a restart still awaits its ack.
  void take_up(lane_id lane, const queue_settings& settings, due_heap& jobs) {
    state_of(lane, settings, jobs).flying.take();
  }

  /// A delivery has come back; the lane tries again. Returns the key where it
  /// has been forgotten and is stored.
  std::optional<std::string> give_back(lane_id lane, due_heap& jobs,
                                       steady_time now);

  /// Returns the gate of a lane, to be changed; the lane tries again.
  gate& gate_of(lane_id lane, const queue_settings& settings, due_heap& jobs);

  /// Returns the state of a lane, if there is one.
  const state* find(lane_id lane) const;

  /// Returns what is to be stored of a lane that has a state, and notes whether
  /// the store has a row of it from then on.
  limit_key_record to_store(lane_id lane, const due_heap& jobs, moment now);

  /// Returns all lanes that have a state.
  std::vector<lane_id> lanes() const;

  std::size_t size() const {
    return states_.size();
  }

private:
  state& state_of(lane_id lane, const queue_settings& settings, due_heap& jobs);
  void revisit_at(lane_id lane, steady_time when);
  std::optional<std::string> forget_if_idle(lane_id lane, due_heap& jobs,
                                            steady_time now);

  std::unordered_map<lane_id, state> states_;
  std::set<std::pair<steady_time, lane_id>> revisits_;
};

} // namespace tidegate
