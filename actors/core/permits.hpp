// A fixed number of permits, shared among those who ask for them.

#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace tidegate {

/// Decides who may go next where many want to and only so many may at once.
///
/// Those who ask stand in a ring. Each free permit goes to the one whose turn
/// it is, who then stands at the end if it wants more: so a taker that asks for
/// a thousand delays one that asks for a single one by at most one permit for
/// each taker, and what is left over by those who want little goes to those who
/// want much.
///
/// A permit is out until it is given back, or until its taker is forgotten.
class permits {
public:
  /// Names a taker.
  using taker = std::uint64_t;

  struct grant {
    taker who = 0;
    std::uint32_t count = 0;
    bool operator==(const grant&) const = default;
  };

  /// @param max How many may be out at once
  explicit permits(std::uint64_t max) : free_(max) {
    // nop
  }

  /// Says how many `who` wants besides those that it has. Replaces what it
  /// wanted before; its place in the ring stays.
  void ask(taker who, std::uint32_t count);

  /// Takes permits back. Those that `who` does not have do not count.
  void give_back(taker who, std::uint64_t count);

  /// Takes back everything that `who` has and wants.
  void forget(taker who);

  /// Hands out what is free, one by one in turn, and returns who has got how
  /// many, each taker once.
  std::vector<grant> share_out();

  std::uint64_t free() const {
    return free_;
  }

  /// Returns how many are out with `who`.
  std::uint64_t held_by(taker who) const;

private:
  struct share {
    std::uint64_t holds = 0;
    std::uint32_t wants = 0;
    /// Valid while it wants some.
    std::list<taker>::iterator place;
  };

  using shares = std::unordered_map<taker, share>;

  void forget_if_idle(shares::iterator i);

  std::uint64_t free_;
  shares shares_;

  /// Those who want some, the next one first.
  std::list<taker> ring_;
};

} // namespace tidegate
