#include "storage/job_row.hpp"

namespace tidegate::job_row {

std::uint64_t take(sqlite::execution& row, job& out) {
  std::uint64_t entries = 0;
  row.take(out.id.seq.value)
    .take(out.id.queue.value)
    .take(out.due)
    .take(out.expires_at)
    .take(out.created_at)
    .take(out.waits_for)
    .take(out.status)
    .take(out.started_delivery)
    .take(out.id.tag)
    .take(out.eligible_at)
    .take(out.attempts)
    .take(out.defers)
    .take(out.deliveries)
    .take(out.waits_since)
    .take(entries)
    .take(out.idempotency_key);
  return entries;
}

void take_end(sqlite::execution& row, job& out) {
  row.take(out.dead_reason).take(out.ended_at);
}

void take_entry(sqlite::execution& row, history_entry& out) {
  row.take(out.attempt)
    .take(out.delivery)
    .take(out.status)
    .take(out.error)
    .take(out.error_code)
    .take(out.http_status)
    .take(out.took)
    .take(out.response_excerpt)
    .take(out.retry_after)
    .take(out.at);
}

void take_payload(sqlite::execution& row, job& out) {
  std::string bytes;
  row.take(bytes);
  out.payload = payload{std::move(bytes)};
}

void bind_entry(sqlite::execution& use,
                const std::optional<history_entry>& entry) {
  if (!entry) {
    for (auto column = 0; column < 10; ++column)
      use.bind_null();
    return;
  }
  use.bind(entry->attempt)
    .bind(entry->delivery)
    .bind(entry->status)
    .bind(entry->error)
    .bind(entry->error_code)
    .bind(entry->http_status)
    .bind(entry->took)
    .bind(entry->response_excerpt)
    .bind(entry->retry_after)
    .bind(entry->at);
}

} // namespace tidegate::job_row
