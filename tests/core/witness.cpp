#include "tests/core/witness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/core/broken_rule.hpp"
#include "tests/core/moments.hpp"

namespace tidegate::testing {

namespace {

duration asked_for(const delivery_reply& reply) {
  if (reply.retry_after.empty())
    return seconds(60);
  auto asked = std::strtod(reply.retry_after.front().c_str(), nullptr);
  return asked > to_seconds(longest_wait) ? longest_wait : seconds(asked);
}

bool is_not_now(int status) {
  return status == 429 || status == 503 || status == 529;
}

probe_verdict verdict_of(int status, delivery_mode mode) {
  if (is_not_now(status))
    return probe_verdict::deferred;
  if (status / 100 == 2)
    return probe_verdict::success;
  auto refused = status / 100 == 4 && status != 408 && status != 425;
  return refused && mode == delivery_mode::standard ? probe_verdict::refused
                                                    : probe_verdict::no_verdict;
}

duration bounded(duration wait, const queue_settings& settings) {
  if (settings.max_hold)
    wait = std::min(wait, *settings.max_hold);
  return settings.min_hold ? std::max(wait, *settings.min_hold) : wait;
}

defer_scope scope_of(const std::string& key, std::optional<defer_scope> asked,
                     const queue_settings& settings) {
  if (!asked)
    asked = settings.backpressure_scope == backpressure_scope::key
              ? defer_scope::key
              : defer_scope::queue;
  return *asked == defer_scope::key && key.empty() ? defer_scope::queue
                                                   : *asked;
}

} // namespace

// -- deliveries ---------------------------------------------------------------

void witness::started(const delivery& what, const std::string& key,
                      const queue_settings& settings, duration now) {
  gate_oracle::name name{what.job.seq, what.number};
  auto probe = gate_.started(name, now);
  if (auto k = keys_.find(key); k != keys_.end())
    probe = k->second.started(name, now) || probe;
  must(what.probe == probe, "what starts at a held gate is a probe, else not");
  must(!owed(what.job), "a job is delivered once at a time");
  auto added = courses_.emplace(name, course{what.job, key, true, true, {}});
  must(added.second, "a delivery has a number of its own");
  must(flying() <= settings.concurrency, "no more than the limit in flight");
  must(ramp_ == 0 || flying() <= ramp_, "no more than the ramp in flight");
  must(key.empty() || !settings.key_concurrency
         || flying(key) <= *settings.key_concurrency,
       "no more than the limit of the key in flight");
}

void witness::replied(const delivery& what, const delivery_reply& reply,
                      const queue_settings& settings, duration now) {
  auto i = courses_.find({what.job.seq, what.number});
  must(i != courses_.end(), "only what was started ends");
  auto& c = i->second;
  c.posting = false;
  auto status = reply.http_status.value_or(0);
  auto wait = bounded(asked_for(reply), settings);
  auto scope = scope_of(c.key, std::nullopt, settings);
  if (!c.owed || reply.error_code == delivery_errc::aborted) {
    probe_gone(*i);
    if (is_not_now(status))
      hold(c.key, wait, scope, now);
    courses_.erase(i);
    return;
  }
  if (settings.mode == delivery_mode::ack && status / 100 == 2) {
    c.deadline = now + settings.ack_timeout;
    return;
  }
  conclude(i, verdict_of(status, settings.mode), wait, scope, settings, now);
}

void witness::reported(const report& what, const queue_settings& settings,
                       duration now) {
  auto i = owed_of(what.job.seq);
  must(i != courses_.end(), "only what is owed is reported");
  auto verdict = probe_verdict::success;
  if (what.what == report::kind::defer)
    verdict = probe_verdict::deferred;
  else if (what.what == report::kind::nack)
    verdict = what.retryable ? probe_verdict::no_verdict
                             : probe_verdict::refused;
  conclude(i, verdict, bounded(what.wait, settings),
           scope_of(i->second.key, what.scope, settings), settings, now);
}

void witness::only_held(const report& what, const std::string& key,
                        const queue_settings& settings, duration now) {
  hold(key, bounded(what.wait, settings), scope_of(key, what.scope, settings),
       now);
}

void witness::touched(job_id job, duration wait, duration now) {
  auto i = owed_of(job.seq);
  must(i != courses_.end() && i->second.deadline,
       "only what awaits its ack is touched");
  i->second.deadline = now + wait;
}

void witness::lapsed(job_seq job, std::uint64_t number,
                     const queue_settings& settings, duration now) {
  auto i = courses_.find({job, number});
  must(i != courses_.end() && i->second.deadline && *i->second.deadline <= now,
       "a wait for an ack ends at its time");
  conclude(i, probe_verdict::no_verdict, {}, defer_scope::job, settings, now);
}

void witness::cancelled(job_id job) {
  auto i = owed_of(job.seq);
  if (i == courses_.end())
    return;
  i->second.owed = false;
  i->second.deadline.reset();
  if (i->second.posting)
    return;
  probe_gone(*i);
  courses_.erase(i);
}

/// What the delivery came to is known; its slot is free when its POST has
/// ended.
void witness::conclude(course_map::iterator i, probe_verdict verdict,
                       duration wait, defer_scope scope,
                       const queue_settings& settings, duration now) {
  auto& [name, c] = *i;
  auto deferred = verdict == probe_verdict::deferred;
  if (verdict == probe_verdict::success && ramp_ > 0 && ++successes_ == ramp_) {
    ramp_ = static_cast<std::uint32_t>(
      std::max(std::ceil(ramp_ * settings.recovery.factor), ramp_ + 1.0));
    successes_ = 0;
    if (ramp_ >= settings.concurrency)
      ramp_ = 0;
  }
  if (!gate_.is_probe(name)) {
    if (deferred && scope == defer_scope::queue)
      hold({}, wait, scope, now);
  } else if (deferred && scope != defer_scope::queue) {
    gate_.gone();
  } else {
    judge_queue(verdict, wait, settings, now);
  }
  auto k = keys_.find(c.key);
  if (k == keys_.end() || !k->second.is_probe(name)) {
    if (deferred && scope == defer_scope::key)
      hold(c.key, wait, scope, now);
  } else if (deferred && scope == defer_scope::job) {
    k->second.gone();
  } else {
    k->second.judged(verdict, wait, now);
  }
  auto key = c.key;
  c.owed = false;
  c.deadline.reset();
  if (!c.posting)
    courses_.erase(i);
  tidy_key(key);
}

void witness::judge_queue(probe_verdict verdict, duration wait,
                          const queue_settings& settings, duration now) {
  gate_.judged(verdict, wait, now);
  const auto& how = settings.recovery;
  if (gate_.is_open() && how.mode == recovery_settings::kind::ramp
      && how.start < settings.concurrency)
    ramp_ = how.start;
}

// -- gates --------------------------------------------------------------------

void witness::hold(const std::string& key, duration wait, defer_scope scope,
                   duration now) {
  if (scope == defer_scope::key)
    keys_[key].held(wait, now);
  if (scope == defer_scope::queue)
    held(wait, now);
}

void witness::held(duration wait, duration now) {
  gate_.held(wait, now);
  ramp_ = 0;
  successes_ = 0;
}

void witness::released(duration now) {
  gate_.released(now);
}

void witness::key_released(const std::string& key, duration now) {
  if (auto k = keys_.find(key); k != keys_.end())
    k->second.released(now);
}

void witness::all_released(duration now) {
  gate_.released(now);
  for (auto& [key, g] : keys_)
    g.released(now);
}

void witness::settings_changed(const queue_settings& settings) {
  if (settings.recovery.mode == recovery_settings::kind::full) {
    ramp_ = 0;
    successes_ = 0;
  }
}

void witness::died() {
  std::erase_if(courses_, [](const auto& c) { return !c.second.deadline; });
  successes_ = 0;
  gate_.gone();
  for (auto& [key, g] : keys_)
    g.gone();
}

void witness::probe_gone(const course_map::value_type& c) {
  if (gate_.is_probe(c.first))
    gate_.gone();
  if (auto k = keys_.find(c.second.key);
      k != keys_.end() && k->second.is_probe(c.first))
    k->second.gone();
}

void witness::tidy_key(const std::string& key) {
  if (auto k = keys_.find(key); k != keys_.end() && k->second.is_open())
    keys_.erase(k);
}

// -- what is known ------------------------------------------------------------

witness::course_map::iterator witness::owed_of(job_seq job) {
  return std::find_if(courses_.begin(), courses_.end(), [job](const auto& c) {
    return c.first.first == job && c.second.owed;
  });
}

bool witness::key_is_shut(const std::string& key, duration now) const {
  auto k = keys_.find(key);
  return k != keys_.end() && k->second.is_shut(now);
}

std::size_t witness::flying(const std::string& key) const {
  return static_cast<std::size_t>(
    std::count_if(courses_.begin(), courses_.end(),
                  [&](const auto& c) { return c.second.key == key; }));
}

std::size_t witness::strays() const {
  return static_cast<std::size_t>(
    std::count_if(courses_.begin(), courses_.end(),
                  [](const auto& c) { return !c.second.owed; }));
}

std::optional<std::uint64_t> witness::owed(job_id job) const {
  for (const auto& [name, c] : courses_)
    if (c.job == job && c.owed)
      return name.second;
  return std::nullopt;
}

std::vector<job_id> witness::owed() const {
  std::vector<job_id> result;
  for (const auto& [name, c] : courses_)
    if (c.owed)
      result.push_back(c.job);
  return result;
}

std::vector<job_id> witness::awaiting() const {
  std::vector<job_id> result;
  for (const auto& [name, c] : courses_)
    if (c.deadline)
      result.push_back(c.job);
  return result;
}

bool witness::has_overdue(duration now) const {
  return std::any_of(courses_.begin(), courses_.end(), [now](const auto& c) {
    return c.second.deadline && *c.second.deadline <= now;
  });
}

} // namespace tidegate::testing
