// Queues, jobs and entries with a value in every field.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidegate/store.hpp"

namespace tidegate::test {

/// Returns an instant of the year 2025, `n` microseconds after its start.
wall_time at(std::int64_t n);

queue_record sample_queue(std::uint32_t id, const std::string& name = "");

/// Returns a job that was just published. Its tag follows from `seq`.
job sample_job(std::uint32_t queue, std::uint64_t seq,
               const std::string& key = "");

history_entry sample_entry(std::uint64_t delivery);

/// Returns `what` after a failure that is retried.
update_job retried(job what, std::uint64_t delivery);

/// Returns `what` after its success.
end_job completed(job what, std::uint64_t delivery);

/// Returns `what` given up on, with no entry of its own.
end_job expired(job what);

} // namespace tidegate::test
