// The hold and probe machine.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "tidegate/ids.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Decides whether the downstream may be called.
///
/// A downstream that says "not now" says it about itself, not about the one job
/// that happened to ask. So everything stops until the time that it named, and
/// then the gate does not simply open, because a crowd that was waiting would
/// rush through: one delivery is let out, the probe, and only its success opens
/// the gate for the others. A probe that ends without telling anything holds
/// the gate for 1, 2, 4 … 60 s, and another job has a try.
///
/// ```
///          hold                     release time reached, start_probe
///  open ─────────▶ held ──────────────────────────────────────────▶ probing
///    ▲              ▲ └─ hold: the later release time wins            │ │
///    │              └──── judge: deferred, no_verdict, vanished ──────┘ │
///    └─────────────────── judge: success, refused ──────────────────────┘
///                         (held where a later hold came meanwhile)
/// ```
///
/// A value: knows no clock and starts nothing.
class gate {
public:
  /// What a delivery that wants to start is told.
  enum class answer : std::uint8_t {
    /// Go.
    pass,
    /// Go, and be the probe: `start_probe` must be called for it.
    pass_as_probe,
    /// Wait.
    shut,
  };

  /// Where a hold came from.
  struct cause {
    hold_cause what = hold_cause::none;
    std::optional<job_id> job;
    std::optional<std::uint16_t> http_status;
    /// What worker or operator said.
    std::string reason;
  };

  /// An open gate.
  gate() = default;

  /// A gate as it was stored. One that was probing when the process died is
  /// held: its probe's outcome is lost, so there will be another one.
  gate(const gate_record& stored, moment now);

  gate_state state() const {
    return state_;
  }

  answer ask(steady_time now) const;

  /// Returns whether it is open and remembers no failed probe.
  bool at_rest() const {
    return state_ == gate_state::open && failed_probes_ == 0;
  }

  /// Returns for how long it has not been open; 0 where it is.
  duration shut_for(moment now) const {
    if (state_ == gate_state::open)
      return duration{0};
    return std::max(duration{0}, now.wall - since_);
  }

  /// Returns the release time of a gate that is held.
  std::optional<steady_time> held_until() const;

  /// Holds for `wait` from now, unless the gate is held for longer already.
  /// Returns whether anything changed. While a probe is out the hold is kept
  /// for when it has come back; where that one succeeds, the gate has been held
  /// since this call.
  bool hold(duration wait, const cause& why, moment now);

  /// The probe that is out.
  struct probe {
    job_id job;
    std::uint64_t delivery = 0;
    wall_time since{};
  };

  /// Sends out the probe. @pre `ask(now.steady) == answer::pass_as_probe`
  void start_probe(job_id job, std::uint64_t delivery, moment now);

  /// Returns the probe. @pre `state() == gate_state::probing`
  const probe& probe_out() const {
    return probe_;
  }

  /// Returns whether this delivery is the probe that is out. An earlier probe
  /// that answers late is not.
  bool is_probe(job_id job, std::uint64_t delivery) const;

  /// Returns whether the last probe was this job's and told nothing, so that
  /// another job should have a try.
  bool failed_with(job_seq job) const;

  /// Takes the verdict of the probe. `wait` is what the downstream asked for
  /// and counts for `deferred` only. @pre a probe is out
  void judge(probe_verdict verdict, duration wait, const cause& why,
             moment now);

  /// The probe will never come back: another one may go at once.
  void probe_vanished();

  /// Ends a hold now: not open, but ready for a probe. Returns whether anything
  /// changed.
  bool release(moment now);

  /// Returns the gate as it is to be stored and shown.
  gate_record to_record(moment now) const;

private:
  bool move_out(steady_time until, const cause& why);

  gate_state state_ = gate_state::open;
  steady_time release_{};
  wall_time since_{};
  cause cause_;
  std::uint32_t failed_probes_ = 0;
  std::optional<last_probe> last_;

  probe probe_;

  /// When the latest hold was set while the probe was out.
  std::optional<wall_time> held_again_;
};

/// Returns how long the gate stays shut after the n-th probe in a row without a
/// verdict: 1, 2, 4 … 60 s. @pre `n > 0`
duration probe_backoff(std::uint32_t n);

} // namespace tidegate
