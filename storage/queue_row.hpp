// How settings, gate and rate of a queue stand in a row.

#pragma once

#include <string>
#include <vector>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate::queue_row {

/// What an owner or operator may change, in the order of `bind_settings` and
/// `take_settings`.
inline constexpr char settings_columns[] =
  "paused, paused_since, updated_at, mode, concurrency, rate_limit_max, "
  "rate_limit_window, max_attempts, max_defers, backoff_kind, backoff_delay, "
  "backoff_factor, backoff_max_delay, backoff_jitter, backoff_steps, timeout, "
  "lifetime, ack_timeout, ack_timeout_action, retention, dead_letter, "
  "permanent_failure_statuses, key_concurrency, key_rate_limit_max, "
  "backpressure_scope, recovery_mode, recovery_start, recovery_factor, "
  "min_hold, max_hold, max_depth, tls_ca, tls_insecure, webhook_url";

inline constexpr int settings_count = 34;

/// Columns that `gates` and `limit_keys` share, in the order of `bind_gate` and
/// `take_gate`.
inline constexpr char gate_columns[] =
  "state, release_at, since, cause, caused_by, http_status, failed_probes, "
  "probe_job, probe_delivery, probe_verdict, probe_at, reason, ramp";

inline constexpr int gate_count = 13;

/// Returns `n` question marks with commas between them.
std::string places(int n);

void bind_settings(sqlite::execution& use, const update_queue& what);

void take_settings(sqlite::execution& row, queue_record& out);

void bind_gate(sqlite::execution& use, const gate_record& gate);

/// Takes a gate into one that was just made.
void take_gate(sqlite::execution& row, gate_record& out);

void bind_starts(sqlite::execution& use, const std::vector<rate_start>& starts);

void take_starts(sqlite::execution& row, std::vector<rate_start>& out);

} // namespace tidegate::queue_row
