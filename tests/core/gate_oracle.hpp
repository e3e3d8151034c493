// Hold and probe again, as the contract words them and in no other way.

#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "tidegate/transport.hpp"

namespace tidegate::testing {

/// Watches deliveries start and end, and throws `broken_rule` when one starts
/// that must not. Reads `Retry-After` in seconds only.
class gate_oracle {
public:
  /// `now` is the time since the beginning of the test.
  void started(const delivery& what, duration now);

  void ended(const delivery& what, const delivery_reply& reply, duration now);

  /// The hold ends by hand.
  void released(duration now);

  /// Nobody will ever hear of the probe that was out.
  void forget_probe() {
    probe_.reset();
  }

  bool is_open() const {
    return open_;
  }

  bool is_probing() const {
    return probe_.has_value();
  }

  /// When the last of all holds ends.
  duration release() const {
    return release_;
  }

private:
  using name = std::pair<job_seq, std::uint64_t>;

  bool open_ = true;
  duration release_{0};
  std::optional<name> probe_;
  unsigned failed_probes_ = 0;
};

} // namespace tidegate::testing
