// The ALERTS actor: wakes an operator, through a queue like any other.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/core/alerts.hpp"
#include "actors/metrics_protocol.hpp"
#include "actors/one_timer.hpp"
#include "tidegate/alert.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Begins to tell alerts. Fails where the queue for them cannot be used at all;
/// what may pass, such as a store that is out of order, is tried again.
struct start_alerts {
  registry_actor registry;
  meter_directory queues;
};

struct alerts_started {};

/// Sent to itself: the one timer has fired.
struct alerts_tick {
  std::uint64_t generation = 0;
};

/// Also an `event_listener`.
using alerts_actor =
  caf::typed_actor<caf::reacts_to<service_event>,
                   caf::replies_to<start_alerts>::with<alerts_started>,
                   caf::reacts_to<alerts_tick>>;

/// Tells `alerts` what it hears and sees, and publishes what that says.
///
/// What was said before a restart it reads from its own queue: the idempotency
/// keys of the jobs there say it. Deaths that were not told it counts once
/// more, as far as they are dead letters: those of each queue after the last
/// alert that told of some, of a queue without one those after the time from
/// which on alerts are kept. A publish of which it is not known whether it was
/// stored is made again under the same key.
class alerts_state {
public:
  explicit alerts_state(alerts_actor::pointer self);

  static inline const char* name = "tidegate.alerts";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(std::function<moment()> now, alert_options options);

  promise<alerts_started> handle(start_alerts& request);
  void handle(const service_event& event);
  void handle(alerts_tick message);

  /// Answers who still waits.
  void stop();

private:
  /// What it knows of the queue that alerts go through.
  enum class outlet : std::uint8_t { unknown, being_opened, usable };

  /// An alert that was said before a restart.
  struct said {
    alert_mark mark;
    wall_time at{};
    wall_time since{};
  };

  /// Deaths of one queue, or of what sent its dead letters there, while they
  /// are counted.
  struct recount {
    alerts::subject where;
    std::map<alerts::subject, alerts::deaths> found{};
    job_seq before{max_48_bits};
    std::size_t pages = 0;
  };

  using recount_ptr = std::shared_ptr<recount>;

  void open_outlet();
  void find_outlet();
  void update_outlet(const queue_view& view);
  void read_past(job_seq before);
  void take_past(const job_list& page);
  void begin_recount();
  void recount_next();
  void recount_push(const recount_ptr& r);
  void recount_pull(const recount_ptr& r);
  void list_jobs_of(const recount_ptr& r, const queue_actor& queue);
  void list_messages_of(const recount_ptr& r, const pull_queue_actor& queue);
  void count_death(recount& r, alerts::deaths what,
                   alerts::subject whose) const;
  void recounted(const recount& r);
  void recount_failed(const recount& r, const caf::error& reason);
  wall_time told_until(const alerts::subject& whose) const;
  void outlet_opened();
  void outlet_failed(const caf::error& reason);

  void publish_due(moment now);
  void publish_one(alert what);

  void begin_look(moment now);
  void ask_more();
  void count_one();

  void advance();
  void arm_timer(moment now);

  alerts_actor::pointer self_;
  std::function<moment()> now_;
  alert_options options_;
  std::optional<alerts> alerts_;
  registry_actor registry_;
  meter_directory queues_;
  one_timer<alerts_tick> timer_;
  std::optional<promise<alerts_started>> starting_;

  // -- its queue --------------------------------------------------------------

  outlet outlet_ = outlet::unknown;
  queue_actor queue_;
  steady_time retry_at_{};

  /// Whether the past has been read, and what of it so far, newest first.
  bool remembers_ = false;
  std::vector<said> past_;
  std::size_t past_pages_ = 0;

  /// Alerts that are being published, and those that have to be again.
  std::size_t under_way_ = 0;
  std::vector<alert> unsent_;

  // -- deaths before the start ------------------------------------------------

  /// When deaths of a queue were told last: those since then, up to the start,
  /// are untold.
  std::map<alerts::subject, wall_time> told_;

  /// The same for a queue of which no alert is kept: an alert of before that
  /// may have been removed.
  wall_time base_{};
  wall_time started_{};

  /// Queues whose dead letters are still to be counted, and from when on, where
  /// that has failed.
  std::vector<alerts::subject> to_recount_;
  std::optional<steady_time> recount_at_;

  // -- the look that goes on --------------------------------------------------

  bool looking_ = false;
  steady_time next_look_{};

  /// When more queues are asked; nothing: when those that were have answered.
  std::optional<steady_time> next_ask_;
  std::vector<meter_list::item> meters_;
  std::size_t next_meter_ = 0;
  std::size_t missing_ = 0;
};

alerts_actor::behavior_type
make_alerts(alerts_actor::stateful_pointer<alerts_state> self,
            std::function<moment()> now, alert_options options);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_alerts)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::alerts_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::alerts_tick)
