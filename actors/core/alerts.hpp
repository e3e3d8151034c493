// When to wake an operator.

#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidegate/alert.hpp"
#include "tidegate/event.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Decides which alerts are due.
///
/// It is given facts: what happened, and figures of queues that somebody looks
/// at from time to time. For each cause and queue it keeps what is the case and
/// what was said of it. What is the case is told at once, then once each window
/// as long as it lasts; when it is over that is told, once, where its beginning
/// was. Something that comes and goes is so told at most once each window, and
/// at most as often that it is over.
///
/// Deaths are told together: those of the first second in one alert, those of
/// the window that follows in the next one.
///
/// A shut gate is told when it has been shut for long enough, which no fact
/// announces: `next_wakeup` does. Depths and ages are told at looks only, so
/// that what is said of them is never older than the look.
class alerts {
public:
  /// Whose alert it is.
  struct subject {
    std::string project;
    std::string queue;
    auto operator<=>(const subject&) const = default;
  };

  /// How a queue is.
  struct figures {
    queue_kind kind = queue_kind::push;

    /// See `alert_cause::queue_depth`.
    std::uint64_t depth = 0;

    std::optional<duration> oldest_age{};

    /// None: its gate is open. Else since when that has not been so, and the
    /// release time.
    std::optional<wall_time> shut_since{};
    std::optional<wall_time> held_until{};
  };

  /// Deaths that nobody was told of, of one queue.
  struct deaths {
    queue_kind kind = queue_kind::push;
    std::uint64_t count = 0;

    /// When the first and the last one died.
    wall_time since{};
    wall_time until{};

    /// The last one, and what it died of.
    std::optional<job_id> job{};
    dead_reason reason = dead_reason::none;
  };

  /// How long deaths are gathered before they are told.
  static constexpr duration gathering = std::chrono::seconds{1};

  /// Most pairs of cause and queue that are kept: about 20 MB. Facts that would
  /// make it more are passed over; `overlooked` counts them.
  static constexpr std::size_t entries_max = 50'000;

  /// @pre `settings.window > 0`
  explicit alerts(const alert_settings& settings);

  // -- facts ------------------------------------------------------------------

  /// Takes an event; one that is of no interest changes nothing.
  void happened(const service_event& event, moment now);

  /// Figures of all queues follow.
  void begin_look(moment now);

  void looked_at(const subject& whose, const figures& what, moment now);

  /// A queue is there and cannot say how it is: what is known of it stays.
  void unanswered(const subject& whose);

  /// That were all. A queue that was not among them is gone, and so is what was
  /// the case with it.
  void end_look(moment now);

  /// Takes an alert that was said before a restart, older ones first: when, and
  /// since when it was so. What it tells of is taken to be so until the next
  /// look shows how it is; nothing is said of it before.
  void remember(alert_cause cause, alert_state state, const subject& whose,
                wall_time at, wall_time since, moment now);

  /// Takes deaths from before a restart that were not told then.
  void remember_deaths(const subject& whose, const deaths& what, moment now);

  // -- alerts -----------------------------------------------------------------

  /// Returns what is to be said now, at most `max` of it. What is left is
  /// returned by the next call.
  std::vector<alert> due(moment now, std::size_t max);

  /// Returns when `due` may return something, if nothing more happens.
  std::optional<steady_time> next_wakeup() const;

  std::size_t size() const {
    return entries_.size();
  }

  std::uint64_t overlooked() const {
    return overlooked_;
  }

private:
  struct key {
    alert_cause cause;
    subject whose;
    auto operator<=>(const key&) const = default;
  };

  /// Keys stand in `entries_`.
  using turns = std::multimap<steady_time, const key*>;

  struct entry {
    queue_kind kind = queue_kind::push;

    // -- what is the case -----------------------------------------------------

    /// Whether it is the case now; of deaths: whether some are untold.
    bool on = false;

    /// Only said before a restart; neither seen nor over.
    bool assumed = false;

    wall_time since{};
    steady_time since_steady{};
    std::optional<wall_time> until{};
    std::uint64_t count = 0;
    duration span{0};
    std::optional<job_id> job{};
    dead_reason reason = dead_reason::none;

    /// It is over with its queue.
    bool gone = false;

    /// Number of the last look by which it was so.
    std::uint64_t look = 0;

    // -- what was said --------------------------------------------------------

    std::optional<steady_time> said{};

    /// Its beginning was told and its end was not.
    bool open = false;

    std::optional<turns::iterator> turn{};
  };

  using entry_map = std::map<key, entry>;

  bool watches(alert_cause cause) const;
  std::uint64_t limit_of(alert_cause cause) const;
  entry_map::iterator find_or_make(alert_cause cause, const subject& whose);
  void died(const service_event& event, moment now);
  void shut(const subject& whose, queue_kind kind, duration for_so_long,
            std::optional<wall_time> until, moment now);
  void measured(alert_cause cause, const subject& whose, const figures& what,
                bool passed, moment now);
  void over(alert_cause cause, const subject& whose, moment now);
  void over(entry_map::iterator i, moment now);
  void gone(entry_map::iterator i, moment now);
  void begin(entry& e, duration ago, moment now) const;
  std::optional<steady_time> turn_of(alert_cause cause, const entry& e,
                                     moment now) const;
  void reschedule(entry_map::iterator i, moment now);
  alert tell(entry_map::iterator i, moment now) const;

  alert_settings settings_;
  entry_map entries_;

  /// Who has to be looked after when, the first one first.
  turns turns_;

  std::uint64_t look_ = 0;
  steady_time look_begun_{};
  steady_time look_before_begun_{};
  std::uint64_t overlooked_ = 0;
};

/// What an alert leaves behind for the time after a restart.
struct alert_mark {
  alert_cause cause = alert_cause::job_dead;
  alert_state state = alert_state::firing;
  alerts::subject whose;
  bool operator==(const alert_mark&) const = default;
};

/// Returns the idempotency key of the job that tells an alert: a letter for
/// cause and state, project, queue, and the second at which it was said. Names
/// of any length that is allowed fit.
std::string to_key(const alert& what);

/// Reads what `to_key` prints; nothing where `text` is anything else.
std::optional<alert_mark> parse_alert_key(std::string_view text);

} // namespace tidegate
