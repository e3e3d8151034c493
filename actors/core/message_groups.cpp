#include "actors/core/message_groups.hpp"

#include <string>

namespace tidegate {

void message_groups::shut(lane_id group, job_seq message, due_heap& jobs) {
  // The key must outlive the call that finds its lane.
  std::string name = jobs.key_of(group);
  jobs.pin(name);
  jobs.shut(group);
  shut_.emplace(key{group, message}, std::nullopt);
}

void message_groups::open_at(lane_id group, job_seq message, steady_time when) {
  key k{group, message};
  shut_.at(k) = when;
  wakeups_.emplace(when, k);
}

void message_groups::open(lane_id group, job_seq message, due_heap& jobs) {
  auto i = shut_.find({group, message});
  if (i == shut_.end())
    return;
  if (i->second)
    wakeups_.erase({*i->second, i->first});
  shut_.erase(i);
  jobs.unpin(group);
  // A message that could not be moved may be out beside its successor.
  auto other = shut_.lower_bound({group, job_seq{}});
  if (other != shut_.end() && other->first.first == group)
    jobs.shut(group);
}

void message_groups::wake(steady_time now, due_heap& jobs) {
  while (!wakeups_.empty() && wakeups_.begin()->first <= now) {
    auto [group, message] = wakeups_.begin()->second;
    open(group, message, jobs);
  }
}

std::optional<steady_time> message_groups::next_wakeup() const {
  if (wakeups_.empty())
    return std::nullopt;
  return wakeups_.begin()->first;
}

std::optional<steady_time> message_groups::back_at(lane_id group,
                                                   job_seq message) const {
  auto i = shut_.find({group, message});
  return i == shut_.end() ? std::nullopt : i->second;
}

} // namespace tidegate
