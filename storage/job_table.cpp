#include "storage/job_table.hpp"

#include <string>

#include "storage/job_row.hpp"
#include "storage/job_rules.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

// What deliveries change, as `SET` of an update.
constexpr char mutable_part[] =
  "due = ?, expires_at = ?, waits_for = ?, status = ?, started_delivery = ?, "
  "attempts = ?, defers = ?, deliveries = ?, waits_since = ?, "
  "reported = ?, reported_delivery = ?";

// The same as the columns of an ended job, which takes the rest from the row of
// the live one: the caller need not have it.
constexpr char ended_part[] =
  "seq, queue, ?, ?, created_at, ?, ?, ?, tag, eligible_at, ?, ?, ?, ?, "
  "entries, idempotency_key, priority, background, limit_key, replays, ?, ?, "
  "source_queue, source_receives, dead_lettered_at";

// What a move changes besides what deliveries change. A key stays with the
// queue where the message was published.
constexpr char moved_part[] =
  "key_queue = iif(idempotency_key IS NULL, NULL, coalesce(key_queue, queue)), "
  "queue = ?, eligible_at = ?, replays = ?, background = ?, source_queue = ?, "
  "source_receives = ?, dead_lettered_at = ?";

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
  return "INSERT INTO ended ("s + job_row::columns + ", key_queue, "
         + job_row::end_columns + ", " + job_row::last_entry_columns
         + ") SELECT " + ended_part
         + ", key_queue, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? "
           "FROM jobs WHERE seq = ? AND queue = ?";
}

std::string insert_live() {
  return "INSERT INTO jobs ("s + job_row::columns
         + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, "
           "?, ?, ?, ?, ?, ?, ?)";
}

} // namespace

job_table::job_table(sqlite::connection& db)
  : db_(db), queries_(db), history_(db),
    add_key_(db,
             "INSERT INTO idempotency (queue, key, seq) VALUES (?, ?, ?) "
             "ON CONFLICT DO NOTHING"),
    take_key_(db,
              "UPDATE idempotency SET seq = ? WHERE queue = ? AND key = ?"),
    insert_(db, insert_live()),
    insert_payload_(db,
                    "INSERT INTO payloads (seq, bytes, headers, traceparent, "
                    "tracestate) VALUES (?, ?, ?, ?, ?)"),
    update_(db, "UPDATE jobs SET "s + mutable_part
                  + ", entries = entries + ? WHERE seq = ? AND queue = ? "
                    "RETURNING entries"),
    copy_to_ended_(db, copy_to_ended()),
    delete_live_(db, "DELETE FROM jobs WHERE seq = ?"),
    set_published_(db, "UPDATE ended SET published = ? WHERE seq = ?"),
    move_(db, "UPDATE jobs SET "s + mutable_part + ", " + moved_part
                + ", entries = entries + ? WHERE seq = ? AND queue = ? "
                  "RETURNING entries"),
    deliveries_(db,
                "SELECT deliveries FROM jobs WHERE seq = ? AND queue = ?") {
  // nop
}

// -- insert -------------------------------------------------------------------

std::optional<error> job_table::insert(const insert_job& record,
                                       commit_answer& answer) {
  auto& what = record.job;
  if (!what.idempotency_key.empty()) {
    auto reason = reserve_key(record, answer);
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
  job_row::bind_source(row, what);
  return row.run();
}

std::optional<error> job_table::reserve_key(const insert_job& record,
                                            commit_answer& answer) {
  auto& what = record.job;
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
  auto& holder = (*existing)->record.job;
  if (holder.created_at < record.key_since)
    return take_key_over(what);
  answer.existing = std::move(holder);
  return std::nullopt;
}

std::optional<error> job_table::take_key_over(const job& what) {
  auto row = take_key_.start();
  row.bind(what.id.seq.value)
    .bind(what.id.queue.value)
    .bind(what.idempotency_key);
  return row.run();
}

// -- update -------------------------------------------------------------------

std::optional<error> job_table::update(const update_job& what) {
  auto use = update_.start();
  bind_mutable_part(use, what.job);
  use.bind(what.entry.has_value())
    .bind(what.job.id.seq.value)
    .bind(what.job.id.queue.value);
  auto was_live = change(use, what.job.id.seq, what.entry);
  if (!was_live)
    return was_live.reason();
  return *was_live ? std::nullopt : std::optional{not_live(what.job)};
}

result<bool> job_table::change(sqlite::execution& use, job_seq seq,
                               const std::optional<history_entry>& entry) {
  if (!use.next()) {
    if (auto reason = use.failure())
      return *reason;
    return false;
  }
  std::uint64_t entries = 0;
  use.take(entries);
  if (entry)
    if (auto reason = history_.add(seq, entries, *entry))
      return *reason;
  return true;
}

// -- end ----------------------------------------------------------------------

std::optional<error> job_table::end(const job& what,
                                    const std::optional<history_entry>& entry) {
  auto copy = copy_to_ended_.start();
  bind_mutable_part(copy, what);
  copy.bind(what.dead_reason)
    .bind(what.ended_at)
    .bind(what.remove_at)
    .bind(what.dead_letter);
  job_row::bind_entry(copy, entry);
  copy.bind(what.id.seq.value).bind(what.id.queue.value);
  if (auto reason = copy.run())
    return reason;
  if (db_.changes() != 1)
    return not_live(what);
  auto remove = delete_live_.start();
  remove.bind(what.id.seq.value);
  return remove.run();
}

// -- messages -----------------------------------------------------------------

std::optional<error> job_table::move(const move_message& what,
                                     commit_answer& answer) {
  auto& message = what.job;
  auto use = move_.start();
  bind_mutable_part(use, message);
  use.bind(what.to.value)
    .bind(message.eligible_at)
    .bind(message.replays)
    .bind(message.background);
  job_row::bind_source(use, message);
  use.bind(what.entry.has_value())
    .bind(message.id.seq.value)
    .bind(message.id.queue.value);
  auto moved = change(use, message.id.seq, what.entry);
  if (!moved)
    return moved.reason();
  answer.done = *moved;
  return std::nullopt;
}

std::optional<error> job_table::set_published(job_seq seq,
                                              const successor& what) {
  auto use = set_published_.start();
  job_row::bind_published(use, what);
  use.bind(seq.value);
  return use.run();
}

result<std::optional<std::uint64_t>> job_table::deliveries(job_id id) {
  std::optional<std::uint64_t> count;
  auto row = deliveries_.start();
  row.bind(id.seq.value).bind(id.queue.value);
  if (row.next())
    row.take(count);
  if (auto reason = row.failure())
    return *reason;
  return count;
}

} // namespace tidegate
