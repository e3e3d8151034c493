// The QUEUE actor: owns one push queue and carries out what it decides.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/core/push_queue.hpp"
#include "actors/environment.hpp"
#include "actors/one_timer.hpp"
#include "actors/open_deliveries.hpp"
#include "actors/queue_commits.hpp"
#include "actors/queue_upkeep.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate {

/// Replaces all settings.
struct put_settings {
  queue_settings settings;
};

/// What the registry and the queue's helpers say to it besides.
using queue_impl_actor =
  queue_actor::extend_with<queue_upkeep>::extend_with<queue_meter>::extend<
    caf::replies_to<put_settings>::with<queue_view>,
    caf::replies_to<close_queue>::with<queue_deleted>,
    caf::replies_to<drain_queue>::with<queue_drained>,
    caf::reacts_to<committed>, caf::reacts_to<commit_failed>,
    caf::reacts_to<delivery_ended>, caf::reacts_to<queue_tick>,
    caf::reacts_to<attach_again>>;

/// Stores first and acts after: what the queue decides goes to PERSISTENCE, and
/// its effects are carried out when that has answered.
///
/// When a commit fails, what is in memory is worth nothing: callers get an
/// error, deliveries are aborted, and the queue is taken up anew as it stands
/// on stable storage, as if the process had been restarted. Everything that was
/// started before that moment carries an older generation and is not heard.
class queue_state {
public:
  explicit queue_state(queue_impl_actor::pointer self);

  static inline const char* name = "tidegate.queue";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env, const queue_snapshot& stored);

  // -- publishing -------------------------------------------------------------

  promise<publish_result> handle(publish& request);
  promise<publish_batch_result> handle(publish_batch& request);

  // -- the queue --------------------------------------------------------------

  promise<queue_view> handle(get_queue);
  promise<queue_view> handle(const patch_queue& request);
  promise<queue_view> handle(const put_settings& request);
  promise<queue_view> handle(pause_queue);
  promise<queue_view> handle(resume_queue);
  promise<queue_view> handle(const hold_queue& request);
  promise<queue_view> handle(release_queue);
  promise<queue_view> handle(rotate_secret request);
  promise<jobs_removed> handle(purge_queue request);
  promise<limit_key_list> handle(const list_limit_keys& request);
  promise<limit_key_view> handle(const release_limit_key& request);
  promise<queue_deleted> handle(close_queue request);
  promise<queue_drained> handle(drain_queue);
  caf::result<queue_metrics> handle(get_queue_metrics);

  // -- jobs -------------------------------------------------------------------

  promise<job_view> handle(const get_job& request);
  promise<job_list> handle(const list_jobs& request);
  promise<job_view> handle(const cancel_job& request);
  promise<job_view> handle(const run_job_now& request);
  promise<job_view> handle(const replay_job& request);
  promise<report_taken> handle(const ack_job& request);
  promise<report_taken> handle(const nack_job& request);
  promise<report_taken> handle(const defer_job& request);
  promise<report_taken> handle(const touch_job& request);

  // -- dead letters -----------------------------------------------------------

  promise<jobs_removed> handle(const delete_dead_letters& request);
  promise<replay_plan> handle(const replay_dead_letters& request);
  promise<slice_replayed> handle(const replay_slice& request);
  promise<jobs_removed> handle(const remove_ended& request);

  // -- what helpers say -------------------------------------------------------

  void handle(committed& message);
  void handle(const commit_failed& message);
  void handle(delivery_ended& message);
  void handle(permits_granted message);
  void handle(queue_tick message);
  void handle(attach_again);

  /// Forgets everything, and answers everybody who still waits with `reason`.
  void lose_memory(const error& reason);

private:
  using commits = queue_commits<effect>;
  using on_stored = commits::on_stored;
  using on_committed = commits::on_committed;
  using on_published =
    std::function<void(std::variant<publish_result, error>&&)>;
  using on_replay = std::function<void(transition&&, std::uint64_t)>;
  using decider = std::function<job_decision(const job_record*)>;

  struct removal;
  struct batch;
  struct slice;

  std::optional<error> unfit() const;
  std::optional<error> unfit_for_work() const;

  // -- storing and carrying out -----------------------------------------------

  void run(transition&& t, on_stored done = nullptr, on_committed on = nullptr);

  /// Makes a decision about one job, reads the job where that takes it, and
  /// calls `done` when the decision is stored.
  void settle(job_id id, decider decide, on_stored done,
              const job_record* stored = nullptr);

  template <class T>
  on_stored show(promise<T> answer, std::function<T()> what);

  promise<queue_view> change(transition&& t);
  promise<job_view> change_job(job_id id, decider decide);
  promise<report_taken> take(const report& what);
  void read(job_id id, decider decide, on_stored done);
  void carry_out(std::vector<effect>&& effects);
  void carry_out(start_delivery&& what);
  void carry_out(stop_delivery&& what);
  void carry_out(load_jobs&& what);
  void carry_out(take_permits&& what);
  void carry_out(leave_permits&& what);
  void carry_out(emit&& what);
  void carry_out(give_account&& what);
  void advance();
  void arm_timer();
  void answer_if_drained();

  // -- publishing -------------------------------------------------------------

  std::optional<error> cannot_publish() const;
  job_id new_job_id();
  publish_result settle_publish(insert_job& inserted,
                                const commit_answer& answer, moment made);
  void publish_to_full(const publish& request, on_published done);
  void finish(batch& b, committed& message);
  void fail(batch& b, const error& reason);

  // -- many jobs --------------------------------------------------------------

  void show_job(job_id id, promise<job_view> answer);
  void purge_more(std::shared_ptr<removal> r);
  void remove_more(std::shared_ptr<removal> r);
  void end_removal(removal& r, const std::optional<error>& failed);
  void plan_replay(const replay_dead_letters& request, std::uint64_t count,
                   promise<replay_plan> answer);
  void start_replay(const replay_dead_letters& request, std::uint64_t total,
                    std::uint64_t done, promise<replay_plan> answer);
  void replay_ids(const replay_dead_letters& request,
                  promise<replay_plan> answer);
  void plan_replay_of_ids(const replay_dead_letters& request,
                          promise<replay_plan> answer);
  void read_slice(std::shared_ptr<slice> s);
  void replay_read(std::shared_ptr<slice> s, on_replay decided);
  bool add_replay(const job_record& found, transition& out);
  bool reads_for_replay(job_id id);

  // -- losing and finding memory ----------------------------------------------

  void abort_deliveries();
  void attach();
  void take_up(const queue_snapshot& stored);

  queue_impl_actor::pointer self_;
  environment_ptr env_;
  std::string name_;
  queue_id id_;

  /// Empty while memory and store do not agree.
  std::optional<push_queue> queue_;

  /// What was counted before memory was lost.
  queue_counters past_;
  std::uint64_t generation_ = 0;

  commits commits_;
  open_deliveries deliveries_;
  one_timer<queue_tick> timer_;

  bool closing_ = false;
  bool draining_ = false;
  std::vector<promise<queue_drained>> drain_waiters_;
};

queue_impl_actor::behavior_type
make_queue(queue_impl_actor::stateful_pointer<queue_state> self,
           environment_ptr env, std::shared_ptr<const queue_snapshot> stored);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::put_settings)
