#include "actors/core/rate_window.hpp"

#include <algorithm>

namespace tidegate {

namespace {

constexpr int groups_in_window = 64;

} // namespace

rate_window::rate_window(std::optional<std::uint32_t> max, duration window)
  : max_(max), window_(window) {
  // nop
}

void rate_window::restore(const std::vector<rate_start>& starts, moment now) {
  groups_.clear();
  for (const auto& start : starts) {
    // A clock that was set back must not make the past look like the future.
    auto latest = std::min(to_steady(start.latest, now), now.steady);
    groups_.push_back({latest, latest, start.count});
  }
}

void rate_window::limit(std::optional<std::uint32_t> max, duration window) {
  max_ = max;
  window_ = window;
}

bool rate_window::full(steady_time now) const {
  return next_start(now) > now;
}

steady_time rate_window::next_start(steady_time now) const {
  if (!max_)
    return now;
  std::uint64_t started = 0;
  for (auto g = groups_.rbegin(); g != groups_.rend(); ++g) {
    if (!counts(*g, now))
      break;
    started += g->count;
    if (started >= *max_)
      return after(g->latest, window_);
  }
  return now;
}

std::optional<steady_time> rate_window::busy_until(steady_time now) const {
  if (groups_.empty() || !counts(groups_.back(), now))
    return std::nullopt;
  return after(groups_.back().latest, window_);
}

void rate_window::count(steady_time now) {
  if (!max_)
    return;
  while (!groups_.empty() && !counts(groups_.front(), now))
    groups_.pop_front();
  if (groups_.empty()
      || now - groups_.back().first >= window_ / groups_in_window) {
    groups_.push_back({now, now, 1});
    return;
  }
  groups_.back().latest = now;
  ++groups_.back().count;
}

std::vector<rate_start> rate_window::to_record(moment now) const {
  std::vector<rate_start> result;
  for (const auto& g : groups_)
    if (counts(g, now.steady))
      result.push_back({to_wall(g.latest, now), g.count});
  return result;
}

} // namespace tidegate
