// The one timer of an actor.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tidegate/time.hpp"

namespace tidegate {

/// Is armed for the next moment at which an actor has to do something. `Tick`,
/// a message with a `generation`, tells it. One that was sent for later cannot
/// be taken back, so one that is not awaited any more is passed over. Part of
/// the state of the actor that owns it, which is passed as `self`.
template <class Tick>
class one_timer {
public:
  /// Something that is due next year must not keep a message in the clock for a
  /// year.
  static constexpr duration longest = std::chrono::hours{1};

  /// Sends `self` a tick at `at`, or `most` from now if that is sooner, unless
  /// one will come before: one that fires too early does no harm and is cheaper
  /// than one more.
  template <class Self>
  void arm(Self* self, moment now, steady_time at, duration most = longest) {
    auto wait = std::clamp(at - now.steady, duration{0}, most);
    if (armed_ && *armed_ <= now.steady + wait)
      return;
    armed_ = now.steady + wait;
    self->delayed_send(self, wait, Tick{++generation_});
  }

  /// Returns whether it is the tick that is awaited.
  bool fired(Tick tick) {
    if (tick.generation != generation_)
      return false;
    armed_.reset();
    return true;
  }

private:
  std::optional<steady_time> armed_;
  std::uint64_t generation_ = 0;
};

} // namespace tidegate
