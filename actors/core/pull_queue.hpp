// A pull queue as a value: what happens and when it happens goes in, what to
// store and what to do comes out.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "actors/core/due_heap.hpp"
#include "actors/core/message_groups.hpp"
#include "actors/core/pull_transition.hpp"
#include "actors/core/push_subscription.hpp"
#include "tidegate/pull_messages.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// What is said of a message that was received: it is done; or refused; or the
/// message has to be read before anything can be said, and the same asked again
/// with what was read.
struct read_message {};

using settle_decision = std::variant<message_settled, error, read_message>;

/// Returns what is answered to who published it.
message_published to_published(const successor& what);

// -- the queue ----------------------------------------------------------------

/// Decides everything about one pull queue: who receives which message, when a
/// lease ends and what becomes of the message then.
///
/// A message that was received is *leased*: nobody else receives it until it
/// has been acked, nacked or given back, or the lease has run out. The count of
/// receives is stored before the message is handed out. The lease that was
/// number `max_receive_count` and ends without an ack moves the message to the
/// dead-letter queue, in one commit.
///
/// Of a fifo queue each group hands out one message at a time, in the order of
/// their numbers; all groups take turns.
///
/// A queue with a subscription pushes its messages to a webhook as well. What
/// is pushed is leased until the delivery has ended.
///
/// Every function that takes `now` must be given moments whose steady part
/// never goes back. The owner calls `advance` after every event, and when the
/// one timer fires that it arms for `next_wakeup`. Messages that only wait are
/// known by 48 bytes each and are read when they are handed out.
class pull_queue {
public:
  /// Takes up a queue as it is stored. `capped`: deliveries need permits.
  pull_queue(const queue_snapshot& stored, moment now, bool capped = false);

  /// Whether accounts are given of deliveries; if not, they cost nothing.
  void keep_accounts(bool value) {
    keeps_accounts_ = value;
  }

  // -- publishing -------------------------------------------------------------

  /// Makes a job of what is published, or says why not.
  std::variant<job, error> make_message(const publish_message& what,
                                        message_id id, moment now) const;

  /// A message that `make_message` made at `made` has been stored.
  void stored(job&& what, moment made, moment now);

  /// These have come from another queue.
  void arrived(const std::vector<live_job>& messages, moment now);

  // -- receiving --------------------------------------------------------------

  /// Somebody waits for messages. It is told by a `hand_out`.
  void wait(waiter_id waiter, const consume_messages& request, moment now);

  /// What was handed out has not reached anybody.
  pull_transition returned(const return_messages& what, moment now);

  /// Decides about a received message and adds what follows to `out`. `stored`
  /// is what was read: it may be any job, but none of another project. What is
  /// said under a receipt handle can be said again and is answered as it was
  /// the first time, as long as the message is kept and this is one of its
  /// last `history_max` answers.
  settle_decision settle(const settle_message& what,
                         const std::optional<job_record>& stored, moment now,
                         pull_transition& out);

  /// Lets `successor` be published in the same commit as the ack in `out`.
  static void add_successor(insert_job&& successor, std::string queue_name,
                            pull_transition& out);

  /// Returns whether the message is leased now, and under this handle if there
  /// is one.
  bool is_leased(const settle_message& what) const;

  // -- pushing ----------------------------------------------------------------

  /// Pushes messages to a webhook from now on. Of `settings` count URL, limits,
  /// backoff and timeout.
  pull_transition subscribe(const queue_settings& settings,
                            const signing_secret& secret, moment now);

  pull_transition unsubscribe(moment now);

  /// A delivery has ended. `lot` is drawn from [0, 1) for the jitter.
  pull_transition delivered(job_seq seq, std::uint64_t number,
                            const delivery_reply& reply, double lot,
                            moment now);

  /// Deliveries may start; see `take_permits`.
  void granted(std::uint32_t count) {
    subscription_.granted(count);
  }

  /// Permits that are in use or not used yet.
  std::uint32_t permits_held() const {
    return subscription_.permits_held();
  }

  /// Deliveries under way.
  std::uint32_t posts() const {
    return subscription_.in_flight();
  }

  // -- the store --------------------------------------------------------------

  /// These changes have been stored.
  pull_transition committed(const std::vector<record>& records,
                            const std::vector<commit_answer>& answers,
                            moment now);

  /// Messages have arrived that `load_messages` asked for. Returns false where
  /// not one came although they are here: then queue and store do not agree.
  bool loaded(std::vector<job>&& messages);

  /// The dead-letter queue has this number; none: it could not be made.
  void found_dead_letter_queue(std::optional<queue_id> id);

  // -- operators --------------------------------------------------------------

  pull_transition change_settings(const pull_settings& settings, moment now);

  /// Removes up to `count` of the messages that are not in flight.
  pull_transition purge(due_heap::idle_range& range, std::size_t count);

  /// Removes ended messages.
  pull_transition remove_ended(const std::vector<job_seq>& seqs) const;

  /// From the first of these calls to the last of the others it is noticed
  /// which messages change: what is read meanwhile may be older than they are.
  void begin_redrive();
  void end_redrive();

  /// Sends messages back to where they came from; `targets` says where each of
  /// them goes. Those that are leased, or have changed since `begin_redrive`,
  /// are passed over. @pre between `begin_redrive` and `end_redrive`
  struct redrive_target {
    job message;
    queue_id to;
  };
  pull_transition redrive(const std::vector<redrive_target>& targets,
                          moment now);

  /// Nobody is given anything any more.
  pull_transition stop();

  /// Messages that would be received next.
  std::vector<job_seq> next_messages(std::size_t count, moment now);

  // -- time -------------------------------------------------------------------

