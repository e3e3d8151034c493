// Reads settings field by field. Part of the codec.

#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "http/codec.hpp"
#include "http/problem.hpp"
#include "tidegate/queue_settings.hpp"

namespace tidegate::http {

namespace setting {

/// Fields of a settings object, in the order of `names`.
enum field : std::size_t {
  webhook_url,
  mode,
  concurrency,
  rate_limit_max,
  rate_limit_window,
  max_attempts,
  max_defers,
  backoff,
  timeout,
  ack_timeout,
  ack_timeout_action,
  lifetime,
  retention,
  dead_letter,
  headers,
  permanent_failure_statuses,
  key_concurrency,
  key_rate_limit_max,
  backpressure_scope,
  recovery,
  min_hold,
  max_hold,
  max_depth,
  tls_ca,
  tls_insecure,
  field_count,
  name = field_count,
};

inline constexpr std::array<std::string_view, field_count + 1> names = {
  "webhookUrl",        "mode",
  "concurrency",       "rateLimitMax",
  "rateLimitWindow",   "maxAttempts",
  "maxDefers",         "backoff",
  "timeout",           "ackTimeout",
  "ackTimeoutAction",  "lifetime",
  "retention",         "deadLetter",
  "headers",           "permanentFailureStatuses",
  "keyConcurrency",    "keyRateLimitMax",
  "backpressureScope", "recovery",
  "minHold",           "maxHold",
  "maxDepth",          "tlsCa",
  "tlsInsecure",       "name"};

} // namespace setting

/// Reads the settings that `slots` has, which are in the order of
/// `setting::names`, and holds them against their ranges. Adds what is wrong to
/// `out`.
queue_settings_patch read_settings(std::span<const std::string_view> slots,
                                   const target_check& check, complaints& out);

} // namespace tidegate::http
