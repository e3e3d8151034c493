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
  "entries = entries + ?";

// The same as the columns of an ended job, which takes the rest from the row of
// the live one: the caller need not have it.
constexpr char ended_part[] =
  "seq, queue, ?, ?, created_at, ?, ?, ?, tag, eligible_at, ?, ?, ?, ?, "
  "entries, idempotency_key";

void bind_mutable_part(sqlite::execution& use, const job& what) {
  use.bind(what.due)
    .bind(what.expires_at)
    .bind(what.waits_for)
    .bind(what.status)
    .bind(what.started_delivery)
    .bind(what.attempts)
    .bind(what.defers)
    .bind(what.deliveries)
    .bind(what.waits_since);
}

std::string copy_to_ended() {
  using namespace std::string_literals;
  return "INSERT INTO ended ("s + job_row::columns + ", "
         + job_row::end_columns + ", " + job_row::last_entry_columns
         + ") SELECT " + ended_part
         + ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "
           "FROM jobs WHERE seq = ? AND queue = ?";
}

std::string insert_live() {
  using namespace std::string_literals;
  return "INSERT INTO jobs ("s + job_row::columns
         + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)";
}

std::string insert_history() {
  using namespace std::string_literals;
  return "INSERT INTO history (seq, n, "s + job_row::entry_columns
         + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
}

} // namespace

job_table::job_table(sqlite::connection& db)
  : db_(db), queries_(db),
    add_key_(db,
             "INSERT INTO idempotency (queue, key, seq) VALUES (?, ?, ?) "
             "ON CONFLICT DO NOTHING"),
    find_key_(db, "SELECT seq FROM idempotency WHERE queue = ? AND key = ?"),
    insert_(db, insert_live()),
    insert_payload_(db, "INSERT INTO payloads (seq, bytes) VALUES (?, ?)"),
    update_(db, std::string{"UPDATE jobs SET "} + mutable_part
                  + " WHERE seq = ? AND queue = ? RETURNING entries"),
    insert_history_(db, insert_history()),
    trim_history_(db, "DELETE FROM history WHERE seq = ? AND n <= ?"),
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
  if (what.idempotency_key.empty())
    row.bind_null();
  else
    row.bind(what.idempotency_key);
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
  auto holder = find_key_.start();
  holder.bind(what.id.queue.value).bind(what.idempotency_key);
  job_seq seq;
  if (holder.next())
    holder.take(seq.value);
  if (auto reason = holder.failure())
    return reason;
  auto existing = queries_.find(what.id.queue, seq);
  if (!existing)
    return existing.reason();
  if (!*existing)
    return error{errc::storage_unavailable, "an idempotency key names job "
                                              + std::to_string(seq.value)
                                              + ", which does not exist"};
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
  return what.entry ? add_history(what, entries) : std::nullopt;
}

std::optional<error> job_table::add_history(const update_job& what,
                                            std::uint64_t n) {
  auto add = insert_history_.start();
  add.bind(what.job.id.seq.value).bind(n);
  job_row::bind_entry(add, what.entry);
  if (auto reason = add.run())
    return reason;
  if (n <= history_max)
    return std::nullopt;
  auto trim = trim_history_.start();
  trim.bind(what.job.id.seq.value).bind(n - history_max);
  return trim.run();
}

// -- end ----------------------------------------------------------------------

std::optional<error> job_table::end(const end_job& what) {
  auto copy = copy_to_ended_.start();
  bind_mutable_part(copy, what.job);
  copy.bind(what.job.dead_reason).bind(what.job.ended_at);
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

// -- remove -------------------------------------------------------------------

std::optional<error> job_table::remove_all(queue_id queue) {
  auto id = std::to_string(queue.value);
  auto theirs = "(SELECT seq FROM jobs WHERE queue = " + id
                + " UNION ALL SELECT seq FROM ended WHERE queue = " + id + ")";
  // The highest number may be among those that go: it must not be given again.
  return db_.execute(
    "UPDATE meta SET last_job = max(last_job,"
    " coalesce((SELECT max(seq) FROM jobs), 0),"
    " coalesce((SELECT max(seq) FROM ended), 0));"
    "DELETE FROM payloads WHERE seq IN "
    + theirs + ";DELETE FROM history WHERE seq IN " + theirs
    + ";DELETE FROM idempotency WHERE queue = " + id
    + ";DELETE FROM jobs WHERE queue = " + id
    + ";DELETE FROM ended WHERE queue = " + id);
}

} // namespace tidegate
