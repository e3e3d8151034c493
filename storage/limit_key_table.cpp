#include "storage/limit_key_table.hpp"

#include <string>

#include "storage/queue_row.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

std::string set_sql() {
  return "REPLACE INTO limit_keys (queue, key, "s + queue_row::gate_columns
         + ", starts) VALUES (" + queue_row::places(3 + queue_row::gate_count)
         + ")";
}

std::string select_sql() {
  return "SELECT key, "s + queue_row::gate_columns
         + ", starts FROM limit_keys WHERE queue = ? ORDER BY key";
}

} // namespace

limit_key_table::limit_key_table(const sqlite::connection& db)
  : set_(db, set_sql()),
    remove_(db, "DELETE FROM limit_keys WHERE queue = ? AND key = ?"),
    remove_all_(db, "DELETE FROM limit_keys WHERE queue = ?"),
    select_(db, select_sql()) {
  // nop
}

std::optional<error> limit_key_table::set(const update_limit_key& what) {
  auto resting = what.key.at_rest();
  auto row = resting ? remove_.start() : set_.start();
  row.bind(what.id.value).bind(what.key.key);
  if (!resting) {
    queue_row::bind_gate(row, what.key.gate);
    queue_row::bind_starts(row, what.key.rate);
  }
  return row.run();
}

std::optional<error> limit_key_table::remove_all(queue_id queue) {
  auto rows = remove_all_.start();
  rows.bind(queue.value);
  return rows.run();
}

std::optional<error> limit_key_table::load(queue_id queue,
                                           std::vector<limit_key_record>& out) {
  auto row = select_.start();
  row.bind(queue.value);
  while (row.next()) {
    auto& key = out.emplace_back();
    row.take(key.key);
    queue_row::take_gate(row, key.gate);
    queue_row::take_starts(row, key.rate);
  }
  return row.failure();
}

} // namespace tidegate
