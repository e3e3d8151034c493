// Everything around those who look after queues, made of fakes: a disk, the
// actors in front of it, and queues that do as they are told.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/environment.hpp"
#include "actors/queue_upkeep.hpp"
#include "actors/storage_protocol.hpp"
#include "tests/testkit/virtual_system.hpp"

namespace tidegate::testkit {

/// What is stored, and what the store does next.
struct fake_disk {
  /// Ended jobs by number; those with `dead_letter` are in that queue. Dead
  /// messages, too.
  std::map<job_seq, job> ended;

  /// How often each job has been replayed or moved back.
  std::map<job_seq, int> replayed;

  std::map<operation_id, operation_record> operations;
  operation_id last_operation;
  std::vector<api_key_record> keys;
  std::uint64_t keys_version = 1;
  std::vector<usage_record> usage;

  /// While set, nothing can be read or written.
  bool down = false;

  /// Commits that succeed before one fails; empty: none fails.
  std::optional<std::uint64_t> commits_until_failure;

  /// Whether the commit that fails is stored nevertheless.
  bool failure_keeps_data = false;

  std::uint64_t reads = 0;

  /// Carries `what` out and returns whether that is said to have worked.
  bool commit(const std::function<void()>& what);

  /// Stores a job that died, and is kept until `remove_at`.
  void add_dead(queue_id queue, std::uint64_t seq, wall_time ended_at,
                wall_time remove_at = far_future);

  /// Stores a message that came to `queue` when another one gave up on it.
  void add_dead_message(queue_id queue, std::uint64_t seq, wall_time moved_at);
};

/// What a fake queue was told, and what it does about it.
struct fake_queue {
  queue_id id;
  /// From the message to the answer.
  duration takes{0};
  /// What was told in an earlier life is not done any more.
  int life = 0;

  /// Answers that everything has been live again for long.
  bool passes_over = false;

  struct told {
    steady_time at{};
    std::size_t jobs = 0;
    bool operator==(const told&) const = default;
  };

  std::vector<told> removals;
  std::vector<told> slices;
  std::uint32_t under_way = 0;
  std::uint32_t under_way_max = 0;
};

/// A disk with two queues, 1 and 2, and no actor that is tested.
class back_office {
public:
  explicit back_office(std::uint64_t seed = 0);
  ~back_office();

  virtual_system& system() {
    return *system_;
  }

  moment now() const {
    return system_->now();
  }

  void advance(duration by) {
    system_->advance(by);
  }

  fake_disk& disk() {
    return *disk_;
  }

  /// @param number 1 or 2
  fake_queue& queue(std::uint32_t number) {
    return *queues_.at(queue_id{number});
  }

  /// Lets the directory forget a queue.
  void remove_queue(std::uint32_t number) {
    known_->erase(queue_id{number});
  }

  environment_ptr env() const {
    return env_;
  }

  queue_directory directory() const {
    return directory_;
  }

  /// Ends `actor`, which is to be tested.
  template <class Handle>
  void kill(const Handle& actor) {
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    system_->run();
  }

private:
  using known_queues = std::map<queue_id, queue_upkeep>;

  std::unique_ptr<virtual_system> system_;
  std::shared_ptr<fake_disk> disk_;
  std::map<queue_id, std::shared_ptr<fake_queue>> queues_;
  std::shared_ptr<known_queues> known_;
  environment_ptr env_;
  queue_directory directory_;
};

} // namespace tidegate::testkit
