#include "storage/job_queries.hpp"

#include "storage/job_row.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;
using answer = job_queries::answer;
using found = job_queries::found;

constexpr char joined[] = " JOIN payloads USING (seq) WHERE seq = ?";

std::string select_live(const char* bytes) {
  return "SELECT "s + job_row::columns + ", " + job_row::context_columns + bytes
         + " FROM jobs" + joined;
}

std::string select_ended(const char* bytes) {
  return "SELECT "s + job_row::columns + ", " + job_row::context_columns + bytes
         + ", " + job_row::end_columns + ", " + job_row::last_entry_columns
         + " FROM ended" + joined;
}

// Nothing where the job is in another queue than `queue`, if there is one.
answer fetch(sqlite::statement& from, std::optional<queue_id> queue,
             job_seq seq, bool has_payload, bool has_ended) {
  auto row = from.start();
  row.bind(seq.value);
  if (!row.next()) {
    if (auto reason = row.failure())
      return *reason;
    return std::optional<found>{};
  }
  found out;
  out.entries = job_row::take(row, out.record.job);
  if (queue && out.record.job.id.queue != *queue)
    return std::optional<found>{};
  job_row::take_context(row, out.record.job);
  if (has_payload)
    job_row::take_payload(row, out.record.job);
  if (has_ended) {
    job_row::take_end(row, out.record.job);
    if (!row.null_ahead())
      job_row::take_entry(row, out.last.emplace());
  }
  return std::optional{std::move(out)};
}

} // namespace

job_queries::job_queries(const sqlite::connection& db)
  : live_(db, select_live(", bytes")), ended_(db, select_ended(", bytes")),
    bare_live_(db, select_live("")), bare_ended_(db, select_ended("")),
    holder_(db, "SELECT seq FROM idempotency WHERE queue = ? AND key = ?") {
  // nop
}

answer job_queries::find_live(queue_id queue, job_seq seq) {
  return fetch(live_, queue, seq, true, false);
}

answer job_queries::find(queue_id queue, job_seq seq) {
  auto live = find_live(queue, seq);
  if (!live || *live)
    return live;
  return fetch(ended_, queue, seq, true, true);
}

answer job_queries::find(job_seq seq) {
  auto live = fetch(live_, std::nullopt, seq, true, false);
  if (!live || *live)
    return live;
  return fetch(ended_, std::nullopt, seq, true, true);
}

answer job_queries::find_bare(queue_id queue, job_seq seq) {
  auto live = fetch(bare_live_, queue, seq, false, false);
  if (!live || *live)
    return live;
  return fetch(bare_ended_, queue, seq, false, true);
}

answer job_queries::find_by_key(queue_id queue, const std::string& key) {
  job_seq seq;
  {
    auto row = holder_.start();
    row.bind(queue.value).bind(key);
    if (!row.next()) {
      if (auto reason = row.failure())
        return *reason;
      return std::optional<found>{};
    }
    row.take(seq.value);
  }
  auto holder = find(seq);
  if (holder && !*holder)
    return error{errc::storage_unavailable, "an idempotency key names job "
                                              + std::to_string(seq.value)
                                              + ", which does not exist"};
  return holder;
}

} // namespace tidegate
