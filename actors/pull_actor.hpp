// The PULL QUEUE actor: owns one pull queue and carries out what it decides.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/core/pull_queue.hpp"
#include "actors/environment.hpp"
#include "actors/one_timer.hpp"
#include "actors/open_deliveries.hpp"
#include "actors/queue_commits.hpp"
#include "actors/queue_upkeep.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate {

/// These messages are stored in this queue now, and were not before. Answered
/// with `arrivals_noted`.
struct messages_arrived {
  std::vector<live_job> messages;
};

struct arrivals_noted {};

/// Messages may have been stored in this queue of which it does not know.
struct look_again {};

/// Makes a message, but does not store it: whoever asks does, together with
/// something of its own, and then says `message_stored`.
struct prepare_message {
  publish_message what;
};

struct message_prepared {
  insert_job record;
  moment made;
};

/// A prepared message has been stored. Answered with `arrivals_noted`.
struct message_stored {
  job message;
  moment made;
};

/// Asks for number and depth of the queue. Answered with `pull_queue_depth`.
struct get_depth {};

struct pull_queue_depth {
  queue_id id;
  std::uint64_t messages = 0;
};

/// What other queues and the registry say to it besides.
using pull_impl_actor =
  pull_queue_actor::extend_with<queue_upkeep>::extend_with<queue_meter>::extend<
    caf::replies_to<messages_arrived>::with<arrivals_noted>,
    caf::reacts_to<look_again>,
    caf::replies_to<prepare_message>::with<message_prepared>,
    caf::replies_to<message_stored>::with<arrivals_noted>,
    caf::replies_to<get_depth>::with<pull_queue_depth>,
    caf::replies_to<close_queue>::with<queue_deleted>,
    caf::replies_to<drain_queue>::with<queue_drained>,
    caf::reacts_to<committed>, caf::reacts_to<commit_failed>,
    caf::reacts_to<delivery_ended>, caf::reacts_to<queue_tick>,
    caf::reacts_to<attach_again>>;

/// Tells a pull queue where another one of its project is: by name or by
/// number.
struct find_pull_impl {
  std::string project;
  std::string name;
  /// Where it is not 0, this instead of the name.
  queue_id id;
  /// Makes it where there is none: as a dead-letter queue, or with defaults.
  bool make = false;
  bool dead_letters = false;
};

using pull_directory =
  caf::typed_actor<caf::replies_to<find_pull_impl>::with<pull_impl_actor>>;

/// Stores first and acts after, and is taken up anew after a commit failed, as
/// `queue_state` is.
class pull_state {
public:
  explicit pull_state(pull_impl_actor::pointer self);

  static inline const char* name = "tidegate.pull_queue";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env, pull_directory queues,
            const queue_snapshot& stored);

  promise<pull_queue_view> handle(get_pull_queue);
  promise<pull_queue_view> handle(const patch_pull_queue& request);
  promise<pull_queue_view> handle(const subscribe_webhook& request);
  promise<pull_queue_view> handle(unsubscribe_webhook);
  promise<message_published> handle(const publish_message& request);
  promise<message_batch_published> handle(const publish_messages& request);
  promise<messages_received> handle(const consume_messages& request);
  void handle(const return_messages& message);
  promise<message_settled> handle(const settle_message& request);
  promise<messages_settled> handle(const settle_messages& request);
  promise<message_page> handle(const peek_messages& request);
  promise<message_page> handle(const list_dead_messages& request);
  promise<jobs_removed> handle(purge_pull_queue);
  promise<redrive_result> handle(const redrive_messages& request);

  promise<jobs_removed> handle(const remove_ended& request);
  promise<slice_replayed> handle(const replay_slice& request);
  void handle(permits_granted message);

  arrivals_noted handle(const messages_arrived& message);
  void handle(look_again);
  caf::result<message_prepared> handle(const prepare_message& request);
  arrivals_noted handle(message_stored& message);
  caf::result<pull_queue_depth> handle(get_depth) const;
  promise<queue_deleted> handle(close_queue request);
  promise<queue_drained> handle(drain_queue);
  caf::result<queue_metrics> handle(get_queue_metrics);
  void handle(committed& message);
  void handle(const commit_failed& message);
  void handle(delivery_ended& message);
  void handle(queue_tick message);
  void handle(attach_again);

  /// Forgets everything, and answers everybody who still waits with `reason`.
  void lose_memory(const error& reason);