  /// Ends leases, removes what has waited too long, hands out what is there.
  pull_transition advance(moment now);

  /// Returns when `advance` has something to do if nothing else happens. What
  /// has come due since the last `advance` is due at once.
  std::optional<steady_time> next_wakeup() const;

  /// Returns an event of this queue, without details.
  service_event make_event(event_kind kind, moment now) const;

  // -- figures ----------------------------------------------------------------

  pull_queue_view view(moment now);

  /// Without name and project.
  queue_metrics metrics(moment now);

  /// What has happened since it was taken up.
  queue_counters counters(moment now) const;

  message_view view(job&& stored, moment now) const;

  const queue_record& record_now() const {
    return queue_;
  }

  std::size_t live_messages() const {
    return jobs_.size();
  }

  /// Groups that have messages.
  std::size_t groups() const {
    return jobs_.keyed_lanes();
  }

  bool is_live(job_seq seq) const {
    return jobs_.find(seq).has_value();
  }

private:
  /// A message that is leased, and until when.
  struct lease {
    /// Without its payload.
    job message;
    /// None: it is pushed, and ends with its delivery.
    std::optional<steady_time> deadline;
  };

  /// A message that goes to the dead-letter queue, without its payload.
  struct leaving_message {
    job message;
    /// Is stored with the move.
    std::optional<history_entry> entry;
  };

  struct waiter {
    waiter_id id = 0;
    std::size_t limit = 1;
    duration visibility{0};
    steady_time deadline;
    gone_flag gone;
  };

  due_heap::entry to_entry(const live_job& m, moment now) const;
  std::optional<error> check_group(const publish_message& what) const;
  void take_up(const live_job& m, moment now);
  static void send(queue_id to, live_job&& message, pull_transition& out);
  void come_back(const move_message& what, moment now, pull_transition& out);

  // -- steps of `advance` -----------------------------------------------------

  void end_leases(moment now, pull_transition& out);
  void send_leaving(moment now, pull_transition& out);
  void give_back_interrupted(moment now, pull_transition& out);
  void retire(moment now, pull_transition& out);
  bool awaits_store() const;
  void drop_waiters(moment now, pull_transition& out);
  void serve(moment now, pull_transition& out);
  bool serve_first(moment now, pull_transition& out);
  void push_out(moment now, pull_transition& out);
  void conclude(job_seq seq, const outcome& what, double lot, moment now,
                delivery_account& account, pull_transition& out);
  void tell_account(delivery_account&& account, moment now,
                    pull_transition& out) const;
  std::optional<job_seq> next_to_push() const;
  std::optional<steady_time> next_push() const;
  std::vector<job_seq> next_up(std::size_t count) const;
  void ask_for(pull_transition& out);
  message_view grant(job&& message, std::optional<steady_time> deadline,
                     moment now, pull_transition& out);
  message_view hand(job&& message, const waiter& to, moment now,
                    pull_transition& out);

  // -- what becomes of a lease ------------------------------------------------

  message_settled settle_lease(const settle_message& what, lease& l, moment now,
                               pull_transition& out);
  settle_decision settle_other(const settle_message& what,
                               const std::optional<job_record>& stored) const;
  void ack(job_seq seq, moment now, pull_transition& out);
  wall_time end_lease(job_seq seq, duration wait, moment now,
                      const std::optional<history_entry>& entry,
                      pull_transition& out);
  void give_back(job_seq seq, moment now,
                 const std::optional<history_entry>& entry,
                 pull_transition& out);
  wall_time extend(job_seq seq, duration wait, moment now,
                   pull_transition& out);
  job take_lease(job_seq seq);
  void make_available(job&& message, steady_time due, moment now,
                      const std::optional<history_entry>& entry,
                      pull_transition& out);
  void give_up(leaving_message&& what, moment now, pull_transition& out);
  void move_to(queue_id to, leaving_message&& what, moment now,
               pull_transition& out);
  bool is_spent(const job& message) const;

  // -- memory and records -----------------------------------------------------

  bool has_room(const job& message) const;
  void keep(job&& message);
  std::optional<job> take_loaded(job_seq seq);
  void update(const job& message, pull_transition& out,
              const std::optional<history_entry>& entry = std::nullopt);
  void store_totals(pull_transition& out) const;
  void forget(job_seq seq);

  queue_record queue_;
  due_heap jobs_;
  std::unordered_map<job_seq, lease> leases_;
  std::set<std::pair<steady_time, job_seq>> deadlines_;
  message_groups groups_;
  push_subscription subscription_;
  queue_counters counters_;
  bool keeps_accounts_ = false;

  /// Messages that were being pushed when the process died.
  std::vector<job_seq> interrupted_;

  /// How many changes of a message are not stored yet.
  std::unordered_map<job_seq, std::uint32_t> unstored_;

  /// Messages in memory, to be handed out.
  std::unordered_map<job_seq, job> loaded_;
  std::size_t loaded_bytes_ = 0;
  /// Messages that have been asked for and have not arrived, and those of them
  /// that have changed since: what arrives of these is not believed.
  std::vector<job_seq> loading_;
  std::unordered_set<job_seq> changed_while_loading_;

  std::deque<waiter> waiters_;

  /// Redrives that read, and messages that have changed since.
  std::size_t redrives_ = 0;
  std::unordered_set<job_seq> changed_;

  /// The dead-letter queue, as far as it is known, and whether it is asked for.
  std::optional<queue_id> dead_letters_;
  bool asked_for_dead_letters_ = false;
  std::vector<leaving_message> leaving_;

  /// The last `advance`.
  moment advanced_at_;
};

} // namespace tidegate
