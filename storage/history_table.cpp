#include "storage/history_table.hpp"

#include <string>

#include "storage/job_row.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

std::string insert_sql() {
  return "INSERT INTO history (seq, n, "s + job_row::entry_columns
         + ", replaced) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
}

std::string copy_last_sql() {
  return "INSERT INTO history (seq, n, "s + job_row::entry_columns
         + ") SELECT seq, ?, " + job_row::last_entry_columns
         + " FROM ended WHERE seq = ?";
}

} // namespace

history_table::history_table(const sqlite::connection& db)
  : insert_(db, insert_sql()),
    trim_(db, "DELETE FROM history WHERE seq = ? AND n <= ?"),
    copy_last_(db, copy_last_sql()),
    remove_(db, "DELETE FROM history WHERE seq = ?") {
  // nop
}

std::optional<error> history_table::add(job_seq seq, std::uint64_t n,
                                        const history_entry& entry) {
  auto add = insert_.start();
  add.bind(seq.value).bind(n);
  job_row::bind_entry(add, entry);
  if (entry.replaced.bytes().empty())
    add.bind_null();
  else
    add.bind_blob(entry.replaced.bytes());
  if (auto reason = add.run())
    return reason;
  if (n <= history_max)
    return std::nullopt;
  auto trim = trim_.start();
  trim.bind(seq.value).bind(n - history_max);
  return trim.run();
}

std::optional<error> history_table::add_last_of_ended(job_seq seq,
                                                      std::uint64_t n) {
  auto copy = copy_last_.start();
  copy.bind(n).bind(seq.value);
  return copy.run();
}

std::optional<error> history_table::remove(job_seq seq) {
  auto rows = remove_.start();
  rows.bind(seq.value);
  return rows.run();
}

} // namespace tidegate
