// What an operator is woken for, and what is said then.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/pull_settings.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// The queue that alerts are delivered through, in the project
/// `default_project`. It is the one queue about which there are no alerts.
inline constexpr char alerts_queue[] = "tidegate.alerts";

/// What an alert is about.
enum class alert_cause : std::uint8_t {
  /// Jobs or messages were given up on. Those that somebody cancelled do not
  /// count.
  job_dead,
  /// The queue's gate has not been open for long. Gates of limit keys do not
  /// count, nor does a hold that has run out while nobody waits.
  queue_held,
  /// The queue has many live jobs; a pull queue: many messages that wait.
  queue_depth,
  /// The oldest live job or message was published long ago. Not of queues whose
  /// name ends with `.dlq`: what is there waits for somebody.
  queue_age,
};

/// Returns the name of the cause, e.g. `queue_held`.
const char* to_string(alert_cause cause);

/// Whether what an alert tells of goes on.
enum class alert_state : std::uint8_t {
  firing,
  /// What was told is over. Never said of `job_dead`.
  resolved,
};

/// Returns the name of the state, e.g. `firing`.
const char* to_string(alert_state state);

/// One alert.
struct alert {
  alert_cause cause = alert_cause::job_dead;
  alert_state state = alert_state::firing;
  std::string project;
  std::string queue;
  queue_kind kind = queue_kind::push;

  /// When it was decided to say this.
  wall_time at{};

  /// When it began: the first of these deaths, the moment at which the gate
  /// left open, or that at which it was noticed that a limit was passed.
  wall_time since{};

  /// When it ended: the last of these deaths, or the end of what is resolved.
  /// Of a gate that is shut: its release time, if one is known.
  std::optional<wall_time> until{};

  /// `job_dead`: how many have died since the last alert. `queue_depth`: how
  /// many there are.
  std::uint64_t count = 0;

  /// `queue_held`: for how long it has been held. `queue_age`: the age.
  duration span{0};

  /// What was passed. Unit: jobs for `queue_depth`, seconds for `queue_held`
  /// and `queue_age`; 0 for `job_dead`.
  std::uint64_t limit = 0;

  /// `job_dead`: the last one that died, and why. A message has no reason: it
  /// was received too often.
  std::optional<job_id> job{};
  dead_reason reason = dead_reason::none;

  /// It is over because there is no such queue any more.
  bool gone = false;

  bool operator==(const alert&) const = default;
};

/// Which alerts there are.
struct alert_settings {
  /// Whether deaths are told.
  bool dead = true;

  /// A gate that has not been open for so long is told; 0: it is not.
  std::chrono::seconds held{900};

  /// More jobs than so many are told; 0: they are not.
  std::uint64_t depth = 0;

  /// A job that is older is told; 0: it is not.
  std::chrono::seconds age{0};

  /// From one alert to the next of the same cause and queue at least. What goes
  /// on for longer is told again each time.
  std::chrono::seconds window{900};

  bool operator==(const alert_settings&) const = default;
};

/// What a service needs to tell alerts.
struct alert_options {
  alert_settings settings;

  /// Absolute `http` or `https` URL that alerts are POSTed to.
  std::string webhook_url;

  /// Prints an alert as the JSON value that is the job's payload. Called by an
  /// actor.
  std::function<payload(const alert&)> encode;

  /// Reads `alert::since` out of what `encode` printed before a restart;
  /// nothing where it is not there. Called by an actor. May be empty: then an
  /// alert of something that goes on for longer begins, after a restart, when
  /// it was first said.
  std::function<std::optional<wall_time>(const payload&)> read_since{};

  /// How often depths and ages are looked at.
  duration look_pause = std::chrono::seconds{10};
};

} // namespace tidegate
