// What was done on each day, for each queue, by each API key.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Returns the day (UTC) of an instant, counted from 1970-01-01.
std::int64_t day_of(wall_time at);

/// Returns whether an entry of history came with a delivery that had an
/// outcome: what usage counts.
bool is_outcome(const std::optional<history_entry>& entry);

/// Counts what the records of one batch did in memory, and writes one row for
/// each day, queue and key at the end of the batch, however many records.
class usage_tally {
public:
  explicit usage_tally(const sqlite::connection& db);

  /// Forgets everything: a batch begins.
  void clear();

  /// Counts a job that was stored.
  void count(const insert_job& what);

  /// Counts a delivery of a job, if `entry` tells of one.
  void count(queue_id queue, const std::optional<history_entry>& entry);

  /// Counts a message that was handed out. The only instant that its record has
  /// is the end of the lease, so that this says on which day it counts.
  void count_receive(const job& message);

  /// Adds what was counted to the stored rows, and forgets it.
  /// @pre every queue that was counted exists
  std::optional<error> write();

private:
  struct counts {
    std::uint64_t publishes = 0;
    std::uint64_t deliveries = 0;
    std::uint64_t receives = 0;
    std::uint64_t bytes = 0;
  };

  std::map<std::tuple<std::int64_t, queue_id, api_key_id>, counts> counted_;
  sqlite::statement add_;
};

/// Reads usage back.
class usage_queries {
public:
  explicit usage_queries(const sqlite::connection& db);

  /// See `store_reader::usage`.
  result<std::vector<usage_record>>
  load(const std::string& project, std::int64_t from_day, std::int64_t to_day);

private:
  sqlite::statement select_;
};

} // namespace tidegate
