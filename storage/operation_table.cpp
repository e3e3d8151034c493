#include "storage/operation_table.hpp"

#include <string>

namespace tidegate {

namespace {

using namespace std::string_literals;

constexpr char columns[] =
  "id, kind, queue, project, queue_name, state, only_status, only_limit_key, "
  "only_reason, only_since, only_until, jobs_max, per_second, next_before, "
  "total, done, started_at, finished_at, source, error";

void take(sqlite::execution& row, operation_record& out) {
  row.take(out.id.value)
    .take(out.kind)
    .take(out.queue.value)
    .take(out.project)
    .take(out.queue_name)
    .take(out.state)
    .take(out.filter.status)
    .take(out.filter.limit_key)
    .take(out.filter.reason)
    .take(out.filter.since)
    .take(out.filter.until)
    .take(out.limit)
    .take(out.per_second)
    .take(out.position.value)
    .take(out.total)
    .take(out.done)
    .take(out.started_at)
    .take(out.finished_at)
    .take(out.source)
    .take(out.error);
}

void bind(sqlite::execution& use, const operation_record& what) {
  use.bind(what.id.value)
    .bind(what.kind)
    .bind(what.queue.value)
    .bind(what.project)
    .bind(what.queue_name)
    .bind(what.state)
    .bind(what.filter.status)
    .bind(what.filter.limit_key)
    .bind(what.filter.reason)
    .bind(what.filter.since)
    .bind(what.filter.until)
    .bind(what.limit)
    .bind(what.per_second)
    .bind(what.position.value)
    .bind(what.total)
    .bind(what.done)
    .bind(what.started_at)
    .bind(what.finished_at)
    .bind(what.source)
    .bind(what.error);
}

} // namespace

operation_table::operation_table(const sqlite::connection& db)
  : insert_(db, "INSERT INTO operations ("s + columns
                  + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                    "?, ?, ?, ?)"),
    take_number_(db, "UPDATE meta SET last_operation = max(last_operation, ?)"),
    update_(db,
            "UPDATE operations SET state = ?, next_before = ?, total = ?, "
            "done = ?, finished_at = ?, error = ? WHERE id = ?"),
    select_(db, "SELECT "s + columns + " FROM operations ORDER BY id") {
  // nop
}

std::optional<error> operation_table::insert(const operation_record& what) {
  auto row = insert_.start();
  bind(row, what);
  if (auto reason = row.run())
    return reason;
  auto number = take_number_.start();
  number.bind(what.id.value);
  return number.run();
}

std::optional<error> operation_table::update(const operation_record& what) {
  auto row = update_.start();
  row.bind(what.state)
    .bind(what.position.value)
    .bind(what.total)
    .bind(what.done)
    .bind(what.finished_at)
    .bind(what.error)
    .bind(what.id.value);
  return row.run();
}

result<std::vector<operation_record>> operation_table::load() {
  std::vector<operation_record> all;
  auto row = select_.start();
  while (row.next())
    take(row, all.emplace_back());
  if (auto reason = row.failure())
    return *reason;
  return all;
}

} // namespace tidegate
