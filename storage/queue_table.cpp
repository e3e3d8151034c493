#include "storage/queue_table.hpp"

#include <string>

#include "storage/number_list.hpp"

namespace tidegate {

namespace {

using namespace std::string_literals;

constexpr char settings_columns[] =
  "paused, paused_since, updated_at, concurrency, rate_limit_max, "
  "rate_limit_window, max_attempts, max_defers, backoff_kind, backoff_delay, "
  "backoff_factor, backoff_max_delay, backoff_jitter, backoff_steps, timeout, "
  "lifetime, webhook_url";

constexpr char settings_places[] =
  "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";

constexpr char gate_columns[] =
  "state, release_at, since, cause, caused_by, http_status, failed_probes, "
  "probe_job, probe_delivery, probe_verdict, probe_at";

std::string insert_queue_sql() {
  return "INSERT INTO queues ("s + settings_columns
         + ", id, name, secret, created_at) VALUES (" + settings_places
         + ", ?, ?, ?, ?)";
}

std::string update_queue_sql() {
  return "UPDATE queues SET ("s + settings_columns + ") = (" + settings_places
         + ") WHERE id = ?";
}

std::string set_gate_sql() {
  return "REPLACE INTO gates (queue, "s + gate_columns
         + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
}

std::string select_sql() {
  return "SELECT "s + settings_columns
         + ", id, name, secret, created_at, completed, dead, starts, "
         + gate_columns
         + " FROM queues JOIN counters ON counters.queue = id"
           " JOIN rates ON rates.queue = id"
           " JOIN gates ON gates.queue = id ORDER BY id";
}

// -- settings -----------------------------------------------------------------

void bind_settings(sqlite::execution& use, const update_queue& what) {
  auto& settings = what.settings;
  auto& backoff = settings.backoff;
  use.bind(what.paused)
    .bind(what.paused_since)
    .bind(what.updated_at)
    .bind(settings.concurrency)
    .bind(settings.rate_limit_max)
    .bind(settings.rate_limit_window)
    .bind(settings.max_attempts)
    .bind(settings.max_defers)
    .bind(backoff.type)
    .bind(backoff.delay)
    .bind(backoff.factor)
    .bind(backoff.max_delay)
    .bind(backoff.jitter)
    .bind_copy(write_numbers(backoff.steps))
    .bind(settings.timeout)
    .bind(settings.lifetime)
    .bind(settings.webhook_url);
}

void take_settings(sqlite::execution& row, queue_record& out) {
  auto& settings = out.settings;
  auto& backoff = settings.backoff;
  std::string steps;
  row.take(out.paused)
    .take(out.paused_since)
    .take(out.updated_at)
    .take(settings.concurrency)
    .take(settings.rate_limit_max)
    .take(settings.rate_limit_window)
    .take(settings.max_attempts)
    .take(settings.max_defers)
    .take(backoff.type)
    .take(backoff.delay)
    .take(backoff.factor)
    .take(backoff.max_delay)
    .take(backoff.jitter)
    .take(steps)
    .take(settings.timeout)
    .take(settings.lifetime)
    .take(settings.webhook_url);
  backoff.steps = read_numbers<double>(steps);
}

// -- rate ---------------------------------------------------------------------

std::string write_starts(const std::vector<rate_start>& starts) {
  std::vector<std::int64_t> numbers;
  for (auto& start : starts) {
    numbers.push_back(start.latest.time_since_epoch().count());
    numbers.push_back(start.count);
  }
  return write_numbers(numbers);
}

std::vector<rate_start> read_starts(const std::string& text) {
  auto numbers = read_numbers<std::int64_t>(text);
  std::vector<rate_start> starts;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    starts.push_back({wall_time{duration{numbers[i]}},
                      static_cast<std::uint32_t>(numbers[i + 1])});
  return starts;
}

// -- gate ---------------------------------------------------------------------

void bind_gate(sqlite::execution& use, const gate_record& gate) {
  use.bind(gate.state).bind(gate.release_at).bind(gate.since).bind(gate.cause);
  if (gate.caused_by)
    use.bind_copy(to_string(*gate.caused_by));
  else
    use.bind_null();
  use.bind(gate.http_status).bind(gate.failed_probes);
  if (!gate.last) {
    use.bind_null().bind_null().bind_null().bind_null();
    return;
  }
  use.bind_copy(to_string(gate.last->job))
    .bind(gate.last->delivery)
    .bind(gate.last->verdict)
    .bind(gate.last->at);
}

void take_gate(sqlite::execution& row, gate_record& out) {
  std::string caused_by;
  row.take(out.state)
    .take(out.release_at)
    .take(out.since)
    .take(out.cause)
    .take(caused_by)
    .take(out.http_status)
    .take(out.failed_probes);
  out.caused_by = parse_job_id(caused_by);
  if (row.null_ahead())
    return;
  std::string job;
  auto& last = out.last.emplace();
  row.take(job).take(last.delivery).take(last.verdict).take(last.at);
  last.job = parse_job_id(job).value_or(job_id{});
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
  bind_settings(row, settings);
  row.bind(what.id.value)
    .bind(what.name)
    .bind(what.secret)
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
  bind_settings(row, what);
  row.bind(what.id.value);
  if (auto reason = row.run())
    return reason;
  return set_headers(what.id, what.settings.headers);
}

std::optional<error> queue_table::set_gate(queue_id queue,
                                           const gate_record& gate) {
  auto row = set_gate_.start();
  row.bind(queue.value);
  bind_gate(row, gate);
  return row.run();
}

std::optional<error>
queue_table::set_rate(queue_id queue, const std::vector<rate_start>& starts) {
  auto row = set_rate_.start();
  row.bind(queue.value).bind_copy(write_starts(starts));
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
    std::string starts;
    take_settings(row, queue);
    row.take(queue.id.value)
      .take(queue.name)
      .take(queue.secret)
      .take(queue.created_at)
      .take(queue.completed)
      .take(queue.dead)
      .take(starts);
    queue.rate = read_starts(starts);
    take_gate(row, queue.gate);
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
