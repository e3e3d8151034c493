// The tables of the memory store.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "tidegate/store.hpp"

namespace tidegate {

struct memory_contents {
  using key = std::pair<queue_id, std::string>;
  using usage_key = std::tuple<std::int64_t, queue_id, api_key_id>;

  /// Held by the store for a whole batch, by a reader for a whole call.
  std::mutex mutex;

  std::map<queue_id, queue_record> queues;
  std::map<key, limit_key_record> limit_keys;
  std::map<job_seq, job_record> live;
  std::map<job_seq, job_record> ended;
  /// Ended jobs in the order in which they may be removed.
  std::map<std::pair<wall_time, job_seq>, job_id> removals;
  std::map<key, job_seq> keys;
  /// Which of them a job holds.
  std::map<job_seq, key> held_keys;
  std::map<operation_id, operation_record> operations;
  std::map<api_key_id, api_key_record> api_keys;
  /// Without the names of the queues.
  std::map<usage_key, usage_record> usage;
  job_seq last_job;
  queue_id last_queue;
  operation_id last_operation;
  api_key_id last_api_key;
  std::uint64_t api_keys_version = 0;
};

} // namespace tidegate
