// Knows what a held queue may deliver, from nothing but what was answered.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/testkit/modelled_downstream.hpp"
#include "tidegate/time.hpp"

namespace tidegate::testkit {

/// Stands beside the downstream of one queue without limit keys, `minHold` and
/// `maxHold`, and works out for itself when that queue has to be still: it
/// shares no code with the gate. What happens at the very instant of a delivery
/// is not held against it.
class flood_watch {
public:
  /// A delivery begins and will be answered with `answer`. Returns what is
  /// wrong with its beginning now, or nothing.
  std::optional<std::string> begin(const delivery& what, const response& answer,
                                   steady_time now);

  /// The queue has lost its memory, or parts of it: so does the watch.
  void forget();

private:
  struct answered {
    steady_time begun{};
    bool probe = false;
    std::uint16_t status = 0;

    /// What a "not now" asks for.
    duration wait{0};
  };

  /// Returns what is wrong with a delivery that begins, or nothing.
  std::optional<std::string> judge(const delivery& what, steady_time now) const;

  /// The same, where what is answered at `now` and `counts` is there already.
  template <class Predicate>
  std::optional<std::string>
  judge_after(const delivery& what, steady_time now, Predicate counts) const;

  /// Takes in what was answered before `now`.
  void settle(steady_time now);

  void settle_probe(std::uint16_t status, steady_time at);

  std::multimap<steady_time, answered> coming_;
  bool shut_ = false;
  bool probe_out_ = false;
  steady_time release_{};
};

} // namespace tidegate::testkit
