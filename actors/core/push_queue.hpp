// A push queue as a value: what happens and when it happens goes in, what to
// store and what to do comes out.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "actors/core/due_heap.hpp"
#include "actors/core/gate.hpp"
#include "actors/core/limit_keys.hpp"
#include "actors/core/outcome.hpp"
#include "actors/core/ramp.hpp"
#include "actors/core/rate_window.hpp"
#include "actors/core/slots.hpp"
#include "actors/core/transition.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/metrics.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"
#include "tidegate/view.hpp"

namespace tidegate {

/// Returns the headers of a job and those of its queue that it does not
/// replace.
std::vector<header> merge_headers(const std::vector<header>& job,
                                  const std::vector<header>& queue);

/// What a worker reports of a job, whatever it is.
struct report {
  enum class kind : std::uint8_t { ack, nack, defer, touch };

  kind what = kind::ack;
  job_id job;
  /// The delivery that it is about, where it is fenced.
  std::optional<std::uint64_t> delivery;
  /// `nack`: whether it may be tried again.
  bool retryable = true;
  /// `defer`: for how long; `touch`: until when from now.
  duration wait{0};
  /// `defer`: none: as the queue's settings say.
  std::optional<defer_scope> scope;
  /// `nack`, `defer`.
  std::string reason;
};

/// Returned where a job has to be read before anything can be said of it. It is
/// *watched* from then on: what happens to it stays in memory until
/// the same is asked again with what was read, or `unwatch` is called.
struct read_first {};

/// What comes of a request about one job.
using job_decision = std::variant<transition, error, read_first>;

/// Decides everything about one push queue: which job goes out when, what its
/// outcome means, when the queue or one of its limit keys is held and by which
/// probe it opens.
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
  /// Takes up a queue as it is stored. `capped`: deliveries need permits.
  push_queue(const queue_snapshot& stored, moment now, bool capped = false);

  /// Whether accounts are given of deliveries; if not, they cost nothing.
  void keep_accounts(bool value) {
    keeps_accounts_ = value;
  }

  // -- publishing -------------------------------------------------------------

  /// Makes a job of what was published. It joins the queue when it is stored.
  job make_job(const publish& what, job_id id, moment now) const;

  /// Returns how many jobs more may be published.
  std::uint64_t room() const;

  /// So many jobs are being stored; `stored` or `not_stored` follows for each.
  void arriving(std::uint64_t count) {
    arriving_ += count;
  }

  /// A job that `make_job` made at `made` has been stored.
  void stored(job&& what, moment made, moment now);

  /// A job was there already.
  void not_stored() {
    --arriving_;
  }

  // -- the store --------------------------------------------------------------

  /// These changes have been stored.
  transition committed(const std::vector<record>& records,
                       const std::vector<commit_answer>& answers, moment now);

  /// Jobs have arrived that `load_jobs` asked for; those that it asked for and
  /// that are missing may be asked for again. Returns nothing where not one of
  /// them came although they are live: then queue and store do not agree.
  std::optional<transition> loaded(std::vector<job>&& jobs, moment now);

  // -- deliveries -------------------------------------------------------------

  /// A delivery has ended. `lot` is drawn from [0, 1) for the jitter.
  transition ended(job_seq seq, std::uint64_t number,
                   const delivery_reply& reply, double lot, moment now);

  /// A worker reports. With `stored` where the job had to be read.
  job_decision reported(const report& what, const job_record* stored,
                        double lot, moment now);

  /// Deliveries may start; see `take_permits`.
  void granted(std::uint32_t count);

  /// Nothing will start any more: returns how many permits there are unused,
  /// and forgets them.
  std::uint32_t leave_permits_unused() {
    return std::exchange(permits_, 0);
  }

  // -- operators --------------------------------------------------------------

  transition change_settings(const queue_settings& settings, moment now);

  transition pause(moment now);

  transition resume(moment now);

  transition hold(duration wait, const std::string& reason, moment now);

  transition release(moment now);

  /// Returns nothing where no such key is known.
  transition release_key(const std::string& key, moment now);

  transition rotate_secret(const signing_secret& secret, duration overlap,
                           moment now);

  /// Each is called again with `stored` where the job had to be read.
  job_decision cancel(job_id id, const job_record* stored, moment now);
  job_decision run_now(job_id id, const job_record* stored, moment now);

