#include "tests/simulation/flood_watch.hpp"

#include <algorithm>
#include <utility>

namespace tidegate::testkit {

namespace {

/// What a "not now" without `Retry-After` asks for, and the least that a probe
/// without a verdict costs.
constexpr duration unnamed_wait = std::chrono::seconds{60};
constexpr duration verdict_wait_min = std::chrono::seconds{1};

bool is_not_now(std::uint16_t status) {
  return status == 429 || status == 503 || status == 529;
}

/// Whether a probe that is answered so opens the gate: it was told something
/// about its job, by a downstream that is there.
bool opens(std::uint16_t status) {
  return status >= 200 && status < 500 && status / 100 != 3 && status != 408
         && status != 425 && status != 429;
}

duration wait_of(const response& answer) {
  if (answer.retry_after.empty())
    return unnamed_wait;
  return std::chrono::seconds{std::stoll(answer.retry_after)};
}

} // namespace

std::optional<std::string> flood_watch::begin(const delivery& what,
                                              const response& answer,
                                              steady_time now) {
  settle(now);
  auto wrong = judge(what, now);
  // Perhaps it is what has been answered at this very instant, with or without
  // what was answered to those that went out in it.
  if (wrong)
    wrong = judge_after(what, now, [](const answered&) { return true; });
  if (wrong)
    wrong = judge_after(what, now,
                        [now](const answered& x) { return x.begun != now; });
  probe_out_ = probe_out_ || what.probe;
  auto late = answer.latency > what.timeout;
  answered next{now, what.probe, late ? std::uint16_t{0} : answer.status, {}};
  if (is_not_now(next.status))
    next.wait = wait_of(answer);
  coming_.emplace(now + std::min(answer.latency, what.timeout), next);
  return wrong;
}

std::optional<std::string> flood_watch::judge(const delivery& what,
                                              steady_time now) const {
  if (!shut_)
    return std::nullopt;
  if (now < release_)
    return "a delivery goes out before the release time";
  if (!what.probe)
    return "a delivery that is no probe goes out before a probe has succeeded";
  if (probe_out_)
    return "a second probe goes out beside the first one";
  return std::nullopt;
}

template <class Predicate>
std::optional<std::string> flood_watch::judge_after(const delivery& what,
                                                    steady_time now,
                                                    Predicate counts) const {
  auto later = *this;
  std::erase_if(later.coming_,
                [&](const auto& x) { return !counts(x.second); });
  later.settle(now + duration{1});
  return later.judge(what, now);
}

void flood_watch::forget() {
  *this = flood_watch{};
}

void flood_watch::settle(steady_time now) {
  while (!coming_.empty() && coming_.begin()->first < now) {
    auto at = coming_.begin()->first;
    std::optional<std::uint16_t> probe;
    // Of what comes at the same instant, holds count first.
    while (!coming_.empty() && coming_.begin()->first == at) {
      auto what = coming_.begin()->second;
      coming_.erase(coming_.begin());
      if (what.probe)
        probe = what.status;
      if (!is_not_now(what.status))
        continue;
      release_ = shut_ ? std::max(release_, at + what.wait) : at + what.wait;
      shut_ = true;
    }
    if (probe)
      settle_probe(*probe, at);
  }
}

void flood_watch::settle_probe(std::uint16_t status, steady_time at) {
  probe_out_ = false;
  if (opens(status))
    shut_ = shut_ && release_ > at;
  else if (!is_not_now(status))
    release_ = std::max(release_, at + verdict_wait_min);
}

} // namespace tidegate::testkit
