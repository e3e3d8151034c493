#include "storage/sqlite_reader.hpp"

#include <algorithm>

#include "storage/api_key_table.hpp"
#include "storage/guarded.hpp"
#include "storage/job_pages.hpp"
#include "storage/job_queries.hpp"
#include "storage/job_row.hpp"
#include "storage/operation_table.hpp"
#include "storage/usage_table.hpp"

namespace tidegate {

namespace {

std::string select_history() {
  using namespace std::string_literals;
  return "SELECT "s + job_row::entry_columns
         + ", replaced FROM history WHERE seq = ? AND n > ? ORDER BY n";
}

result<std::optional<job>> without_history(job_queries::answer found) {
  if (!found)
    return found.reason();
  if (!*found)
    return std::optional<job>{};
  return std::optional{std::move((*found)->record.job)};
}

class sqlite_reader : public store_reader {
public:
  sqlite_reader(std::filesystem::path file, sqlite::connection db)
    : file_(std::move(file)), db_(std::move(db)), jobs_(db_), pages_(db_),
      history_(db_, select_history()), operations_(db_), api_keys_(db_),
      usage_(db_) {
    // nop
  }

  result<std::vector<job>> load(queue_id queue, std::span<const job_seq> seqs,
                                std::size_t payload_bytes_max) override {
    return read<std::vector<job>>(
      [&] { return load_now(queue, seqs, payload_bytes_max); });
  }

  result<std::optional<job_record>> find(job_id id) override {
    return read<std::optional<job_record>>(
      [&] { return with_history(jobs_.find(id.queue, id.seq), id.tag); });
  }

  result<std::optional<job_record>> find_message(job_seq seq,
                                                 std::uint64_t tag) override {
    return read<std::optional<job_record>>(
      [&] { return with_history(jobs_.find(seq), tag); });
  }

  result<std::optional<job>>
  find_by_key(queue_id queue, const std::string& idempotency_key) override {
    return read<std::optional<job>>([&] {
      return without_history(jobs_.find_by_key(queue, idempotency_key));
    });
  }

  result<job_page> list(const job_page_query& query) override {
    return read<job_page>([&] { return pages_.list(query); });
  }

  result<std::uint64_t> count_dead_letters(queue_id queue,
                                           const job_filter& filter) override {
    return read<std::uint64_t>(
      [&] { return pages_.count_dead_letters(queue, filter); });
  }

  result<std::uint64_t> count_dead_messages(queue_id queue,
                                            const job_filter& filter) override {
    return read<std::uint64_t>(
      [&] { return pages_.count_dead_messages(queue, filter); });
  }

  result<std::vector<job_id>> removable(wall_time now,
                                        std::size_t limit) override {
    return read<std::vector<job_id>>(
      [&] { return pages_.removable(now, limit); });
  }

  result<std::vector<operation_record>> operations() override {
    return named(
      read<std::vector<operation_record>>([&] { return operations_.load(); }));
  }

  result<std::vector<api_key_record>> api_keys() override {
    return named(
      read<std::vector<api_key_record>>([&] { return api_keys_.load(); }));
  }

  result<std::uint64_t> api_keys_version() override {
    return named(read<std::uint64_t>([&] { return api_keys_.version(); }));
  }

  result<std::vector<usage_record>> usage(const std::string& project,
                                          std::int64_t from_day,
                                          std::int64_t to_day) override {
    return read<std::vector<usage_record>>(
      [&] { return usage_.load(project, from_day, to_day); });
  }

private:
  // What is read at the start is the operator's concern, who has to be told of
  // which file an error speaks.
  template <class T>
  result<T> named(result<T> what) const {
    if (what)
      return what;
    return error{what.reason().code,
                 file_.string() + ": " + what.reason().message};
  }

  // Every call sees one state of the store from its beginning to its end.
  template <class T, class F>
  result<T> read(F f) {
    return guarded([&]() -> result<T> {
      sqlite::transaction snapshot{db_, sqlite::transaction::kind::read};
      if (snapshot.failure())
        return *snapshot.failure();
      return f();
    });
  }

  result<std::vector<job>> load_now(queue_id queue,
                                    std::span<const job_seq> seqs,
                                    std::size_t payload_bytes_max);

  /// Adds the history, where it is the job of this tag.
  result<std::optional<job_record>> with_history(job_queries::answer found,
                                                 std::uint64_t tag);

  std::optional<error> add_history(job_queries::found& what);

  std::filesystem::path file_;
  sqlite::connection db_;
  job_queries jobs_;
  job_pages pages_;
  sqlite::statement history_;
  operation_table operations_;
  api_key_table api_keys_;
  usage_queries usage_;
};

result<std::vector<job>>
sqlite_reader::load_now(queue_id queue, std::span<const job_seq> seqs,
                        std::size_t payload_bytes_max) {
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

result<std::optional<job_record>>
sqlite_reader::with_history(job_queries::answer found, std::uint64_t tag) {
  if (!found)
    return found.reason();
  if (!*found || (*found)->record.job.id.tag != tag)
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
  while (rows.next()) {
    auto& entry = what.record.history.emplace_back();
    job_row::take_entry(rows, entry);
    std::string replaced;
    rows.take(replaced);
    if (!replaced.empty())
      entry.replaced = payload{std::move(replaced)};
  }
  if (auto reason = rows.failure())
    return reason;
  if (what.last)
    what.record.history.push_back(*std::move(what.last));
  what.record.history_dropped = dropped;
  return std::nullopt;
}

} // namespace

result<std::unique_ptr<store_reader>>
open_sqlite_reader(const std::filesystem::path& file, const std::string& vfs,
                   std::chrono::milliseconds busy_timeout) {
  auto db = sqlite::connection::open(file, sqlite::access::read_only, vfs);
  if (!db)
    return db.reason();
  db->busy_timeout(busy_timeout);
  return std::unique_ptr<store_reader>{
    std::make_unique<sqlite_reader>(file, std::move(*db))};
}

} // namespace tidegate
