#include "storage/sqlite_reader.hpp"

#include <algorithm>

#include "storage/guarded.hpp"
#include "storage/job_row.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

constexpr char with_payload[] =
  " JOIN payloads USING (seq) "
  "WHERE seq = ? AND queue = ?";

std::string select_live() {
  return "SELECT "s + job_row::columns + ", bytes FROM jobs" + with_payload;
}

std::string select_ended() {
  return "SELECT "s + job_row::columns + ", bytes, " + job_row::end_columns
         + ", " + job_row::last_entry_columns + " FROM ended" + with_payload;
}

std::string select_history() {
  return "SELECT "s + job_row::entry_columns
         + " FROM history WHERE seq = ? AND n > ? ORDER BY n";
}

class sqlite_reader : public store_reader {
public:
  explicit sqlite_reader(sqlite::connection db)
    : db_(std::move(db)), jobs_(db_), history_(db_, select_history()) {
    // nop
  }

  result<std::vector<job>> load(queue_id queue, std::span<const job_seq> seqs,
                                std::size_t payload_bytes_max) override {
    using answer = result<std::vector<job>>;
    return guarded(
      [&]() -> answer { return load_now(queue, seqs, payload_bytes_max); });
  }

  result<std::optional<job_record>> find(job_id id) override {
    using answer = result<std::optional<job_record>>;
    return guarded([&]() -> answer { return find_now(id); });
  }

private:
  result<std::vector<job>> load_now(queue_id queue,
                                    std::span<const job_seq> seqs,
                                    std::size_t payload_bytes_max);

  result<std::optional<job_record>> find_now(job_id id);

  std::optional<error> add_history(job_queries::found& what);

  sqlite::connection db_;
  job_queries jobs_;
  sqlite::statement history_;
};

result<std::vector<job>>
sqlite_reader::load_now(queue_id queue, std::span<const job_seq> seqs,
                        std::size_t payload_bytes_max) {
  sqlite::transaction snapshot{db_, sqlite::transaction::kind::read};
  if (snapshot.failure())
    return *snapshot.failure();
  std::vector<job> loaded;
  std::size_t bytes = 0;
  for (auto seq : seqs) {
    if (!loaded.empty() && bytes >= payload_bytes_max)
      break;
    auto found = jobs_.find_live(queue, seq);
    if (!found)
      return found.reason();
    if (!*found)
      continue;
    loaded.push_back(std::move((*found)->record.job));
    bytes += loaded.back().payload.bytes().size();
  }
  return loaded;
}

result<std::optional<job_record>> sqlite_reader::find_now(job_id id) {
  sqlite::transaction snapshot{db_, sqlite::transaction::kind::read};
  if (snapshot.failure())
    return *snapshot.failure();
  auto found = jobs_.find(id.queue, id.seq);
  if (!found)
    return found.reason();
  if (!*found || (*found)->record.job.id != id)
    return std::optional<job_record>{};
  if (auto reason = add_history(**found))
    return *reason;
  return std::optional{std::move((*found)->record)};
}

std::optional<error> sqlite_reader::add_history(job_queries::found& what) {
  auto total = what.entries + (what.last ? 1 : 0);
  auto dropped = total - std::min<std::uint64_t>(total, history_max);
  auto rows = history_.start();
  rows.bind(what.record.job.id.seq.value).bind(dropped);
  while (rows.next())
    job_row::take_entry(rows, what.record.history.emplace_back());
  if (auto reason = rows.failure())
    return reason;
  if (what.last)
    what.record.history.push_back(*std::move(what.last));
  what.record.history_dropped = dropped;
  return std::nullopt;
}

} // namespace

// -- job_queries --------------------------------------------------------------

job_queries::job_queries(const sqlite::connection& db)
  : live_(db, select_live()), ended_(db, select_ended()) {
  // nop
}

result<std::optional<job_queries::found>> job_queries::find_live(queue_id queue,
                                                                 job_seq seq) {
  auto row = live_.start();
  row.bind(seq.value).bind(queue.value);
  if (!row.next()) {
    if (auto reason = row.failure())
      return *reason;
    return std::optional<found>{};
  }
  found out;
  out.entries = job_row::take(row, out.record.job);
  job_row::take_payload(row, out.record.job);
  return std::optional{std::move(out)};
}

result<std::optional<job_queries::found>> job_queries::find(queue_id queue,
                                                            job_seq seq) {
  auto live = find_live(queue, seq);
  if (!live || *live)
    return live;
  auto row = ended_.start();
  row.bind(seq.value).bind(queue.value);
  if (!row.next()) {
    if (auto reason = row.failure())
      return *reason;
    return std::optional<found>{};
  }
  found out;
  out.entries = job_row::take(row, out.record.job);
  job_row::take_payload(row, out.record.job);
  job_row::take_end(row, out.record.job);
  if (!row.null_ahead())
    job_row::take_entry(row, out.last.emplace());
  return std::optional{std::move(out)};
}

// -- opening ------------------------------------------------------------------

result<std::unique_ptr<store_reader>>
open_sqlite_reader(const std::filesystem::path& file, const std::string& vfs,
                   std::chrono::milliseconds busy_timeout) {
  auto db = sqlite::connection::open(file, sqlite::access::read_only, vfs);
  if (!db)
    return db.reason();
  db->busy_timeout(busy_timeout);
  return std::unique_ptr<store_reader>{
    std::make_unique<sqlite_reader>(std::move(*db))};
}

} // namespace tidegate
