#include "actors/core/retry_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace tidegate {

namespace {

double seconds_before_jitter(const backoff_settings& settings,
                             std::uint64_t n) {
  using kind = backoff_settings::kind;
  switch (settings.type) {
    case kind::exponential: {
      // A power that is too large is infinite, which min() takes care of;
      // 0 * infinity would not be a number.
      if (settings.delay == 0)
        return 0;
      auto wait = settings.delay
                  * std::pow(settings.factor, static_cast<double>(n - 1));
      return std::min(settings.max_delay, wait);
    }
    case kind::fixed:
      return settings.delay;
    case kind::ladder:
      return settings
        .steps[std::min<std::size_t>(n, settings.steps.size()) - 1];
  }
  return settings.delay;
}

} // namespace

duration retry_wait(const backoff_settings& settings, std::uint64_t n,
                    double lot) {
  auto wait = seconds_before_jitter(settings, n);
  return from_seconds(wait * (1 - settings.jitter * lot));
}

} // namespace tidegate
