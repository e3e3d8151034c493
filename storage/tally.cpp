#include "storage/tally.hpp"

#include <string>

namespace tidegate {

tally::tally(const sqlite::connection& db)
  : exists_(db, "SELECT 1 FROM counters WHERE queue = ?"),
    add_(db,
         "UPDATE counters SET completed = completed + ?, dead = dead + ? "
         "WHERE queue = ?") {
  // nop
}

void tally::clear() {
  touched_.clear();
}

result<bool> tally::knows(queue_id queue) {
  if (touched_.contains(queue))
    return true;
  auto row = exists_.start();
  row.bind(queue.value);
  if (row.next()) {
    touched_.emplace(queue, counts{});
    return true;
  }
  if (auto reason = row.failure())
    return *reason;
  return false;
}

std::optional<error> tally::require(queue_id queue) {
  auto known = knows(queue);
  if (!known)
    return known.reason();
  if (*known)
    return std::nullopt;
  return error{errc::storage_unavailable,
               "no queue has number " + std::to_string(queue.value)};
}

void tally::count(queue_id queue, job_status how) {
  auto& counted = touched_[queue];
  if (how == job_status::dead)
    ++counted.dead;
  else
    ++counted.completed;
}

void tally::take_off(queue_id queue, std::uint64_t completed,
                     std::uint64_t dead) {
  if (completed == 0 && dead == 0)
    return;
  auto& counted = touched_[queue];
  counted.completed -= static_cast<std::int64_t>(completed);
  counted.dead -= static_cast<std::int64_t>(dead);
}

void tally::drop(queue_id queue) {
  touched_.erase(queue);
}

std::optional<error> tally::write() {
  for (auto& [queue, counted] : touched_) {
    if (counted.completed == 0 && counted.dead == 0)
      continue;
    auto row = add_.start();
    row.bind(counted.completed).bind(counted.dead).bind(queue.value);
    if (auto reason = row.run())
      return reason;
  }
  return std::nullopt;
}

} // namespace tidegate
