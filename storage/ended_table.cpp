#include "storage/ended_table.hpp"

#include <algorithm>
#include <string>

#include "storage/job_row.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

// The columns of a revived job. What was set at publish, and how many lines of
// history there are, comes from the row of the ended one.
constexpr char revived_part[] =
  "seq, queue, ?, ?, created_at, ?, ?, ?, tag, ?, ?, ?, ?, ?, ?, "
  "idempotency_key, priority, ?, limit_key, ?, ?, ?, ?, ?, ?, key_queue";

std::string copy_to_live_sql() {
  return "INSERT INTO jobs ("s + job_row::columns + ", key_queue) SELECT "
         + revived_part + " FROM ended WHERE seq = ?";
}

std::string take_sql(const char* table, const char* status) {
  return "DELETE FROM "s + table + " WHERE seq = ? AND queue = ? RETURNING "
         + status + ", entries, idempotency_key, ifnull(key_queue, queue)";
}

void count(job_status how, commit_answer& answer) {
  if (how == job_status::dead)
    ++answer.dead;
  else if (how == job_status::completed)
    ++answer.completed;
  else
    ++answer.live;
}

std::uint64_t gone(const commit_answer& answer) {
  return answer.live + answer.completed + answer.dead;
}

} // namespace

ended_table::ended_table(sqlite::connection& db)
  : db_(db), history_(db),
    find_(db,
          "SELECT status, entries, last_attempt IS NOT NULL FROM ended "
          "WHERE seq = ? AND queue = ?"),
    copy_to_live_(db, copy_to_live_sql()),
    delete_(db, "DELETE FROM ended WHERE seq = ?"),
    replace_payload_(db, "UPDATE payloads SET bytes = ? WHERE seq = ?"),
    take_ended_(db, take_sql("ended", "status")),
    take_live_(db, take_sql("jobs", "status")),
    delete_payload_(db, "DELETE FROM payloads WHERE seq = ?"),
    delete_key_(
      db, "DELETE FROM idempotency WHERE queue = ? AND key = ? AND seq = ?"),
    keep_number_(db, "UPDATE meta SET last_job = max(last_job, ?)") {
  // nop
}

// -- revive -------------------------------------------------------------------

std::optional<error> ended_table::revive(const revive_job& what,
                                         commit_answer& answer) {
  auto seq = what.job.id.seq;
  auto status = job_status::dead;
  std::uint64_t entries = 0;
  auto has_last = false;
  {
    auto row = find_.start();
    row.bind(seq.value).bind(what.job.id.queue.value);
    if (!row.next())
      return row.failure();
    row.take(status).take(entries).take(has_last);
  }
  if (has_last)
    if (auto reason = history_.add_last_of_ended(seq, ++entries))
      return reason;
  if (auto reason = move_to_live(what.job, ++entries))
    return reason;
  if (auto reason = history_.add(seq, entries, what.entry))
    return reason;
  if (!what.entry.replaced.bytes().empty()) {
    auto row = replace_payload_.start();
    row.bind_blob(what.job.payload.bytes()).bind(seq.value);
    if (auto reason = row.run())
      return reason;
  }
  answer.done = true;
  count(status, answer);
  return std::nullopt;
}

std::optional<error> ended_table::move_to_live(const job& what,
                                               std::uint64_t entries) {
  auto copy = copy_to_live_.start();
  copy.bind(what.due)
    .bind(what.expires_at)
    .bind(what.waits_for)
    .bind(what.status)
    .bind(what.started_delivery)
    .bind(what.eligible_at)
    .bind(what.attempts)
    .bind(what.defers)
    .bind(what.deliveries)
    .bind(what.waits_since)
    .bind(entries)
    .bind(what.background)
    .bind(what.replays)
    .bind(what.reported)
    .bind(what.reported_delivery);
  job_row::bind_source(copy, what);
  copy.bind(what.id.seq.value);
  if (auto reason = copy.run())
    return reason;
  auto row = delete_.start();
  row.bind(what.id.seq.value);
  return row.run();
}

// -- remove -------------------------------------------------------------------

std::optional<error> ended_table::remove(const remove_jobs& what,
                                         commit_answer& answer) {
  job_seq highest;
  for (auto seq : what.seqs) {
    auto before = gone(answer);
    if (auto reason = remove_one(what.id, seq, answer))
      return reason;
    if (gone(answer) != before)
      highest = std::max(highest, seq);
  }
  if (gone(answer) == 0)
    return std::nullopt;
  // The highest number of all may be among them: it must not be given again.
  auto row = keep_number_.start();
  row.bind(highest.value);
  return row.run();
}

std::optional<error> ended_table::remove_one(queue_id queue, job_seq seq,
                                             commit_answer& answer) {
  for (auto* table : {&take_ended_, &take_live_}) {
    auto row = table->start();
    row.bind(seq.value).bind(queue.value);
    if (!row.next()) {
      if (auto reason = row.failure())
        return reason;
      continue;
    }
    auto status = job_status::pending;
    std::uint64_t entries = 0;
    std::string key;
    queue_id home;
    row.take(status).take(entries).take(key).take(home.value);
    if (auto reason = row.run())
      return reason;
    count(status, answer);
    if (!key.empty())
      if (auto reason = release_key(home, key, seq))
        return reason;
    return remove_rest(seq, entries > 0);
  }
  return std::nullopt;
}

std::optional<error> ended_table::remove_rest(job_seq seq, bool has_history) {
  auto payload = delete_payload_.start();
  payload.bind(seq.value);
  if (auto reason = payload.run())
    return reason;
  return has_history ? history_.remove(seq) : std::nullopt;
}

// Another job may have taken the key over.
std::optional<error>
ended_table::release_key(queue_id home, const std::string& key, job_seq seq) {
  auto row = delete_key_.start();
  row.bind(home.value).bind(key).bind(seq.value);
  return row.run();
}

std::optional<error> ended_table::remove_all(queue_id queue) {
  auto id = std::to_string(queue.value);
  auto theirs = "(SELECT seq FROM jobs WHERE queue = " + id
                + " UNION ALL SELECT seq FROM ended WHERE queue = " + id + ")";
  // Theirs that are held in other queues, where they were published.
  auto delete_keys = [&](const char* table) {
    return ";DELETE FROM idempotency WHERE (queue, key, seq) IN (SELECT "
           "key_queue, idempotency_key, seq FROM "s
           + table + " WHERE queue = " + id + " AND key_queue IS NOT NULL)";
  };
  // The highest number may be among those that go: it must not be given again.
  return db_.execute(
    "UPDATE meta SET last_job = max(last_job,"
    " coalesce((SELECT max(seq) FROM jobs), 0),"
    " coalesce((SELECT max(seq) FROM ended), 0));"
    "DELETE FROM payloads WHERE seq IN "
    + theirs + ";DELETE FROM history WHERE seq IN " + theirs
    + ";DELETE FROM idempotency WHERE queue = " + id + delete_keys("jobs")
    + delete_keys("ended") + ";DELETE FROM jobs WHERE queue = " + id
    + ";DELETE FROM ended WHERE queue = " + id);
}

} // namespace tidegate
