#include "storage/sqlite_writer.hpp"

#include <string>
#include <utility>

#include "storage/schema.hpp"

namespace tidegate {

namespace {

std::string configuration(const sqlite_options& options) {
  // secure_delete, on in some builds, would write every freed page once more.
  return "PRAGMA secure_delete = OFF; PRAGMA synchronous = FULL;"
         "PRAGMA wal_autocheckpoint = "
         + std::to_string(options.log_pages) + "; PRAGMA cache_size = -"
         + std::to_string(options.cache_kib);
}

} // namespace

// -- opening ------------------------------------------------------------------

sqlite_writer::sqlite_writer(sqlite::connection db,
                             const sqlite_options& options)
  : db_(std::move(db)), full_check_bytes_max_(options.full_check_bytes_max),
    queues_(db_), pulls_(db_), limit_keys_(db_), jobs_(db_), ended_(db_),
    operations_(db_), api_keys_(db_), tally_(db_), usage_(db_),
    snapshots_(db_) {
  // nop
}

result<std::unique_ptr<sqlite_writer>>
sqlite_writer::open(const sqlite_options& options) {
  auto db = sqlite::connection::open(options.file, sqlite::access::read_write,
                                     options.vfs);
  if (!db)
    return db.reason();
  db->busy_timeout(options.busy_timeout);
  db->checkpoint_on_close(false);
  if (auto reason = refuse_foreign(*db))
    return *reason;
  db->checkpoint_on_close(true);
  if (auto reason = db->execute("PRAGMA journal_mode = WAL"))
    return *reason;
  if (auto reason = db->execute(configuration(options)))
    return *reason;
  if (auto reason = migrate(*db))
    return *reason;
  return std::make_unique<sqlite_writer>(std::move(*db), options);
}

// -- commit -------------------------------------------------------------------

result<std::vector<commit_answer>>
sqlite_writer::commit(std::span<const record> batch) {
  sqlite::transaction changes{db_, sqlite::transaction::kind::write};
  if (changes.failure())
    return *changes.failure();
  tally_.clear();
  usage_.clear();
  pulls_.clear_totals();
  std::vector<commit_answer> answers(batch.size());
  auto answer = answers.begin();
  for (auto& change : batch) {
    auto apply_it = [&](auto& what) { return apply(what, *answer); };
    if (auto reason = std::visit(apply_it, change))
      return *reason;
    ++answer;
  }
  if (auto reason = tally_.write())
    return *reason;
  if (auto reason = usage_.write())
    return *reason;
  if (auto reason = pulls_.write_totals())
    return *reason;
  if (auto reason = changes.commit())
    return *reason;
  return answers;
}

// -- checks -------------------------------------------------------------------

std::optional<error> sqlite_writer::check() {
  auto bytes = db_.integer(
    "SELECT page_count * page_size "
    "FROM pragma_page_count, pragma_page_size");
  if (!bytes)
    return bytes.reason();
  auto small = static_cast<std::uint64_t>(*bytes) <= full_check_bytes_max_;
  for (auto* part :
       {"meta", "queues", "gates", "rates", "counters", "limit_keys",
        "operations", "api_keys", "pull_queues", "pull_totals"}) {
    auto scope = small ? std::string{"1"} : std::string{part};
    sqlite::statement query{db_, "PRAGMA quick_check(" + scope + ")"};
    auto row = query.start();
    std::string verdict;
    if (row.next())
      row.take(verdict);
    if (auto reason = row.failure())
      return reason;
    if (verdict != "ok")
      return error{errc::storage_unavailable,
                   "the file is damaged: " + verdict};
    if (small)
      break;
  }
  return std::nullopt;
}

std::optional<error> sqlite_writer::probe() {
  sqlite::transaction changes{db_, sqlite::transaction::kind::write};
  if (changes.failure())
    return changes.failure();
  if (auto reason = db_.execute("UPDATE meta SET probes = probes + 1"))
    return reason;
  return changes.commit();
}

// -- reading ------------------------------------------------------------------

result<std::vector<queue_snapshot>> sqlite_writer::load_queues() {
  return snapshots_.load();
}

result<job_seq> sqlite_writer::last_job_seq() {
  auto last = db_.integer(
    "SELECT max(last_job,"
    " coalesce((SELECT max(seq) FROM jobs), 0),"
    " coalesce((SELECT max(seq) FROM ended), 0)) FROM meta");
  if (!last)
    return last.reason();
  return job_seq{static_cast<std::uint64_t>(*last)};
}

result<queue_id> sqlite_writer::last_queue_id() {
  auto last = db_.integer("SELECT last_queue FROM meta");
  if (!last)
    return last.reason();
  return queue_id{static_cast<std::uint32_t>(*last)};
}

result<operation_id> sqlite_writer::last_operation_id() {
  auto last = db_.integer("SELECT last_operation FROM meta");
  if (!last)
    return last.reason();
  return operation_id{static_cast<std::uint64_t>(*last)};
}

} // namespace tidegate
