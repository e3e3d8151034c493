// The live jobs of one queue, by the time at which they may go.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Knows every live job of a queue: which may go next, when the next one comes
/// due, and which has outlived itself. 48 bytes a job, no payloads.
///
/// A job is *waiting* for its due time, *ready* once that has come, or *out*
/// while it is being delivered. Ready jobs are ordered by due time, then by
/// arrival. Jobs that are out do not expire.
///
/// Jobs are added in the order of their numbers, so a sorted table finds them;
/// three heaps of 4-byte positions into that table order them.
class due_heap {
public:
  /// What is known of a job.
  struct entry {
    job_seq seq;
    steady_time due;
    steady_time expires;
    wall_time created_at;
    wait_kind waits_for = wait_kind::none;
    /// Whether it has ever been delivered.
    bool delivered = false;
    bool out = false;
  };

  /// Adds a job that waits. @pre its number is larger than any before
  void add(const entry& job);

  /// Takes a ready job out, to be delivered. @pre it is waiting or ready
  void take_out(job_seq seq);

  /// Puts a job that was out back to wait. @pre it is out
  void put_back(job_seq seq, steady_time due, wait_kind waits_for);

  /// Forgets a job. @pre it is known
  void erase(job_seq seq);

  /// Makes the jobs ready whose time has come.
  void mature(steady_time now);

  /// Makes all jobs due now that wait for `what`.
  void make_due(wait_kind what, steady_time now);

  std::optional<entry> find(job_seq seq) const;

  /// Returns the ready job that goes first.
  std::optional<job_seq> first_ready() const;

  /// Returns up to `count` ready jobs in the order in which they go.
  std::vector<job_seq> ready_front(std::size_t count) const;

  /// Returns a job that is not out and whose lifetime has ended.
  std::optional<job_seq> first_expired(steady_time now) const;

  /// Returns when the next job that still waits comes due.
  std::optional<steady_time> next_due() const;

  /// Returns when the next job's lifetime ends.
  std::optional<steady_time> next_expiry() const;

  /// Returns when the oldest job was published.
  std::optional<wall_time> oldest() const;

  std::size_t size() const {
    return live_;
  }

  std::size_t waiting() const {
    return by_due_.size();
  }

  std::size_t ready() const {
    return by_turn_.size();
  }

  /// Jobs that have never been delivered and are not out.
  std::size_t fresh() const {
    return fresh_;
  }

private:
  using position = std::uint32_t;

  enum class place : std::uint8_t { waiting, ready, out, gone };

  struct node {
    std::uint64_t seq : 48;
    std::uint64_t where : 4;
    std::uint64_t waits_for : 4;
    std::uint64_t delivered : 1;
    steady_time due;
    steady_time expires;
    /// Unix seconds.
    std::uint32_t created;
    /// Where it stands in the heap of its place.
    position in_order;
    /// Where it stands in the heap of lifetimes.
    position in_expiry;
  };

  using heap = std::vector<position>;

  /// Says how one heap orders nodes and where a node notes its place in it.
  struct due_order;
  struct expiry_order;

  template <class Order>
  void sift_up(heap& h, std::size_t i);
  template <class Order>
  void sift_down(heap& h, std::size_t i);
  template <class Order>
  void push(heap& h, position p);
  template <class Order>
  void remove(heap& h, std::size_t i);

  std::optional<position> locate(job_seq seq) const;
  position located(job_seq seq) const;
  void enter(position p, place where);
  void leave(position p);
  void compact();

  /// Sorted by number; those that are gone stay until `compact`.
  std::vector<node> nodes_;
  heap by_due_;
  heap by_turn_;
  heap by_expiry_;
  std::size_t live_ = 0;
  std::size_t fresh_ = 0;
  /// Everything before it is gone.
  mutable std::size_t first_live_ = 0;
};

} // namespace tidegate
