// How a job and a line of its history stand in a row.

#pragma once

#include <cstdint>
#include <string>

#include "storage/sqlite.hpp"
#include "tidegate/job.hpp"

namespace tidegate::job_row {

/// Columns that `jobs` and `ended` share, in the order of `take`.
inline constexpr char columns[] =
  "seq, queue, due, expires_at, created_at, waits_for, status, "
  "started_delivery, tag, eligible_at, attempts, defers, deliveries, "
  "waits_since, entries, idempotency_key";

/// What `ended` has beyond them, in the order of `take_end`.
inline constexpr char end_columns[] = "dead_reason, ended_at";

/// The entry that came with the end of a job, in the order of `take_entry`.
inline constexpr char last_entry_columns[] =
  "last_attempt, last_delivery, last_status, last_error, last_error_code, "
  "last_http_status, last_took, last_response_excerpt, last_retry_after, "
  "last_at";

/// Columns of `history` without its key, in the order of `take_entry`.
inline constexpr char entry_columns[] =
  "attempt, delivery, status, error, error_code, http_status, took, "
  "response_excerpt, retry_after, at";

/// Takes a job without its payload. Answers how many entries of history have
/// ever been stored with it, those of `last_entry_columns` not counted.
std::uint64_t take(sqlite::execution& row, job& out);

void take_end(sqlite::execution& row, job& out);

void take_entry(sqlite::execution& row, history_entry& out);

void take_payload(sqlite::execution& row, job& out);

/// Binds `entry`, or as many nulls.
void bind_entry(sqlite::execution& use,
                const std::optional<history_entry>& entry);

} // namespace tidegate::job_row
