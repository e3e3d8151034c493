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
  "waits_since, entries, idempotency_key, priority, background, limit_key, "
  "replays, reported, reported_delivery, source_queue, source_receives, "
  "dead_lettered_at";

/// The context of a job, which stands beside its payload, in the order of
/// `take_context`.
inline constexpr char context_columns[] = "headers, traceparent, tracestate";

/// What `ended` has beyond them, in the order of `take_end`.
inline constexpr char end_columns[] =
  "dead_reason, ended_at, remove_at, dead_letter, published";

/// The entry that came with the end of a job, in the order of `take_entry`.
inline constexpr char last_entry_columns[] =
  "last_attempt, last_delivery, last_status, last_error, last_error_code, "
  "last_http_status, last_took, last_response_excerpt, last_retry_after, "
  "last_at";

/// Columns of `history` without its key and the payload that was replaced, in
/// the order of `take_entry`.
inline constexpr char entry_columns[] =
  "attempt, delivery, status, error, error_code, http_status, took, "
  "response_excerpt, retry_after, at";

/// Takes a job without its payload and context. Answers how many entries of
/// history have ever been stored with it, those of `last_entry_columns` not
/// counted.
std::uint64_t take(sqlite::execution& row, job& out);

void take_end(sqlite::execution& row, job& out);

void take_entry(sqlite::execution& row, history_entry& out);

void take_context(sqlite::execution& row, job& out);

void take_payload(sqlite::execution& row, job& out);

/// Binds `value`, or null where it is empty. It must outlive the execution.
void bind_text(sqlite::execution& use, const std::string& value);

/// Binds the three columns that say where a message came from: nulls where it
/// was published in its queue.
void bind_source(sqlite::execution& use, const job& what);

/// Binds the column that says what an ack published.
void bind_published(sqlite::execution& use, const successor& what);

/// Binds the three columns of a context.
void bind_context(sqlite::execution& use, const job_context& context);

/// Binds the columns of an entry.
void bind_entry(sqlite::execution& use, const history_entry& entry);

/// Binds `entry`, or as many nulls.
void bind_entry(sqlite::execution& use,
                const std::optional<history_entry>& entry);

} // namespace tidegate::job_row
