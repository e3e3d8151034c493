// The live jobs of one queue, by the time at which they may go.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Number of a lane: the jobs of a queue that share a limit key. 0 is the lane
/// of those that have none. Numbers of lanes that are gone are given again.
using lane_id = std::uint32_t;

/// Knows every live job of a queue: which may go next, when the next one comes
/// due, and which has outlived itself. 48 bytes a job, no payloads.
///
/// A job is *waiting* for its due time, *ready* once that has come, or *out*
/// while it is being delivered or awaits its ack. Ready jobs stand in *lanes*,
/// one for each limit key. Lanes take turns; within a lane the higher priority
/// goes first, then the earlier due time, then the earlier arrival. A lane can
/// be shut, and then has no turn. Jobs that are out do not expire.
///
/// Jobs are added in the order of their numbers, so a sorted table finds them;
/// heaps of 4-byte positions into that table order them. The few that come back
/// out of that order, after a replay, stand in a table of their own and are
/// found by hash.
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
    /// 0 to 9, higher first.
    std::uint8_t priority = 0;
    /// Goes after all others of its lane.
    bool background = false;
    /// Given by `add`.
    lane_id lane = 0;
  };

  due_heap();

  /// Makes room for so many jobs at once, as at a restart.
  void reserve(std::size_t jobs);

  /// Adds a job that waits, to the lane of `limit_key`. @pre it is not known
  void add(const entry& job, std::string_view limit_key = {});

  /// Takes a waiting or ready job out. @pre it is known and not out
  void take_out(job_seq seq);

  /// Puts a job that was out back to wait. @pre it is out
  void put_back(job_seq seq, steady_time due, wait_kind waits_for);

  /// Changes what a job waits for. @pre it is known and not out
  void reschedule(job_seq seq, steady_time due, wait_kind waits_for);

  /// Forgets a job. @pre it is known
  void erase(job_seq seq);

  /// Makes the jobs ready whose time has come.
  void mature(steady_time now);

  /// Makes all jobs due now that wait for `what`, of one lane if one is given.
  void make_due(wait_kind what, steady_time now,
                std::optional<lane_id> lane = std::nullopt);

  /// Moves due time and end of all jobs that wait for `what`.
  void shift(wait_kind what, duration by);

  /// Moves the end of all jobs.
  void shift_expiry(duration by);

  /// Returns whether any job waits for a time on the wall clock.
  bool waits_for_wall_clock() const {
    return by_wall_ > 0;
  }

  std::optional<entry> find(job_seq seq) const;

  // -- lanes ------------------------------------------------------------------

  /// Returns the lane of a key, if it has one: while it has jobs or is pinned.
  std::optional<lane_id> find_lane(std::string_view limit_key) const;

  /// Returns the key of a lane. @pre the lane exists
  const std::string& key_of(lane_id lane) const;

  bool has_jobs(lane_id lane) const {
    return lanes_[lane]->jobs > 0;
  }

  /// Returns how many lanes there are besides that of jobs without a key.
  std::size_t keyed_lanes() const {
    return keys_.size() - 1;
  }

  /// Keeps a lane, jobs or not, until it is unpinned as often.
  lane_id pin(std::string_view limit_key);
  void unpin(lane_id lane);

  /// Gives the lane no turn. @pre it is pinned
  void shut(lane_id lane);
  void open(lane_id lane);

  bool is_shut(lane_id lane) const {
    return lanes_[lane]->is_shut;
  }

  /// Returns the lane whose turn it is: it is open and has a ready job.
  std::optional<lane_id> first_lane() const;

  /// Returns the lane whose turn comes after `lane`'s, if there is another.
  std::optional<lane_id> lane_after(lane_id lane) const;

  /// Lets all other lanes go before this one does again.
  void end_turn(lane_id lane);

  // -- jobs that are ready ----------------------------------------------------

  /// Returns the ready job of a lane that goes first. @pre there is one
  job_seq first_ready(lane_id lane) const;

  /// Returns up to `count` ready jobs of a lane in the order in which they go.
  std::vector<job_seq> ready_front(lane_id lane, std::size_t count) const;

  /// Returns ready jobs of the lanes that are open, about `count` and at least
  /// the first one of each of the first lanes.
  std::vector<job_seq> ready_front(std::size_t count) const;

  std::size_t ready(lane_id lane) const;

  // -- the rest ---------------------------------------------------------------

  /// Returns a job that is not out and whose lifetime has ended.
  std::optional<job_seq> first_expired(steady_time now) const;

  /// Returns when the next job that still waits comes due.
  std::optional<steady_time> next_due() const;

  /// Returns when the next job's lifetime ends.
  std::optional<steady_time> next_expiry() const;

  /// Returns when the oldest job was published.
  std::optional<wall_time> oldest() const;

  /// Part of the jobs that are not out.
  struct idle_range {
    /// Numbers up to this one are not looked at; `idle` moves it on.
    job_seq after;
    job_seq last{max_48_bits};
    /// Only those that have been delivered, or only those that have not.
    std::optional<bool> delivered;
  };

  /// Returns up to `count` jobs of a range. Those that came back out of order
  /// are found however far the range has moved on.
  std::vector<job_seq> idle(idle_range& range, std::size_t count) const;

  std::size_t size() const {
    return live_;
  }

  std::size_t waiting() const {
    return by_due_.size();
  }

  /// Ready jobs of all lanes.
  std::size_t ready() const {
    return ready_;
  }

  /// Jobs that have never been delivered and are not out.
  std::size_t fresh() const {
    return fresh_;
  }