  /// Like those. `edited`: another payload; none: the same again.
  job_decision replay(job_id id, const job_record* stored,
                      const std::optional<payload>& edited, bool background,
                      moment now);

  /// Replays one of many that have been read, and are still watched. Returns
  /// nothing where it is dead no more.
  std::optional<transition> replay_watched(const job& dead, moment now);

  /// Removes up to `count` of the jobs that wait. Adds nothing to the
  /// transition where there are no more.
  transition purge(due_heap::idle_range& range, std::size_t count);

  /// Removes ended jobs; those that are live again are passed over.
  transition remove_ended(const std::vector<job_seq>& seqs);

  /// The owner does not come back with a job that it was told to read.
  void unwatch(job_seq seq);

  // -- time -------------------------------------------------------------------

  /// Gives up on jobs that have outlived themselves, sends out what may go now,
  /// and asks for the jobs that will be needed next.
  transition advance(moment now);

  /// Returns when `advance` has something to do if nothing else happens. What
  /// has come due since the last `advance` is due at once.
  std::optional<steady_time> next_wakeup() const;

  /// Returns an event of this queue, without details.
  service_event make_event(event_kind kind, moment now) const;

  /// Returns whether a step of the wall clock would move any job. Nothing tells
  /// of such a step but a call of `advance`.
  bool follows_wall_clock() const {
    return jobs_.waits_for_wall_clock();
  }

  // -- figures ----------------------------------------------------------------

  /// Returns the queue as it is now, gate and rate included.
  queue_record to_record(moment now) const;

  queue_view view(moment now);

  /// Without name and project.
  queue_metrics metrics(moment now);

  /// What has happened since it was taken up.
  queue_counters counters(moment now) const;

  /// Adds to a job as it is stored what only the queue knows.
  job_view view(job_record stored, moment now);

  /// Returns the limit keys that are held, probing or busy, by name.
  limit_key_list view(const list_limit_keys& which, moment now);

  limit_key_view view_key(const std::string& key, moment now);

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

  /// Returns whether a job is live, or will be when its replay is stored.
  bool is_live(job_seq seq) const {
    return jobs_.find(seq) || reviving_.contains(seq);
  }

  /// Deliveries under way and jobs that await their ack.
  std::uint32_t in_flight() const {
    return slots_.taken();
  }

  /// Deliveries under way.
  std::uint32_t posts() const {
    return slots_.taken() - static_cast<std::uint32_t>(awaiting_.size());
  }

  /// Permits that are in use or not used yet.
  std::uint32_t permits_held() const {
    return capped_ ? permits_ + posts() : 0;
  }

  /// What is in memory besides what is known of every live job.
  struct memory_use {
    std::size_t residents = 0;
    std::size_t payload_bytes = 0;
    std::size_t awaiting = 0;
    std::size_t errands = 0;
    std::size_t stray_posts = 0;
    /// Reads of single jobs that are under way.
    std::size_t watches = 0;
    std::size_t lanes = 0;
    std::size_t limit_keys = 0;
  };

  memory_use memory() const;

private:
  /// A job in memory.
  struct resident {
    tidegate::job job;
    lane_id lane = 0;
    /// Changes that are not stored yet.
    std::uint32_t uncommitted = 0;
    /// Whether its outcome is owed: its delivery is under way, or its ack.
    bool busy = false;
    /// Whether its delivery is under way.
    bool in_flight = false;
    /// Whether its delivery is a probe, of the queue or of its key.
    bool probe = false;
    /// When that delivery started.
    steady_time started{};
  };

  using resident_map = std::unordered_map<job_seq, resident>;

  /// Why a job has to be read although it is not its turn.
  enum class errand : std::uint8_t {
    /// It was being delivered when the process died.
    interrupted,
    /// Its lifetime has ended.
    expired,
    /// Its outcome was not reported in time.
    ack_overdue,
  };

  /// A job whose outcome is owed by a worker.
  struct owed {
    steady_time deadline;
    lane_id lane = 0;
  };

  /// A delivery of which it is known already what it came to, but whose POST is
  /// still under way.
  struct stray_post {
    lane_id lane = 0;
    job_id job;
  };

  struct watch_state {
    /// How many reads are under way.
    std::uint32_t count = 0;
    /// Whether the job has ended since the last one was begun.
    bool outdated = false;
  };

  /// What a defer means.
  struct defer_order {
    duration wait{0};
    defer_scope scope = defer_scope::queue;
  };

  // -- gates: the scheduler and explain ask the same --------------------------

