// The JANITOR actor: removes ended jobs whose retention is over.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/environment.hpp"
#include "actors/queue_upkeep.hpp"
#include "actors/storage_protocol.hpp"

namespace tidegate {

/// Begins to look for what may be removed.
struct start_janitor {};

/// Sent to itself: the one timer has fired.
struct janitor_tick {
  std::uint64_t generation = 0;
};

using janitor_actor =
  caf::typed_actor<caf::reacts_to<start_janitor>, caf::reacts_to<janitor_tick>,
                   caf::replies_to<stand_down>::with<stood_down>>;

/// Most and fewest jobs that are removed in one go. How many it is in between
/// follows from how long the last ones took: live traffic waits for them.
inline constexpr std::size_t removal_slice_max = 256;
inline constexpr std::size_t removal_slice_min = 16;

/// A slice that took longer is followed by one half as large.
inline constexpr duration removal_time_max = std::chrono::milliseconds{25};

/// Takes one slice after the other: asks what is removable, tells each queue
/// what to remove of it, waits for all answers. What failed is tried again
/// after a pause.
class janitor_state {
public:
  explicit janitor_state(janitor_actor::pointer self);

  static inline const char* name = "tidegate.janitor";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env, queue_directory queues, duration pause);
  void handle(start_janitor);
  void handle(janitor_tick message);
  promise<stood_down> handle(stand_down);

  /// Answers everybody who still waits.
  void stop();

private:
  void begin_slice();
  void remove(const removable_jobs& found);
  void remove(queue_id queue, std::vector<job_seq> seqs);
  void fail_one();
  void count_one();
  void end_slice();
  void rest();

  janitor_actor::pointer self_;
  environment_ptr env_;
  queue_directory queues_;
  duration pause_{};
  std::size_t slice_ = removal_slice_max;
  std::uint64_t timer_generation_ = 0;
  bool standing_down_ = false;
  std::vector<promise<stood_down>> waiters_;

  // -- the slice under way ----------------------------------------------------

  bool busy_ = false;
  steady_time begun_{};

  /// Queues that have not answered, and what the others said.
  std::size_t missing_ = 0;
  std::uint64_t removed_ = 0;
  bool failed_ = false;
};

/// @param pause How long it rests when there was nothing to remove
janitor_actor::behavior_type
make_janitor(janitor_actor::stateful_pointer<janitor_state> self,
             environment_ptr env, queue_directory queues, duration pause);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_janitor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::janitor_tick)