private:
  /// Index of a node; with `stray_bit` into `strays_`, else into `nodes_`.
  using position = std::uint32_t;

  static constexpr position stray_bit = 0x8000'0000;

  enum class place : std::uint8_t { waiting, ready, out, gone };

  struct node {
    std::uint64_t seq : 48;
    std::uint64_t where : 4;
    std::uint64_t waits_for : 4;
    std::uint64_t rank : 4;
    std::uint64_t delivered : 1;
    steady_time due;
    steady_time expires;
    /// Unix seconds.
    std::uint32_t created;
    /// Where it stands in the heap of its place.
    position in_order;
    /// Where it stands in the heap of lifetimes.
    position in_expiry;
    lane_id lane;
  };

  using heap = std::vector<position>;

  /// Lanes that have a turn form a ring.
  struct lane {
    /// Copies of a heap share it.
    std::shared_ptr<const std::string> key;
    heap by_turn;
    std::uint32_t jobs = 0;
    std::uint32_t pins = 0;
    lane_id previous = 0;
    lane_id next = 0;
    bool is_shut = false;
    bool in_ring = false;
  };

  /// A lane, or nothing but a pointer where its number is free.
  class lane_box {
  public:
    lane_box() = default;

    explicit lane_box(lane what)
      : lane_(std::make_unique<lane>(std::move(what))) {
      // nop
    }

    lane_box(const lane_box& other) {
      if (other.lane_)
        lane_ = std::make_unique<lane>(*other.lane_);
    }

    lane_box(lane_box&&) noexcept = default;

    lane_box& operator=(lane_box other) noexcept {
      lane_.swap(other.lane_);
      return *this;
    }

    explicit operator bool() const noexcept {
      return lane_ != nullptr;
    }

    lane& operator*() const {
      return *lane_;
    }

    lane* operator->() const {
      return lane_.get();
    }

  private:
    std::unique_ptr<lane> lane_;
  };

  /// Says how one heap orders nodes and where a node notes its place in it.
  struct due_order;
  struct turn_order;
  struct expiry_order;

  node& at(position p) {
    return p & stray_bit ? strays_[p & ~stray_bit] : nodes_[p];
  }

  const node& at(position p) const {
    return p & stray_bit ? strays_[p & ~stray_bit] : nodes_[p];
  }

  static place place_of(const node& n) {
    return place{static_cast<std::uint8_t>(n.where)};
  }

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
  position place_new(const node& n);
  void enter(position p, place where);
  void leave(position p);
  void make_ready(position p);
  void count_wall(const node& n, int by);
  void drop_stray(position p);
  void compact();

  lane_id acquire_lane(std::string_view limit_key);
  void drop_if_idle(lane_id id);
  void update_ring(lane_id id);
  void link(lane_id id);
  void unlink(lane_id id);

  /// Sorted by number; those that are gone stay until `compact`.
  std::vector<node> nodes_;
  std::vector<node> strays_;
  std::vector<position> free_strays_;
  std::unordered_map<std::uint64_t, position> stray_positions_;

  heap by_due_;
  heap by_expiry_;

  std::vector<lane_box> lanes_;
  std::vector<lane_id> free_lanes_;
  /// Keys that the lanes own.
  std::unordered_map<std::string_view, lane_id> keys_;
  std::optional<lane_id> first_lane_;

  std::size_t live_ = 0;
  std::size_t ready_ = 0;
  std::size_t fresh_ = 0;
  /// Jobs that wait for a time on the wall clock.
  std::size_t by_wall_ = 0;
  /// Everything before it is gone.
  mutable std::size_t first_live_ = 0;
};

} // namespace tidegate
