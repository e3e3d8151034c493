#include "actors/core/outcome.hpp"

#include "actors/core/retry_after.hpp"

namespace tidegate {

namespace {

bool is_defer(std::uint16_t status) {
  return status == 429 || status == 503 || status == 529;
}

bool is_refusal(std::uint16_t status) {
  return status >= 400 && status < 500 && status != 408 && status != 425;
}

} // namespace

outcome judge(const delivery_reply& reply, wall_time now) {
  outcome result;
  result.retryable = !reply.permanent;
  if (!reply.http_status) {
    result.error = reply.error;
    return result;
  }
  auto status = *reply.http_status;
  if (status >= 200 && status < 300) {
    result.what = outcome::kind::success;
    result.verdict = probe_verdict::success;
    return result;
  }
  result.error = "the webhook answered " + std::to_string(status);
  if (is_defer(status)) {
    result.what = outcome::kind::defer;
    result.verdict = probe_verdict::deferred;
    result.retry_after = read_retry_after(reply.retry_after, reply.date, now)
                           .value_or(default_retry_after);
  } else if (is_refusal(status)) {
    result.verdict = probe_verdict::refused;
  }
  return result;
}

} // namespace tidegate
