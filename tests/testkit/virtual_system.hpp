// An actor system in which time passes only when the test says so.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "tidegate/protocol.hpp"
#include "tidegate/time.hpp"

namespace tidegate::testkit {

/// One thread, a clock that is moved by hand, and an order of events that a
/// seed decides: the same seed gives the same run. Actors must not be detached.
///
/// Wall-clock time starts at `start` and follows the steady clock, plus the
/// steps that the test makes.
class virtual_system {
public:
  /// A seed of 0 handles messages in the order of their sending; any other one
  /// lets a random actor of those that have messages go next.
  explicit virtual_system(moment start, std::uint64_t seed = 0);

  virtual_system(const virtual_system&) = delete;
  virtual_system& operator=(const virtual_system&) = delete;

  /// Ends all actors.
  ~virtual_system();

  caf::actor_system& get() {
    return *system_;
  }

  moment now() const;

  /// Moves the wall clock, in either direction. The steady clock stays.
  void step_wall_clock(duration by) {
    wall_offset_ += by;
  }

  /// Handles messages until there are none. No time passes.
  void run();

  /// Lets time pass, one timer after the other, each followed by `run`. Those
  /// of actors and those of `after` that are due at the same instant come in an
  /// order that the seed decides; with a seed of 0 those of `after` come first.
  void advance(duration by);

  /// Calls `what` when `wait` has passed, from within `advance`. What is not
  /// due before the end of this is dropped.
  void after(duration wait, std::function<void()> what);

  /// Sends a request, lets it be handled, and returns the answer; nothing where
  /// there is none yet.
  template <class Reply, class Handle, class Message>
  std::optional<result<Reply>> ask(const Handle& whom, Message what) {
    auto answer = begin_ask<Reply>(whom, std::move(what));
    run();
    return std::move(*answer);
  }

  /// Sends a request. The answer appears in what is returned.
  template <class Reply, class Handle, class Message>
  std::shared_ptr<std::optional<result<Reply>>>
  begin_ask(const Handle& whom, Message what) {
    auto answer = std::make_shared<std::optional<result<Reply>>>();
    system_->spawn([=](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, what)
        .then([answer](Reply& reply) { answer->emplace(std::move(reply)); },
              [answer](const caf::error& reason) {
                answer->emplace(from_caf(reason));
              });
    });
    return answer;
  }

private:
  using clock_time = caf::actor_clock::time_point;

  void pick_next();

  /// Lets the first timer go that is due by `until`; false where there is none.
  bool fire_next(clock_time until);

  caf::scheduler::test_coordinator& scheduler() const;

  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::multimap<clock_time, std::function<void()>> alarms_;
  std::mt19937_64 lots_;
  bool shuffled_;
  duration wall_offset_;
  duration steady_offset_;
};

} // namespace tidegate::testkit
