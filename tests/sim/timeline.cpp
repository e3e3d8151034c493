#include "tests/sim/timeline.hpp"

#include <algorithm>

namespace tidegate::sim {

void bucket::merge(const bucket& next) {
  deliveries += next.deliveries;
  refused += next.refused;
  backlog = std::max(backlog, next.backlog);
  held += next.held;
  probing += next.probing;
  keys_shut += next.keys_shut;
}

void timeline::halve() {
  width_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < buckets_.size(); i += 2, ++kept) {
    buckets_[kept] = buckets_[i];
    if (i + 1 < buckets_.size())
      buckets_[kept].merge(buckets_[i + 1]);
  }
  buckets_.resize(kept);
}

bucket& timeline::at(duration instant) {
  while (instant / width_ >= static_cast<std::int64_t>(buckets_max))
    halve();
  auto i = static_cast<std::size_t>(instant / width_);
  if (i >= buckets_.size())
    buckets_.resize(i + 1);
  return buckets_[i];
}

void timeline::count_delivery(duration instant, bool refused) {
  auto& b = at(instant);
  ++b.deliveries;
  if (refused)
    ++b.refused;
}

void timeline::note_backlog(duration instant, std::uint64_t jobs) {
  auto& b = at(instant);
  b.backlog = std::max(b.backlog, static_cast<double>(jobs));
}

void timeline::spread(duration from, duration to, double bucket::*field) {
  while (from < to) {
    auto& b = at(from);
    auto end = std::min(to, width_ * (from / width_ + 1));
    b.*field += to_seconds(end - from);
    from = end;
  }
}

} // namespace tidegate::sim
