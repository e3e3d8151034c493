// Hold and probe again, as the contract words them and in no other way.

#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "tidegate/ids.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate::testing {

/// Watches what goes through one gate, of a queue or of a limit key, and throws
/// `broken_rule` when something starts that must not. All times are those since
/// the beginning of the test.
class gate_oracle {
public:
  /// A job and the number of its delivery.
  using name = std::pair<job_seq, std::uint64_t>;

  /// Returns whether it is the probe.
  bool started(name what, duration now);

  /// The probe that is out tells something, or nothing.
  void judged(probe_verdict verdict, duration asked, duration now);

  /// The probe that is out will tell nothing.
  void gone() {
    probe_.reset();
  }

  void held(duration wait, duration now);

  /// The hold ends by hand.
  void released(duration now);

  bool is_open() const {
    return open_;
  }

  bool is_probing() const {
    return probe_.has_value();
  }

  bool is_probe(name what) const {
    return probe_ == what;
  }

  /// Returns whether nothing may start but for time or a probe.
  bool is_shut(duration now) const {
    return !open_ && (probe_ || now < release_);
  }

  /// When the last of all holds ends.
  duration release() const {
    return release_;
  }

private:
  bool open_ = true;
  duration release_{0};
  std::optional<name> probe_;
  unsigned failed_probes_ = 0;
};

} // namespace tidegate::testing