  bool may_start(moment now) const {
    return may_start_with_permit(now) && (!capped_ || permits_ > 0);
  }

  bool may_start_with_permit(moment now) const;
  void explain_queue(moment now, std::vector<blocked_by>& out) const;
  void explain_lane(lane_id lane, moment now,
                    std::vector<blocked_by>& out) const;
  void explain_wait(const due_heap::entry& e, moment now,
                    std::vector<blocked_by>& out) const;

  /// Returns the ready job whose turn it is.
  std::optional<job_seq> next_up(moment now) const;
  job_seq first_of(lane_id lane) const;
  bool failed_as_probe(job_seq seq, lane_id lane) const;

  std::size_t held_jobs() const;

  // -- taking up --------------------------------------------------------------

  void take_up(const live_job& j, moment now);
  void take_up_awaiting(const live_job& j, moment now);
  void stored_update(job_seq seq);

  // -- steps of `advance` -----------------------------------------------------

  void follow_wall_clock(moment now);
  void expire(moment now, transition& out);
  void end_waits_for_ack(moment now, transition& out);
  void wake_keys(moment now, transition& out);
  void start_ready(moment now, transition& out);
  void start(resident& r, moment now, transition& out);
  void store_starts(const std::set<lane_id>& lanes, moment now,
                    transition& out);
  delivery make_delivery(const resident& r, bool probe, moment now) const;
  void settle_permits(moment now, transition& out);
  void ask_for_jobs(moment now, transition& out);
  void run_errands(moment now, transition& out);
  void run_errand(resident& r, errand what, moment now, transition& out);

  // -- what becomes of a job --------------------------------------------------

  outcome judge_reply(const delivery_reply& reply, moment now) const;
  void await_ack(resident& r, const delivery_reply& reply, moment now,
                 transition& out);
  void conclude(resident& r, const outcome& what, const defer_order& order,
                const gate::cause& why, history_entry&& entry, double lot,
                moment now, transition& out);
  void succeed(resident& r, history_entry&& entry, moment now, transition& out);
  void fail(resident& r, history_entry&& entry, double lot, moment now,
            transition& out);
  void defer(resident& r, history_entry&& entry, const defer_order& order,
             moment now, transition& out);
  void lapse(resident& r, moment now, transition& out);
  void interrupt(resident& r, moment now, transition& out);
  void wait_for(resident& r, history_entry&& entry, wait_kind what,
                duration wait, moment now, transition& out);
  void give_up(resident& r, dead_reason why,
               std::optional<history_entry>&& entry, moment now,
               transition& out);
  void end(resident& r, std::optional<history_entry>&& entry, moment now,
           transition& out);
  void update(resident& r, std::optional<history_entry>&& entry,
              transition& out);

  void fail_for_good(resident& r, history_entry&& entry, moment now,
                     transition& out);

  // -- gates ------------------------------------------------------------------

  duration bounded(duration wait) const;
  defer_scope scope_of(lane_id lane, std::optional<defer_scope> asked) const;
  void move_gates(const resident& r, const outcome& what,
                  const defer_order& order, const gate::cause& why, moment now,
                  transition& out);
  void hold_gate(duration wait, const gate::cause& why, moment now,
                 transition& out);
  void hold_key(lane_id lane, duration wait, const gate::cause& why, moment now,
                transition& out);
  void judge_probe(const outcome& what, const defer_order& order,
                   const gate::cause& why, moment now, transition& out);
  void judge_key_probe(lane_id lane, const outcome& what,
                       const defer_order& order, const gate::cause& why,
                       moment now, transition& out);
  bool is_key_probe(job_id job, std::uint64_t delivery, lane_id lane) const;
  void end_hold(moment now, transition& out);
  void end_key_hold(lane_id lane, moment now, transition& out);
  void probe_gone(job_id job, std::uint64_t delivery, lane_id lane, moment now,
                  transition& out);
  void count_success(moment now, transition& out);

  // -- slots ------------------------------------------------------------------

  void leave_slot(resident& r, moment now, transition& out);
  void free_slot(lane_id lane, moment now, transition& out);
  void post_ended(transition& out) const;
  void stray_ended(const stray_post& post, std::uint64_t number,
                   const delivery_reply& reply, moment now, transition& out);

  // -- one job ----------------------------------------------------------------

  /// Runs `decide`; what was read for it is not needed any more.
  template <class F>
  job_decision once_read(job_seq seq, const job_record* stored, F decide) {
    auto result = decide();
    if (stored)
      unwatch(seq);
    return result;
  }

