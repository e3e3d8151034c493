#include "tests/sim/downstream.hpp"

#include <algorithm>

namespace tidegate::sim {

namespace {

constexpr std::uint16_t ordinary_failure = 500;

bool says_not_now(const delivery_reply& reply) {
  return reply.http_status == 429 || reply.http_status == 503
         || reply.http_status == 529;
}

/// Returns `wait` in whole seconds, at least one, as a header has it.
std::string in_seconds(duration wait) {
  using std::chrono::seconds;
  return std::to_string(
    std::max(seconds{1}, std::chrono::ceil<seconds>(wait)).count());
}

} // namespace

std::optional<duration> window_counter::take(duration now) {
  if (limit_.type == window_limit::kind::fixed) {
    auto window = now / limit_.window;
    if (window != window_)
      count_ = 0;
    window_ = window;
    if (count_ == limit_.max)
      return limit_.window * (window + 1) - now;
    ++count_;
    return std::nullopt;
  }
  while (!begun_.empty() && begun_.front() + limit_.window <= now)
    begun_.pop_front();
  if (begun_.size() == limit_.max)
    return begun_.front() + limit_.window - now;
  begun_.push_back(now);
  return std::nullopt;
}

downstream_model::downstream_model(const downstream_plan& what,
                                   std::uint64_t seed)
  : plan_(what), lots_(seed) {
  // nop
}

const outage* downstream_model::outage_at(duration now) {
  auto& all = plan_.outages;
  while (outage_ < all.size() && all[outage_].from + all[outage_].length <= now)
    ++outage_;
  if (outage_ == all.size() || now < all[outage_].from)
    return nullptr;
  return &all[outage_];
}

verdict downstream_model::refuse(std::uint16_t status, const retry_hint& hint,
                                 duration wait) {
  verdict result{fate::refused, {}};
  result.answer.status = status;
  result.answer.latency = lots_.draw(plan_.refusal_latency);
  if (hint.type == retry_hint::kind::exact)
    result.answer.retry_after = in_seconds(wait - result.answer.latency);
  else if (hint.type == retry_hint::kind::fixed)
    result.answer.retry_after = std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(hint.wait).count());
  return result;
}

std::optional<duration> downstream_model::ask_limit(const publication& job,
                                                    duration now) {
  if (!plan_.limit)
    return std::nullopt;
  std::pair<std::size_t, std::uint64_t> key;
  if (plan_.limit->per_key)
    key = {job.stream, job.key};
  return counters_.try_emplace(key, *plan_.limit).first->second.take(now);
}

std::optional<duration> downstream_model::ask_concurrency(duration now) {
  while (!ends_.empty() && ends_.top() <= now)
    ends_.pop();
  if (!plan_.concurrency || ends_.size() < *plan_.concurrency)
    return std::nullopt;
  return ends_.top() - now;
}

verdict downstream_model::answer(duration timeout, duration now) {
  verdict result;
  result.answer.latency = lots_.draw(plan_.latency);
  if (plan_.concurrency)
    ends_.push(now + result.answer.latency);
  if (plan_.error_rate > 0 && lots_.share() < plan_.error_rate) {
    result.what = fate::failed;
    result.answer.status = ordinary_failure;
  } else if (result.answer.latency > timeout) {
    result.what = fate::failed;
  }
  return result;
}

verdict downstream_model::take(const publication& job, duration timeout,
                               duration now) {
  if (auto out = outage_at(now))
    return refuse(out->status, out->retry_after, out->from + out->length - now);
  // A request that is turned away for its concurrency counts for no limit.
  if (auto wait = ask_concurrency(now))
    return refuse(429, plan_.busy, *wait);
  if (auto wait = ask_limit(job, now))
    return refuse(plan_.limit->status, plan_.limit->retry_after, *wait);
  return answer(timeout, now);
}

std::shared_ptr<transport::call> without_backpressure::post(delivery what,
                                                            callback done) {
  return inner_->post(std::move(what),
                      [done = std::move(done)](delivery_reply reply) {
                        if (says_not_now(reply)) {
                          reply.http_status = ordinary_failure;
                          reply.retry_after.clear();
                        }
                        done(std::move(reply));
                      });
}

} // namespace tidegate::sim
