#include "actors/core/ramp.hpp"

#include <algorithm>
#include <cmath>

namespace tidegate {

void ramp::begin(const recovery_settings& how, std::uint32_t concurrency) {
  end();
  if (how.mode == recovery_settings::kind::ramp && how.start < concurrency)
    limit_ = how.start;
}

bool ramp::succeeded(const recovery_settings& how, std::uint32_t concurrency) {
  if (limit_ == 0 || ++successes_ < limit_)
    return false;
  auto next = std::ceil(limit_ * how.factor);
  auto step = std::max<double>(next, limit_ + 1.0);
  end();
  if (how.mode == recovery_settings::kind::ramp && step < concurrency)
    limit_ = static_cast<std::uint32_t>(step);
  return true;
}

} // namespace tidegate
