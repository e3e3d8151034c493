// The OPERATIONS actor: drives what takes long, slice by slice.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/environment.hpp"
#include "actors/one_timer.hpp"
#include "actors/operation_book.hpp"
#include "actors/queue_upkeep.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate {

/// Reads what is stored and goes on with what runs; answered when that has been
/// read, or with the reason why it could not. It goes on trying by itself.
struct start_operations {
  queue_directory queues;
};

struct operations_started {};

/// Sent to itself: the one timer has fired.
struct operations_tick {
  std::uint64_t generation = 0;
};

using operations_full_actor = operations_impl_actor::extend<
  caf::replies_to<start_operations>::with<operations_started>,
  caf::replies_to<stand_down>::with<stood_down>,
  caf::reacts_to<operations_tick>, caf::reacts_to<committed>,
  caf::reacts_to<commit_failed>>;

/// Pause after a failure before it reads again what is stored.
inline constexpr duration operations_pause = std::chrono::seconds{1};

/// What is known of an operation is what is stored of it. A slice is a page of
/// dead letters and the progress that it makes; the queue commits both at once,
/// so that a crash neither repeats a slice nor skips one. After any failure
/// nothing new begins until the store has been asked what it has.
class operations_state {
public:
  explicit operations_state(operations_full_actor::pointer self);

  static inline const char* name = "tidegate.operations";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env);

  promise<operations_started> handle(const start_operations& message);
  promise<stood_down> handle(stand_down);
  promise<operation_record> handle(start_operation& request);
  caf::result<operation_list> handle(const list_operations& request) const;
  caf::result<operation_record> handle(const get_operation& request) const;
  promise<operation_record> handle(const cancel_operation& request);
  void handle(operations_tick message);
  void handle(const committed& message);
  void handle(const commit_failed& message);

  /// Answers everybody who still waits.
  void stop();

private:
  /// A change that waits for its commit.
  struct change {
    operation_record after;
    /// Who started the operation, where that is the change.
    std::optional<promise<operation_record>> starter;
  };

  result<operation_record> find(const std::string& project,
                                operation_id id) const;

  // -- agreeing with the store ------------------------------------------------

  void read_stored();
  void take_over(operations_read& stored);
  void fail_reading(const error& reason);
  void lose_agreement();
  void answer_starters(const std::optional<error>& reason);

  // -- one slice --------------------------------------------------------------

  void begin(operation_id id);
  void take_page(operation_id id, const job_page& page);
  void find_queue_for(operation_id id, replay_slice what);
  void replay(operation_id id, const queue_upkeep& owner, replay_slice what);

  /// Nothing of the operation is under way any more.
  void end(operation_id id);

  /// The same, and what is stored is not known.
  void fail(operation_id id);

  // -- changes of its own -----------------------------------------------------

  /// Cancels the operation where that has been asked for and nothing of it is
  /// under way.
  void cancel_if_asked(operation_id id);
  void answer_cancels(operation_id id, const std::optional<error>& reason);
  void commit(operation_record after,
              std::optional<promise<operation_record>> starter = std::nullopt);

  void tell(event_kind kind, const operation_record& what);

  void go_on();
  void arm_timer(moment now);

  operations_full_actor::pointer self_;
  environment_ptr env_;
  queue_directory queues_;
  operation_book book_;
  operation_id last_;

  /// Whether it may ask the store, and whether it has had an answer.
  bool started_ = false;
  bool loaded_ = false;

  /// Whether nothing has failed since the store was read.
  bool agrees_ = false;
  bool reading_ = false;
  bool standing_down_ = false;

  /// When the store is asked next, while it does not agree.
  steady_time read_at_{};

  /// Slices and changes under way.
  std::size_t under_way_ = 0;

  std::unordered_map<std::uint64_t, change> changes_;
  std::uint64_t next_ticket_ = 1;
  std::map<operation_id, std::vector<promise<operation_record>>> cancels_;
  std::vector<promise<operations_started>> starters_;
  std::vector<promise<stood_down>> stand_down_waiters_;

  one_timer<operations_tick> timer_;
};

operations_full_actor::behavior_type
make_operations(operations_full_actor::stateful_pointer<operations_state> self,
                environment_ptr env);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_operations)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::operations_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::operations_tick)
