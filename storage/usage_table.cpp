#include "storage/usage_table.hpp"

#include <chrono>

namespace tidegate {

std::int64_t day_of(wall_time at) {
  return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
}

bool is_outcome(const std::optional<history_entry>& entry) {
  if (!entry)
    return false;
  switch (entry->status) {
    case delivery_status::success:
    case delivery_status::failed:
    case delivery_status::deferred:
    case delivery_status::nacked:
      return true;
    default:
      return false;
  }
}

// -- usage_tally --------------------------------------------------------------

usage_tally::usage_tally(const sqlite::connection& db)
  : add_(db,
         "INSERT INTO usage (day, queue, key, project, publishes, deliveries, "
         "receives, bytes) SELECT ?, id, ?, project, ?, ?, ?, ? FROM queues "
         "WHERE id = ? ON CONFLICT DO UPDATE SET "
         "publishes = publishes + excluded.publishes, "
         "deliveries = deliveries + excluded.deliveries, "
         "receives = receives + excluded.receives, "
         "bytes = bytes + excluded.bytes") {
  // nop
}

void usage_tally::clear() {
  counted_.clear();
}

void usage_tally::count(const insert_job& what) {
  auto& job = what.job;
  auto& sum = counted_[{day_of(job.created_at), job.id.queue, what.by}];
  ++sum.publishes;
  sum.bytes += job.payload.bytes().size();
}

void usage_tally::count(queue_id queue,
                        const std::optional<history_entry>& entry) {
  if (is_outcome(entry))
    ++counted_[{day_of(entry->at), queue, api_key_id{}}].deliveries;
}

void usage_tally::count_receive(const job& message) {
  auto day = day_of(message.waits_since);
  ++counted_[{day, message.id.queue, api_key_id{}}].receives;
}

std::optional<error> usage_tally::write() {
  for (auto& [key, sum] : counted_) {
    auto& [day, queue, by] = key;
    auto row = add_.start();
    row.bind(day)
      .bind(by.value)
      .bind(sum.publishes)
      .bind(sum.deliveries)
      .bind(sum.receives)
      .bind(sum.bytes)
      .bind(queue.value);
    if (auto reason = row.run())
      return reason;
  }
  counted_.clear();
  return std::nullopt;
}

// -- usage_queries ------------------------------------------------------------

usage_queries::usage_queries(const sqlite::connection& db)
  : select_(db,
            "SELECT usage.project, name, queue, key, day, publishes, "
            "deliveries, receives, bytes "
            "FROM usage LEFT JOIN queues ON queues.id = queue "
            "WHERE usage.project = ? AND day BETWEEN ? AND ? "
            "ORDER BY day, queue, key") {
  // nop
}

result<std::vector<usage_record>>
usage_queries::load(const std::string& project, std::int64_t from_day,
                    std::int64_t to_day) {
  std::vector<usage_record> all;
  auto row = select_.start();
  row.bind(project).bind(from_day).bind(to_day);
  while (row.next()) {
    auto& one = all.emplace_back();
    row.take(one.project)
      .take(one.queue_name)
      .take(one.queue.value)
      .take(one.key.value)
      .take(one.day)
      .take(one.publishes)
      .take(one.deliveries)
      .take(one.receives)
      .take(one.bytes);
  }
  if (auto reason = row.failure())
    return *reason;
  return all;
}

} // namespace tidegate
