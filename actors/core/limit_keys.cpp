#include "actors/core/limit_keys.hpp"

#include <algorithm>

namespace tidegate {

namespace {

/// How long a key without jobs is remembered after its hold has ended, for the
/// next job to be a probe.
constexpr duration deserted_max = std::chrono::hours{1};

void set_limits(limit_keys::state& s, const queue_settings& settings) {
  s.flying.limit(settings.key_concurrency.value_or(
    std::numeric_limits<std::uint32_t>::max()));
  s.rate.limit(settings.key_rate_limit_max, settings.rate_limit_window);
}

} // namespace

void limit_keys::restore(const limit_key_record& stored,
                         const queue_settings& settings, due_heap& jobs,
                         moment now) {
  auto lane = jobs.pin(stored.key);
  auto& s = states_[lane];
  set_limits(s, settings);
  s.door = gate{stored.gate, now};
  s.rate.restore(stored.rate, now);
  s.stored = true;
  revisit_at(lane, s.rate.busy_until(now.steady).value_or(now.steady));
}

void limit_keys::change(const queue_settings& settings, due_heap& jobs) {
  for (auto& [lane, s] : states_) {
    set_limits(s, settings);
    jobs.open(lane);
  }
}

gate::answer limit_keys::ask(lane_id lane, steady_time now) const {
  auto s = find(lane);
  if (!s)
    return gate::answer::pass;
  if (s->flying.full() || s->rate.full(now))
    return gate::answer::shut;
  return s->door.ask(now);
}

void limit_keys::shut(lane_id lane, due_heap& jobs, steady_time now) {
  jobs.shut(lane);
  auto& s = states_.at(lane);
  if (s.flying.full() || s.door.state() == gate_state::probing)
    return;
  auto when = s.rate.next_start(now);
  if (auto release = s.door.held_until())
    when = std::max(when, *release);
  revisit_at(lane, when);
}

std::vector<std::string> limit_keys::wake(due_heap& jobs, steady_time now) {
  std::vector<std::string> forgotten;
  while (!revisits_.empty() && revisits_.begin()->first <= now) {
    auto lane = revisits_.begin()->second;
    revisits_.erase(revisits_.begin());
    states_.at(lane).revisit.reset();
    jobs.open(lane);
    if (auto key = forget_if_idle(lane, jobs, now))
      forgotten.push_back(std::move(*key));
  }
  return forgotten;
}

std::optional<steady_time> limit_keys::next_wakeup() const {
  if (revisits_.empty())
    return std::nullopt;
  return revisits_.begin()->first;
}

void limit_keys::start(lane_id lane, const queue_settings& settings,
                       due_heap& jobs, steady_time now) {
  auto& s = state_of(lane, settings, jobs);
  s.flying.take();
  s.rate.count(now);
}

std::optional<std::string> limit_keys::give_back(lane_id lane, due_heap& jobs,
                                                 steady_time now) {
  states_.at(lane).flying.give_back();
  jobs.open(lane);
  return forget_if_idle(lane, jobs, now);
}

gate& limit_keys::gate_of(lane_id lane, const queue_settings& settings,
                          due_heap& jobs) {
  auto& s = state_of(lane, settings, jobs);
  jobs.open(lane);
  return s.door;
}

const limit_keys::state* limit_keys::find(lane_id lane) const {
  auto i = states_.find(lane);
  return i == states_.end() ? nullptr : &i->second;
}

limit_key_record limit_keys::to_store(lane_id lane, const due_heap& jobs,
                                      moment now) {
  auto& s = states_.at(lane);
  limit_key_record result{jobs.key_of(lane), s.door.to_record(now),
                          s.rate.to_record(now)};
  s.stored = !result.at_rest();
  if (auto release = s.door.held_until();
      release && (!s.revisit || *release < *s.revisit))
    revisit_at(lane, *release);
  return result;
}

std::vector<lane_id> limit_keys::lanes() const {
  std::vector<lane_id> result;
  for (const auto& [lane, s] : states_)
    result.push_back(lane);
  return result;
}

limit_keys::state& limit_keys::state_of(lane_id lane,
                                        const queue_settings& settings,
                                        due_heap& jobs) {
  auto [i, is_new] = states_.try_emplace(lane);
  if (is_new) {
    jobs.pin(jobs.key_of(lane));
    set_limits(i->second, settings);
  }
  return i->second;
}

void limit_keys::revisit_at(lane_id lane, steady_time when) {
  auto& revisit = states_.at(lane).revisit;
  if (revisit)
    revisits_.erase({*revisit, lane});
  revisit = when;
  revisits_.emplace(when, lane);
}

std::optional<std::string>
limit_keys::forget_if_idle(lane_id lane, due_heap& jobs, steady_time now) {
  auto& s = states_.at(lane);
  if (s.flying.taken() > 0)
    return std::nullopt;
  if (auto release = s.door.held_until()) {
    auto over = after(*release, deserted_max);
    if (jobs.has_jobs(lane) || now < over) {
      if (!s.revisit)
        revisit_at(lane, std::max(over, after(now, deserted_max)));
      return std::nullopt;
    }
  } else if (!s.door.at_rest()) {
    return std::nullopt;
  }
  if (auto until = s.rate.busy_until(now)) {
    revisit_at(lane, *until);
    return std::nullopt;
  }
  std::optional<std::string> key;
  if (s.stored)
    key = jobs.key_of(lane);
  if (s.revisit)
    revisits_.erase({*s.revisit, lane});
  states_.erase(lane);
  jobs.unpin(lane);
  return key;
}

} // namespace tidegate
