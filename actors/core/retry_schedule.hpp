// How long a job waits after a real failure.

#pragma once

#include <cstdint>

#include "tidegate/queue_settings.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Returns the wait after the n-th real failure of a job.
///
/// Exponential: `min(max_delay, delay * factor^(n-1))`, for any n without
/// overflow. Fixed: `delay`. Ladder: the n-th step, the last one repeating.
/// From that wait d, jitter makes one in `[d * (1 - jitter), d]`, so that jobs
/// that failed together do not come back together.
///
/// @param lot a number in [0, 1), drawn by the caller.
/// @pre `n > 0` and `settings` is valid.
duration retry_wait(const backoff_settings& settings, std::uint64_t n,
                    double lot);

} // namespace tidegate
