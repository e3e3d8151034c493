#include "storage/queue_table.hpp"

#include <string>

#include "storage/queue_row.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

std::string insert_queue_sql() {
  return "INSERT INTO queues ("s + queue_row::settings_columns
         + ", id, kind, project, name, secret, previous_secret, "
           "previous_secret_until, created_at) VALUES ("
         + queue_row::places(queue_row::settings_count + 8) + ")";
}

std::string update_queue_sql() {
  return "UPDATE queues SET ("s + queue_row::settings_columns + ") = ("
         + queue_row::places(queue_row::settings_count) + ") WHERE id = ?";
}

std::string set_gate_sql() {
  return "REPLACE INTO gates (queue, "s + queue_row::gate_columns + ") VALUES ("
         + queue_row::places(1 + queue_row::gate_count) + ")";
}

std::string select_sql() {
  return "SELECT "s + queue_row::settings_columns
         + ", id, kind, project, name, secret, previous_secret, "
           "previous_secret_until, created_at, completed, dead, starts, "
         + queue_row::gate_columns
         + " FROM queues JOIN counters ON counters.queue = id"
           " JOIN rates ON rates.queue = id"
           " JOIN gates ON gates.queue = id ORDER BY id";
}

} // namespace

queue_table::queue_table(sqlite::connection& db)
  : db_(db), insert_(db, insert_queue_sql()),
    insert_counters_(
      db, "INSERT INTO counters (queue, completed, dead) VALUES (?, ?, ?)"),
    take_number_(db, "UPDATE meta SET last_queue = max(last_queue, ?)"),
    update_(db, update_queue_sql()),
    delete_headers_(db, "DELETE FROM headers WHERE queue = ?"),
    insert_header_(db,
                   "INSERT INTO headers (queue, n, name, value) "
                   "VALUES (?, ?, ?, ?)"),
    set_gate_(db, set_gate_sql()),
    set_rate_(db, "REPLACE INTO rates (queue, starts) VALUES (?, ?)"),
    set_secrets_(db,
                 "UPDATE queues SET secret = ?, previous_secret = ?, "
                 "previous_secret_until = ? WHERE id = ?"),
    select_(db, select_sql()),
    select_headers_(
      db, "SELECT name, value FROM headers WHERE queue = ? ORDER BY n") {
  // nop
}

// -- changes ------------------------------------------------------------------

std::optional<error> queue_table::insert(const queue_record& what) {
  update_queue settings{what.id, what.settings, what.paused, what.paused_since,
                        what.updated_at};
  auto row = insert_.start();
  queue_row::bind_settings(row, settings);
  row.bind(what.id.value)
    .bind(what.kind)
    .bind(what.project)
    .bind(what.name)
    .bind(what.secret)
    .bind(what.previous_secret)
    .bind(what.previous_secret_until)
    .bind(what.created_at);
  if (auto reason = row.run())
    return reason;
  auto counters = insert_counters_.start();
  counters.bind(what.id.value).bind(what.completed).bind(what.dead);
  if (auto reason = counters.run())
    return reason;
  auto number = take_number_.start();
  number.bind(what.id.value);
  if (auto reason = number.run())
    return reason;
  if (auto reason = set_gate(what.id, what.gate))
    return reason;
  if (auto reason = set_rate(what.id, what.rate))
    return reason;
  return set_headers(what.id, what.settings.headers);
}

std::optional<error> queue_table::update(const update_queue& what) {
  auto row = update_.start();
  queue_row::bind_settings(row, what);
  row.bind(what.id.value);
  if (auto reason = row.run())
    return reason;
  return set_headers(what.id, what.settings.headers);
}

std::optional<error> queue_table::set_gate(queue_id queue,
                                           const gate_record& gate) {
  auto row = set_gate_.start();
  row.bind(queue.value);
  queue_row::bind_gate(row, gate);
  return row.run();
}

std::optional<error>
queue_table::set_rate(queue_id queue, const std::vector<rate_start>& starts) {
  auto row = set_rate_.start();
  row.bind(queue.value);
  queue_row::bind_starts(row, starts);
  return row.run();
}

std::optional<error> queue_table::set_secrets(const update_secrets& what) {
  auto row = set_secrets_.start();
  row.bind(what.secret)
    .bind(what.previous_secret)
    .bind(what.previous_secret_until)
    .bind(what.id.value);
  return row.run();
}

std::optional<error>
queue_table::set_headers(queue_id queue, const std::vector<header>& headers) {
  auto old = delete_headers_.start();
  old.bind(queue.value);
  if (auto reason = old.run())
    return reason;
  std::size_t n = 0;
  for (auto& [name, value] : headers) {
    auto row = insert_header_.start();
    row.bind(queue.value).bind(++n).bind(name).bind(value);
    if (auto reason = row.run())
      return reason;
  }
  return std::nullopt;
}

std::optional<error> queue_table::remove(queue_id queue) {
  auto id = std::to_string(queue.value);
  return db_.execute("DELETE FROM headers WHERE queue = " + id
                     + ";DELETE FROM gates WHERE queue = " + id
                     + ";DELETE FROM rates WHERE queue = " + id
                     + ";DELETE FROM counters WHERE queue = " + id
                     + ";DELETE FROM queues WHERE id = " + id);
}

// -- reading ------------------------------------------------------------------

result<std::vector<queue_record>> queue_table::load() {
  std::vector<queue_record> queues;
  auto row = select_.start();
  while (row.next()) {
    auto& queue = queues.emplace_back();
    queue_row::take_settings(row, queue);
    row.take(queue.id.value)
      .take(queue.kind)
      .take(queue.project)
      .take(queue.name)
      .take(queue.secret)
      .take(queue.previous_secret)
      .take(queue.previous_secret_until)
      .take(queue.created_at)
      .take(queue.completed)
      .take(queue.dead);
    queue_row::take_starts(row, queue.rate);
    queue_row::take_gate(row, queue.gate);
    if (auto reason = load_headers(queue))
      return *reason;
  }
  if (auto reason = row.failure())
    return *reason;
  return queues;
}

std::optional<error> queue_table::load_headers(queue_record& out) {
  auto rows = select_headers_.start();
  rows.bind(out.id.value);
  while (rows.next()) {
    auto& [name, value] = out.settings.headers.emplace_back();
    rows.take(name).take(value);
  }
  return rows.failure();
}

} // namespace tidegate
