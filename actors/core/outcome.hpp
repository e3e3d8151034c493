// What a delivery came to.

#pragma once

#include <cstdint>

#include "tidegate/job.hpp"
#include "tidegate/metrics.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// What an answer of the webhook, or its absence, means for job and gate.
struct outcome {
  enum class kind : std::uint8_t {
    /// Done.
    success,
    /// "Not now": no attempt, and the queue is held.
    defer,
    /// A real failure: an attempt is spent.
    failure,
  };

  kind what = kind::failure;

  /// What it says about the downstream if the delivery was the probe.
  probe_verdict verdict = probe_verdict::no_verdict;

  /// `failure`: whether it may be tried again.
  bool retryable = true;

  /// How long the downstream asked for; `defer` only.
  duration retry_after{0};

  /// One sentence for the history; empty on success.
  std::string error;
};

/// Returns how a delivery with this outcome is counted.
inline delivery_result to_result(outcome::kind what) {
  switch (what) {
    case outcome::kind::success:
      return delivery_result::success;
    case outcome::kind::defer:
      return delivery_result::deferred;
    case outcome::kind::failure:
      break;
  }
  return delivery_result::failed;
}

/// The wait after a 429, 503 or 529 that names none that can be read.
inline constexpr duration default_retry_after = std::chrono::seconds{60};

/// Judges by the status alone, or by the stage that failed where there is none:
///
/// | answer              | job     | gate, if it was the probe |
/// | ------------------- | ------- | ------------------------- |
/// | 2xx                 | success | opens                     |
/// | 429, 503, 529       | defer   | held for the new time     |
/// | other 4xx but 408, 425 | failure | opens: refused this job |
/// | all else            | failure | no verdict                |
outcome judge(const delivery_reply& reply, wall_time now);

} // namespace tidegate