private:
  using commits = queue_commits<pull_effect>;
  using on_stored = commits::on_stored;
  using on_committed = commits::on_committed;
  using on_settled =
    std::function<void(std::variant<message_settled, error>&&)>;

  struct removal;
  struct redrive;
  using redrive_ptr = std::shared_ptr<redrive>;

  std::optional<error> unfit() const;
  std::optional<error> unfit_for_work() const;
  std::optional<error> cannot_publish() const;
  void run(pull_transition&& t, on_stored done = nullptr,
           on_committed on = nullptr);
  void carry_out(std::vector<pull_effect>&& effects);
  void carry_out(hand_out&& what);
  void carry_out(load_messages&& what);
  void carry_out(find_dead_letter_queue&& what);
  void carry_out(send_away&& what);
  void send_away_and_then(std::vector<pull_effect>& effects,
                          std::function<void()> then);
  void carry_out(start_delivery&& what);
  void carry_out(take_permits&& what);
  void carry_out(leave_permits&& what);
  void carry_out(emit&& what);
  void carry_out(give_account&& what);
  void advance();
  void arm_timer();
  void answer_if_drained();

  promise<pull_queue_view> refuse(const error& reason);
  promise<pull_queue_view> refuse(const std::vector<field_error>& wrong);
  promise<pull_queue_view> change(pull_transition&& t);
  void change(pull_transition&& t, promise<pull_queue_view> answer);
  void patch(const pull_settings_patch& what, promise<pull_queue_view> answer);
  void take_up(const queue_snapshot& stored);
  std::string dead_letter_queue() const;
  message_id new_id();
  std::variant<insert_job, error> make_record(const publish_message& what,
                                              moment now);
  message_published settle_publish(insert_job& inserted,
                                   const commit_answer& answer, moment made);
  void settle(const settle_message& what, on_settled done,
              const std::optional<job_record>& stored = std::nullopt);
  void read(const settle_message& what, on_settled done);
  void settle_elsewhere(const settle_message& what, on_settled done,
                        const job_record& found);
  void finish_hand_over(committed& message, const message_settled& result,
                        const pull_impl_actor& to, moment made,
                        const on_settled& done);
  void settle_with_successor(const settle_message& what, on_settled done);
  void ack_and_publish(const settle_message& what, message_prepared&& next,
                       pull_impl_actor to, on_settled done);
  void count_dead_letters(pull_queue_view view,
                          promise<pull_queue_view> answer);
  void show_messages(const std::vector<job_seq>& seqs,
                     promise<message_page> answer);
  void purge_more(std::shared_ptr<removal> r);
  void end_removal(removal& r, const std::optional<error>& failed);
  void redrive_named(const redrive_messages& request,
                     promise<redrive_result> answer);
  void redrive_all(const redrive_messages& request,
                   promise<redrive_result> answer);
  void plan_redrive(const redrive_messages& request, std::uint64_t count,
                    promise<redrive_result> answer);
  void start_redrive(const redrive_messages& request, std::uint64_t total,
                     promise<redrive_result> answer);
  void redrive_now(const redrive_messages& request,
                   promise<redrive_result> answer);
  void answer_when_moved(redrive_ptr r, promise<redrive_result> answer);
  void store_slice(operation_record progress, pull_transition&& t,
                   promise<slice_replayed> answer);
  void begin_redrive(redrive& r);
  void read_named(redrive_ptr r);
  void read_pages(redrive_ptr r, job_page_query next);
  void find_sources(redrive_ptr r);
  void move_back(redrive_ptr r);
  void fail_redrive(redrive& r, const error& reason);

  void attach();
  void start_anew(const error& reason);

  pull_impl_actor::pointer self_;
  environment_ptr env_;
  pull_directory queues_;
  std::string project_;
  std::string name_;
  queue_id id_;

  /// Empty while memory and store do not agree.
  std::optional<pull_queue> queue_;

  /// What was counted before memory was lost.
  queue_counters past_;
  std::uint64_t generation_ = 0;

  commits commits_;

  std::unordered_map<waiter_id, promise<messages_received>> waiters_;
  waiter_id next_waiter_ = 1;

  open_deliveries deliveries_;
  one_timer<queue_tick> timer_;

  bool closing_ = false;
  bool draining_ = false;
  std::vector<promise<queue_drained>> drain_waiters_;
};

pull_impl_actor::behavior_type
make_pull_queue(pull_impl_actor::stateful_pointer<pull_state> self,
                environment_ptr env, pull_directory queues,
                std::shared_ptr<const queue_snapshot> stored);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::messages_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::arrivals_noted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::look_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::prepare_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_prepared)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::message_stored)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::get_depth)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::pull_queue_depth)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::find_pull_impl)
