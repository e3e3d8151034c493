// The limit on deliveries in flight.

#pragma once

#include <cassert>
#include <cstdint>

namespace tidegate {

/// Counts what is in flight against a limit. Lowering the limit takes nothing
/// back: nothing starts until enough has finished.
class slots {
public:
  explicit slots(std::uint32_t limit) : limit_(limit) {
    // nop
  }

  bool full() const {
    return taken_ >= limit_;
  }

  std::uint32_t taken() const {
    return taken_;
  }

  std::uint32_t limit() const {
    return limit_;
  }

  void limit(std::uint32_t value) {
    limit_ = value;
  }

  void take() {
    ++taken_;
  }

  /// @pre something was taken
  void give_back() {
    assert(taken_ > 0);
    --taken_;
  }

private:
  std::uint32_t limit_;
  std::uint32_t taken_ = 0;
};

} // namespace tidegate
