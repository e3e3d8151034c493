// A push queue as a value: what happens and when it happens goes in, what to
// store and what to do comes out.

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/core/due_heap.hpp"
#include "actors/core/gate.hpp"
#include "actors/core/outcome.hpp"
#include "actors/core/rate_window.hpp"
#include "actors/core/slots.hpp"
#include "actors/core/transition.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"
#include "tidegate/view.hpp"

namespace tidegate {

/// Decides everything about one push queue: which job goes out when, what its
/// outcome means, when the queue is held and by which probe it opens.
///
/// Every function that takes `now` must be given moments whose steady part
/// never goes back. The owner calls `advance` after every event, and when the
/// one timer fires that it arms for `next_wakeup`.
///
/// A change to a job is decided at once but stored a little later, so the job
/// stays *resident* (in memory, payload and all) until the owner says with
/// `committed` that it is stored. Jobs that only wait are known by 48 bytes
/// each and are read again when it is their turn.
class push_queue {
public:
  /// Takes up a queue as it is stored.
  push_queue(const queue_snapshot& stored, moment now);

  // -- events -----------------------------------------------------------------

  /// Makes a job of what was published. It joins the queue when it is stored.
  job make_job(const publish& what, job_id id, moment now) const;

  /// A job that `make_job` made at `made` has been stored.
  void stored(job&& what, moment made, moment now);

  /// The changes to these jobs have been stored, one for each mention.
  void committed(const std::vector<record>& records);

  /// Jobs have arrived that `load_jobs` asked for; those that it asked for and
  /// that are missing may be asked for again. Returns nothing where not one of
  /// them came: then queue and store do not agree.
  std::optional<transition> loaded(std::vector<job>&& jobs, moment now);

  /// A delivery has ended. `lot` is drawn from [0, 1) for the jitter.
  transition ended(job_seq seq, const delivery_reply& reply, double lot,
                   moment now);

  transition change_settings(const queue_settings& settings, moment now);

  transition pause(moment now);

  transition resume(moment now);

  /// Gives up on jobs that have outlived themselves, sends out what may go now,
  /// and asks for the jobs that will be needed next.
  transition advance(moment now);

  /// Returns when `advance` has something to do if nothing else happens.
  std::optional<steady_time> next_wakeup(moment now) const;

  // -- figures ----------------------------------------------------------------

  /// Returns the queue as it is now, gate and rate included.
  queue_record to_record(moment now) const;

  queue_view view(moment now);

  /// Adds to a job as it is stored what only the queue knows.
  job_view view(job_record stored, moment now);

  const std::string& name() const {
    return queue_.name;
  }

  queue_id id() const {
    return queue_.id;
  }

  const queue_settings& settings() const {
    return queue_.settings;
  }

  std::size_t live_jobs() const {
    return jobs_.size();
  }

  std::uint32_t in_flight() const {
    return slots_.taken();
  }

private:
  /// A job in memory.
  struct resident {
    tidegate::job job;
    /// Changes that are not stored yet.
    std::uint32_t uncommitted = 0;
    bool in_flight = false;
  };

  using resident_map = std::unordered_map<job_seq, resident>;

  // -- gates: the scheduler and explain ask the same --------------------------

  bool may_start(moment now) const;
  void explain_queue(moment now, std::vector<blocked_by>& out) const;
  void explain_wait(const due_heap::entry& e, moment now,
                    std::vector<blocked_by>& out) const;

  /// Returns the ready job whose turn it is.
  std::optional<job_seq> next_up() const;

  // -- steps of `advance` -----------------------------------------------------

  void expire(moment now, transition& out);
  void start_ready(moment now, transition& out);
  void start(resident& r, moment now, transition& out);
  void ask_for_jobs(moment now, transition& out);

  // -- what becomes of a job --------------------------------------------------

  void succeed(resident& r, history_entry&& entry, moment now, transition& out);
  void fail(resident& r, history_entry&& entry, double lot, moment now,
            transition& out);
  void defer(resident& r, history_entry&& entry, duration wait, moment now,
             transition& out);
  void interrupt(resident& r, moment now, transition& out);
  void wait_for(resident& r, history_entry&& entry, wait_kind what,
                duration wait, moment now, transition& out);
  void give_up(resident& r, dead_reason why,
               std::optional<history_entry>&& entry, moment now,
               transition& out);
  void end(resident& r, std::optional<history_entry>&& entry, moment now,
           transition& out);
  void move_gate(const resident& r, const outcome& what,
                 const delivery_reply& reply, moment now, transition& out);

  // -- residents --------------------------------------------------------------

  std::size_t idle_residents() const;
  bool has_room(const job& j) const;
  resident& keep(job&& j);
  void forget(job_seq seq);

  // -- records and events -----------------------------------------------------

  service_event make_event(event_kind kind, moment now) const;
  void tell(service_event&& event, transition& out) const;

  /// Stores the gate and returns the event that tells of it.
  service_event store_gate(event_kind kind, moment now, transition& out) const;
  void store_queue(event_kind kind, moment now, transition& out);

  /// Settings, name, secret, pause; gate and rate stand in their own members.
  queue_record queue_;
  gate gate_;
  slots slots_;
  rate_window rate_;
  due_heap jobs_;
  resident_map residents_;
  std::size_t resident_bytes_ = 0;
  /// Jobs that have been asked for and have not arrived.
  std::vector<job_seq> loading_;
  /// Jobs that are dead as soon as they have been read.
  std::vector<job_seq> expiring_;
  /// Jobs that were being delivered when the process died.
  std::vector<job_seq> interrupted_;
};

} // namespace tidegate
