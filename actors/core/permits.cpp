#include "actors/core/permits.hpp"

#include <algorithm>

namespace tidegate {

void permits::ask(taker who, std::uint32_t count) {
  auto i = shares_.try_emplace(who).first;
  auto& s = i->second;
  if (s.wants == 0 && count > 0)
    s.place = ring_.insert(ring_.end(), who);
  if (s.wants > 0 && count == 0)
    ring_.erase(s.place);
  s.wants = count;
  forget_if_idle(i);
}

void permits::give_back(taker who, std::uint64_t count) {
  auto i = shares_.find(who);
  if (i == shares_.end())
    return;
  auto returned = std::min(count, i->second.holds);
  i->second.holds -= returned;
  free_ += returned;
  forget_if_idle(i);
}

void permits::forget(taker who) {
  ask(who, 0);
  give_back(who, held_by(who));
}

std::vector<permits::grant> permits::share_out() {
  std::vector<grant> result;
  std::unordered_map<taker, std::size_t> index;
  for (; free_ > 0 && !ring_.empty(); --free_) {
    auto who = ring_.front();
    auto& s = shares_.find(who)->second;
    ++s.holds;
    if (--s.wants > 0)
      ring_.splice(ring_.end(), ring_, s.place);
    else
      ring_.erase(s.place);
    auto [i, first] = index.try_emplace(who, result.size());
    if (first)
      result.push_back({who, 0});
    ++result[i->second].count;
  }
  return result;
}

std::uint64_t permits::held_by(taker who) const {
  auto i = shares_.find(who);
  return i == shares_.end() ? 0 : i->second.holds;
}

void permits::forget_if_idle(shares::iterator i) {
  if (i->second.holds == 0 && i->second.wants == 0)
    shares_.erase(i);
}

} // namespace tidegate