  template <class F>
  job_decision change_job(job_id id, const job_record* stored, F change);
  std::variant<resident*, error, read_first> fetch(job_id id,
                                                   const job_record* stored);
  void abandon(resident& r, moment now, transition& out);
  void end_own_wait(resident& r, moment now, transition& out);
  transition revive(job j, const std::optional<payload>& edited,
                    bool background, moment now);

  // -- reports ----------------------------------------------------------------

  job_decision report_current(resident& r, const report& what, double lot,
                              moment now);
  job_decision report_stale(const resident& r, const report& what,
                            const job_record* stored, moment now);
  job_decision report_waiting(resident& r, const report& what,
                              const job_record& stored, moment now);
  job_decision report_ended(const report& what, const job_record& stored,
                            moment now);
  job_decision decide(const report& what, const job_record* stored, double lot,
                      moment now);
  transition only_hold(const report& what, const std::string& key, moment now);
  transition touch(resident& r, const report& what, moment now);
  transition late_ack(resident& r, const report& what, const job_record& stored,
                      moment now);
  transition postpone(resident& r, duration wait, moment now);

  // -- residents --------------------------------------------------------------

  std::size_t idle_residents() const;
  bool has_room(const job& j) const;
  bool has_payload(job_seq seq) const;
  void take_loaded(job&& j);
  resident& keep(job&& j);
  void forget(job_seq seq);
  void forget_if_idle(job_seq seq);
  void make_room();
  read_first watch(job_seq seq);
  bool outdated(job_seq seq) const;

  // -- accounts ---------------------------------------------------------------

  delivery_account account_of(const resident& r, const history_entry& entry,
                              moment now) const;
  void tell_account(const resident& r, const history_entry& entry, moment now,
                    transition& out) const;
  void tell_awaiting(const resident& r, const delivery_reply& reply, moment now,
                     transition& out) const;
  void tell_stray(const stray_post& post, std::uint64_t number,
                  const delivery_reply& reply, moment now,
                  transition& out) const;
  void tell_gate(delivery_account& account, lane_id lane, moment now) const;

  // -- records and events -----------------------------------------------------

  void tell(service_event&& event, transition& out) const;

  /// Stores the gate and returns the event that tells of it.
  service_event store_gate(event_kind kind, moment now, transition& out) const;
  service_event store_key_gate(lane_id lane, event_kind kind, moment now,
                               transition& out);
  void forget_key(const std::string& key, transition& out) const;
  gate_record gate_now(moment now) const;
  void store_queue(event_kind kind, moment now, transition& out);
  void revived(const revive_job& what, const commit_answer& answer, moment now,
               transition& out);

  /// Settings, name, secrets, pause; gate and rate stand in their own members.
  queue_record queue_;
  gate gate_;
  slots slots_;
  rate_window rate_;
  ramp ramp_;
  due_heap jobs_;
  limit_keys keys_;
  resident_map residents_;
  std::size_t resident_bytes_ = 0;
  /// Residents whose outcome is owed.
  std::size_t busy_residents_ = 0;
  /// Jobs that are being read because somebody asks about them.
  std::unordered_map<job_seq, watch_state> watched_;

  /// Jobs that have been asked for and have not arrived, and those of them that
  /// have been in memory and changed meanwhile: what arrives of them is old.
  std::vector<job_seq> loading_;
  std::set<job_seq> changed_while_loading_;
  std::map<job_seq, errand> errands_;

  std::unordered_map<job_seq, owed> awaiting_;
  std::set<std::pair<steady_time, job_seq>> ack_deadlines_;
  std::map<std::pair<job_seq, std::uint64_t>, stray_post> stray_posts_;

  /// Jobs that are being replayed and are not stored yet.
  std::unordered_map<job_seq, moment> reviving_;

  /// Publishes that are not stored yet.
  std::uint64_t arriving_ = 0;

  /// Whether deliveries need permits, those that are there to use, and those
  /// that have been asked for.
  bool capped_ = false;
  std::uint32_t permits_ = 0;
  std::uint32_t permits_asked_ = 0;

  queue_counters counters_;
  bool keeps_accounts_ = false;

  /// Wall clock minus steady clock when that was last looked at.
  duration clock_offset_{0};

  /// The last `advance`.
  moment advanced_at_;
};

} // namespace tidegate
