// How a queue comes back from a hold step by step.

#pragma once

#include <cstdint>

#include "tidegate/queue_settings.hpp"

namespace tidegate {

/// Limits what is in flight after a hold: first to `start`, then, after as many
/// successes as the limit is, to `factor` times as much, until it has come to
/// the queue's concurrency and ends. A failure changes nothing; a new hold
/// begins anew.
class ramp {
public:
  ramp() = default;

  /// Takes up what was stored; 0: not under way.
  explicit ramp(std::uint32_t limit) : limit_(limit) {
    // nop
  }

  /// The gate has opened after a hold.
  void begin(const recovery_settings& how, std::uint32_t concurrency);

  void end() {
    limit_ = 0;
    successes_ = 0;
  }

  /// A delivery has succeeded. Returns whether the limit has changed.
  bool succeeded(const recovery_settings& how, std::uint32_t concurrency);

  bool full(std::uint32_t in_flight) const {
    return limit_ > 0 && in_flight >= limit_;
  }

  /// Returns the limit, 0 where none is under way.
  std::uint32_t limit() const {
    return limit_;
  }

private:
  std::uint32_t limit_ = 0;
  std::uint32_t successes_ = 0;
};

} // namespace tidegate
