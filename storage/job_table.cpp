#include "storage/job_table.hpp"

#include <string>

#include "storage/job_row.hpp"

namespace tidegate {

namespace {

error not_live(const job& what) {
  return {errc::storage_unavailable,
          to_string(what.id) + " is not a live job of its queue"};
}

// What deliveries change, as `SET` of an update.
constexpr char mutable_part[] =
  "due = ?, expires_at = ?, waits_for = ?, status = ?, started_delivery = ?, "
  "attempts = ?, defers = ?, deliveries = ?, waits_since = ?, "
  "reported = ?, reported_delivery = ?, entries = entries + ?";

// The same as the columns of an ended job, which takes the rest from the row of
// the live one: the caller need not have it.
constexpr char ended_part[] =
  "seq, queue, ?, ?, created_at, ?, ?, ?, tag, eligible_at, ?, ?, ?, ?, "
  "entries, idempotency_key, priority, background, limit_key, replays, ?, ?";

void bind_mutable_part(sqlite::execution& use, const job& what) {
  use.bind(what.due)
    .bind(what.expires_at)
    .bind(what.waits_for)
    .bind(what.status)
    .bind(what.started_delivery)
    .bind(what.attempts)
    .bind(what.defers)
    .bind(what.deliveries)
    .bind(what.waits_since)
    .bind(what.reported)
    .bind(what.reported_delivery);
}

std::string copy_to_ended() {
  using namespace std::string_literals;
  return "INSERT INTO ended ("s + job_row::columns + ", "
         + job_row::end_columns + ", " + job_row::last_entry_columns
         + ") SELECT " + ended_part
         + ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "
           "FROM jobs WHERE seq = ? AND queue = ?";
}

std::string insert_live() {
  using namespace std::string_literals;
  return "INSERT INTO jobs ("s + job_row::columns
         + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, "
           "?, ?, ?, ?)";
}

} // namespace

job_table::job_table(sqlite::connection& db)
  : db_(db), queries_(db), history_(db),
    add_key_(db,
             "INSERT INTO idempotency (queue, key, seq) VALUES (?, ?, ?) "
             "ON CONFLICT DO NOTHING"),
    insert_(db, insert_live()),
    insert_payload_(db,
                    "INSERT INTO payloads (seq, bytes, headers, traceparent, "
                    "tracestate) VALUES (?, ?, ?, ?, ?)"),
    update_(db, std::string{"UPDATE jobs SET "} + mutable_part
                  + " WHERE seq = ? AND queue = ? RETURNING entries"),
    copy_to_ended_(db, copy_to_ended()),
    delete_live_(db, "DELETE FROM jobs WHERE seq = ?") {
  // nop
}

// -- insert -------------------------------------------------------------------

std::optional<error> job_table::insert(const job& what, commit_answer& answer) {
  if (!what.idempotency_key.empty()) {
    auto reason = reserve_key(what, answer);
    if (reason || answer.existing)
      return reason;
  }
  auto payload = insert_payload_.start();
  payload.bind(what.id.seq.value).bind_blob(what.payload.bytes());
  job_row::bind_context(payload, what.context);
  if (auto reason = payload.run())
    return reason;
  auto row = insert_.start();
  row.bind(what.id.seq.value)
    .bind(what.id.queue.value)
    .bind(what.due)
    .bind(what.expires_at)
    .bind(what.created_at)
    .bind(what.waits_for)
    .bind(what.status)
    .bind(what.started_delivery)
    .bind(what.id.tag)
    .bind(what.eligible_at)
    .bind(what.attempts)
    .bind(what.defers)
    .bind(what.deliveries)
    .bind(what.waits_since);
  job_row::bind_text(row, what.idempotency_key);
  row.bind(what.priority).bind(what.background);
  job_row::bind_text(row, what.limit_key);
  row.bind(what.replays).bind(what.reported).bind(what.reported_delivery);
  return row.run();
}

std::optional<error> job_table::reserve_key(const job& what,
                                            commit_answer& answer) {
  auto add = add_key_.start();
  add.bind(what.id.queue.value)
    .bind(what.idempotency_key)
    .bind(what.id.seq.value);
  if (auto reason = add.run())
    return reason;
  if (db_.changes() == 1)
    return std::nullopt;
  auto existing = queries_.find_by_key(what.id.queue, what.idempotency_key);
  if (!existing)
    return existing.reason();
  if (!*existing)
    return error{errc::storage_unavailable, "an idempotency key was lost"};
  answer.existing = std::move((*existing)->record.job);
  return std::nullopt;
}

// -- update -------------------------------------------------------------------

std::optional<error> job_table::update(const update_job& what) {
  auto change = update_.start();
  bind_mutable_part(change, what.job);
  change.bind(what.entry.has_value())
    .bind(what.job.id.seq.value)
    .bind(what.job.id.queue.value);
  if (!change.next()) {
    auto reason = change.failure();
    return reason ? reason : not_live(what.job);
  }
  std::uint64_t entries = 0;
  change.take(entries);
  if (!what.entry)
    return std::nullopt;
  return history_.add(what.job.id.seq, entries, *what.entry);
}

// -- end ----------------------------------------------------------------------

std::optional<error> job_table::end(const end_job& what) {
  auto copy = copy_to_ended_.start();
  bind_mutable_part(copy, what.job);
  copy.bind(what.job.dead_reason)
    .bind(what.job.ended_at)
    .bind(what.job.remove_at)
    .bind(what.job.dead_letter);
  job_row::bind_entry(copy, what.entry);
  copy.bind(what.job.id.seq.value).bind(what.job.id.queue.value);
  if (auto reason = copy.run())
    return reason;
  if (db_.changes() != 1)
    return not_live(what.job);
  auto remove = delete_live_.start();
  remove.bind(what.job.id.seq.value);
  return remove.run();
}

} // namespace tidegate
