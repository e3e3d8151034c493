// Batches of records as a server might commit them, from a seed.

#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tidegate/store.hpp"

namespace tidegate::test {

/// Draws batches that are possible on what a store has. Two histories of one
/// seed that are asked about equal stores draw the same batches.
class random_history {
public:
  explicit random_history(std::uint64_t seed);

  /// Returns a batch that is possible on `now`. Numbers of jobs and queues that
  /// it draws are not drawn again, whatever becomes of the batch.
  std::vector<record> next(store& now);

  /// Returns the id of every job that any batch had, in the queue where it was
  /// last moved.
  std::vector<job_id> ids() const;

private:
  struct state {
    std::vector<queue_id> queues;
    std::vector<queue_id> pull_queues;
    std::vector<job_id> live;
    std::vector<job_id> ended;
  };

  std::uint64_t below(std::uint64_t n);
  wall_time instant();
  std::string bytes(std::uint64_t size_max);
  job_id any_live(const state& now);
  job_id any_drawn();

  record draw(state& now);
  record draw_queue_change(const state& now);
  record draw_insert_queue(state& now);
  record draw_remove_queue(state& now);
  insert_job draw_publish(queue_id queue);
  record draw_insert_job(state& now);
  record draw_update_job(const state& now);
  record draw_end_job(state& now);
  record draw_revive_job(state& now);
  record draw_remove_jobs(state& now);
  record draw_operation(const state& now);
  record draw_api_key();
  record draw_upkeep(state& now);
  record draw_move_message(state& now);
  record draw_hand_over(state& now);
  record draw_message_change(state& now);

  queue_id any(const std::vector<queue_id>& queues);
  pull_totals totals();
  gate_record gate();
  std::vector<rate_start> starts();
  job changed(job_id id);
  history_entry entry();

  std::mt19937_64 random_;
  std::uint32_t last_queue_ = 0;
  std::uint64_t last_operation_ = 0;
  std::uint32_t api_keys_ = 0;
  std::map<job_seq, job_id> ids_;
};

/// Returns how many jobs of `ids` have ended in each queue of `of`, counted one
/// by one.
std::map<queue_id, std::pair<std::uint64_t, std::uint64_t>>
count_ended(store& of, const std::vector<job_id>& ids);

} // namespace tidegate::test
