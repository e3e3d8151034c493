#include "storage/snapshot_queries.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidegate {

namespace {

/// Makes room for one more, with `left` still to come for all queues. Most of a
/// restart is memory that is touched for the first time, as by jobs that move
/// to larger room; room that nobody uses costs nothing.
void make_room(std::vector<live_job>& jobs, std::uint64_t left) {
  constexpr std::uint64_t growth = 8;
  if (jobs.size() < jobs.capacity())
    return;
  auto wanted = std::max<std::uint64_t>(1, jobs.size() * (growth - 1));
  jobs.reserve(jobs.size() + std::clamp<std::uint64_t>(left, 1, wanted));
}

} // namespace

snapshot_queries::snapshot_queries(sqlite::connection& db)
  : queues_(db), pulls_(db), limit_keys_(db),
    count_(db, "SELECT count(*) FROM jobs"),
    live_(db,
          "SELECT seq, queue, due, expires_at, created_at, waits_for, "
          "status, started_delivery, priority, background, tag, eligible_at, "
          "attempts, deliveries, replays, limit_key "
          "FROM jobs ORDER BY seq") {
  // nop
}

result<std::vector<queue_snapshot>> snapshot_queries::load() {
  auto records = queues_.load();
  if (!records)
    return records.reason();
  std::vector<queue_snapshot> snapshots;
  snapshots.reserve(records->size());
  for (auto& queue : *records) {
    auto& snapshot = snapshots.emplace_back();
    snapshot.queue = std::move(queue);
    if (auto reason = pulls_.load(snapshot.queue))
      return *reason;
    if (auto reason = limit_keys_.load(snapshot.queue.id, snapshot.keys))
      return *reason;
  }
  if (auto reason = load_jobs(snapshots))
    return *reason;
  return snapshots;
}

std::optional<error>
snapshot_queries::load_jobs(std::vector<queue_snapshot>& queues) {
  std::unordered_map<queue_id, queue_snapshot*> by_id;
  for (auto& snapshot : queues)
    by_id.emplace(snapshot.queue.id, &snapshot);
  std::uint64_t left = 0;
  {
    auto row = count_.start();
    if (row.next())
      row.take(left);
    if (auto reason = row.failure())
      return reason;
  }
  auto row = live_.start();
  while (row.next()) {
    live_job job;
    queue_id queue;
    row.take(job.seq.value)
      .take(queue.value)
      .take(job.due)
      .take(job.expires_at)
      .take(job.created_at)
      .take(job.waits_for)
      .take(job.status)
      .take(job.started_delivery)
      .take(job.priority)
      .take(job.background)
      .take(job.tag)
      .take(job.eligible_at)
      .take(job.attempts)
      .take(job.deliveries)
      .take(job.replays)
      .take(job.limit_key);
    auto owner = by_id.find(queue);
    if (owner == by_id.end())
      return error{errc::storage_unavailable, "job "
                                                + std::to_string(job.seq.value)
                                                + " belongs to no queue"};
    make_room(owner->second->jobs, left--);
    owner->second->jobs.push_back(std::move(job));
  }
  return row.failure();
}

} // namespace tidegate
