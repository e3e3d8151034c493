#include "storage/pull_table.hpp"

#include <string>

namespace tidegate {

pull_table::pull_table(const sqlite::connection& db)
  : kind_(db, "SELECT kind FROM queues WHERE id = ?"),
    set_settings_(db,
                  "REPLACE INTO pull_queues (queue, max_receive_count, "
                  "message_retention, visibility_timeout, delay, "
                  "enable_priority, dead_letter_queue, fifo) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
    set_updated_at_(db, "UPDATE queues SET updated_at = ? WHERE id = ?"),
    insert_totals_(db,
                   "INSERT INTO pull_totals VALUES (?, ?, 0, 0, 0, 0, 0, "
                   "0, 0)"),
    set_totals_(db,
                "UPDATE pull_totals SET received = ?, acked = ?, nacked = ?, "
                "expired = ?, dead_lettered = ?, redriven = ?, retired = ? "
                "WHERE queue = ?"),
    add_published_(db,
                   "UPDATE pull_totals SET published = published + ? "
                   "WHERE queue = ?"),
    remove_settings_(db, "DELETE FROM pull_queues WHERE queue = ?"),
    remove_totals_(db, "DELETE FROM pull_totals WHERE queue = ?"),
    select_(db,
            "SELECT max_receive_count, message_retention, visibility_timeout, "
            "delay, enable_priority, dead_letter_queue, fifo, published, "
            "received, acked, nacked, expired, dead_lettered, redriven, "
            "retired "
            "FROM pull_queues JOIN pull_totals USING (queue) "
            "WHERE queue = ?") {
  // nop
}

// -- changes ------------------------------------------------------------------

std::optional<error> pull_table::insert(const queue_record& what) {
  kinds_.insert_or_assign(what.id, what.kind);
  if (what.kind != queue_kind::pull)
    return std::nullopt;
  if (auto reason = write_settings(what.id, what.pull))
    return reason;
  auto row = insert_totals_.start();
  row.bind(what.id.value).bind(what.totals.published);
  if (auto reason = row.run())
    return reason;
  return replace_totals(what.id, what.totals);
}

std::optional<error>
pull_table::set_settings(const update_pull_settings& what) {
  if (auto reason = require(what.id))
    return reason;
  auto row = set_updated_at_.start();
  row.bind(what.updated_at).bind(what.id.value);
  if (auto reason = row.run())
    return reason;
  return write_settings(what.id, what.settings);
}

std::optional<error> pull_table::set_totals(const update_pull_totals& what) {
  if (auto reason = require(what.id))
    return reason;
  totals_.insert_or_assign(what.id, what.totals);
  return std::nullopt;
}

std::optional<error> pull_table::count_published(queue_id queue) {
  auto known = is_pull(queue);
  if (!known)
    return known.reason();
  if (*known)
    ++published_[queue];
  return std::nullopt;
}

void pull_table::clear_totals() {
  totals_.clear();
  published_.clear();
}

std::optional<error> pull_table::write_totals() {
  for (auto& [queue, totals] : totals_)
    if (auto reason = replace_totals(queue, totals))
      return reason;
  for (auto& [queue, count] : published_) {
    auto row = add_published_.start();
    row.bind(count).bind(queue.value);
    if (auto reason = row.run())
      return reason;
  }
  clear_totals();
  return std::nullopt;
}

std::optional<error> pull_table::remove(queue_id queue) {
  kinds_.erase(queue);
  totals_.erase(queue);
  published_.erase(queue);
  for (auto* table : {&remove_settings_, &remove_totals_}) {
    auto row = table->start();
    row.bind(queue.value);
    if (auto reason = row.run())
      return reason;
  }
  return std::nullopt;
}

std::optional<error> pull_table::require(queue_id queue) {
  auto known = is_pull(queue);
  if (!known)
    return known.reason();
  if (*known)
    return std::nullopt;
  return error{errc::storage_unavailable,
               "no pull queue has number " + std::to_string(queue.value)};
}

std::optional<error> pull_table::write_settings(queue_id queue,
                                                const pull_settings& settings) {
  auto row = set_settings_.start();
  row.bind(queue.value)
    .bind(settings.max_receive_count)
    .bind(settings.message_retention)
    .bind(settings.visibility_timeout)
    .bind(settings.delay)
    .bind(settings.enable_priority)
    .bind(settings.dead_letter_queue)
    .bind(settings.fifo);
  return row.run();
}

std::optional<error> pull_table::replace_totals(queue_id queue,
                                                const pull_totals& totals) {
  auto row = set_totals_.start();
  row.bind(totals.received)
    .bind(totals.acked)
    .bind(totals.nacked)
    .bind(totals.expired)
    .bind(totals.dead_lettered)
    .bind(totals.redriven)
    .bind(totals.retired)
    .bind(queue.value);
  return row.run();
}

// -- reading ------------------------------------------------------------------

result<bool> pull_table::is_pull(queue_id queue) {
  auto known = kinds_.find(queue);
  if (known == kinds_.end()) {
    auto kind = queue_kind::push;
    auto row = kind_.start();
    row.bind(queue.value);
    if (!row.next()) {
      if (auto reason = row.failure())
        return *reason;
      return false;
    }
    row.take(kind);
    known = kinds_.emplace(queue, kind).first;
  }
  return known->second == queue_kind::pull;
}

std::optional<error> pull_table::load(queue_record& out) {
  if (out.kind != queue_kind::pull)
    return std::nullopt;
  auto row = select_.start();
  row.bind(out.id.value);
  if (!row.next())
    return row.failure();
  auto& settings = out.pull;
  auto& totals = out.totals;
  row.take(settings.max_receive_count)
    .take(settings.message_retention)
    .take(settings.visibility_timeout)
    .take(settings.delay)
    .take(settings.enable_priority)
    .take(settings.dead_letter_queue)
    .take(settings.fifo)
    .take(totals.published)
    .take(totals.received)
    .take(totals.acked)
    .take(totals.nacked)
    .take(totals.expired)
    .take(totals.dead_lettered)
    .take(totals.redriven)
    .take(totals.retired);
  return std::nullopt;
}

} // namespace tidegate
