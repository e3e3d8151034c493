// Queues, jobs, entries and the rest with a value in every field.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidegate/store.hpp"

namespace tidegate::test {

/// Returns an instant of the year 2025, `n` microseconds after its start.
wall_time at(std::int64_t n);

queue_settings sample_settings();

queue_record sample_queue(std::uint32_t id, const std::string& name = "");

pull_settings sample_pull_settings();

pull_totals sample_totals();

queue_record sample_pull_queue(std::uint32_t id);

/// Returns a job that was just published. Its tag follows from `seq`.
job sample_job(std::uint32_t queue, std::uint64_t seq,
               const std::string& key = "");

/// Returns the record that stores a job which nobody in particular published.
insert_job published(job what);

history_entry sample_entry(std::uint64_t delivery);

/// Returns `what` after a failure that is retried.
update_job retried(job what, std::uint64_t delivery);

/// Returns `what` after its success.
end_job completed(job what, std::uint64_t delivery);

/// Returns `what` given up on, a dead letter, with no entry of its own.
end_job expired(job what);

/// Returns `what`, which has ended, given another life.
revive_job revived(job what);

/// Returns `what` as it is handed out for the `delivery`-th time.
update_job received(job what, std::uint64_t delivery);

/// Returns `what` after its ack.
job acked(job what, std::uint64_t delivery);

/// Returns `what`, which has been received too often, on its way to `to`.
move_message moved(job what, std::uint32_t to);

/// Returns a gate that is not open.
gate_record sample_gate();

limit_key_record sample_limit_key(const std::string& key);

/// Returns an operation that is running on `queue-<queue>`.
operation_record sample_operation(std::uint64_t id, std::uint32_t queue);

/// Returns a key that has no number yet.
api_key_record sample_api_key(const std::string& name);

} // namespace tidegate::test
