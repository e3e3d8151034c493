// What the contract says of deliveries, slots and gates, seen from outside.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/push_queue.hpp"
#include "tests/core/gate_oracle.hpp"

namespace tidegate::testing {

/// Watches everything that happens to the deliveries of a queue, by the words
/// of the contract alone, and throws `broken_rule` where one starts that must
/// not. Reads `Retry-After` in seconds only. Times are those since the
/// beginning of the test.
class witness {
public:
  /// A delivery that has a slot.
  struct course {
    job_id job;
    std::string key;
    /// Its POST is under way.
    bool posting = true;
    /// What it comes to is not known yet.
    bool owed = true;
    /// When that must be reported.
    std::optional<duration> deadline;
  };

  // -- what happens -----------------------------------------------------------

  void started(const delivery& what, const std::string& key,
               const queue_settings& settings, duration now);

  void replied(const delivery& what, const delivery_reply& reply,
               const queue_settings& settings, duration now);

  /// A worker reported the outcome that was owed.
  void reported(const report& what, const queue_settings& settings,
                duration now);

  /// A worker's defer holds and does nothing else.
  void only_held(const report& what, const std::string& key,
                 const queue_settings& settings, duration now);

  void touched(job_id job, duration wait, duration now);

  /// No outcome was reported in time.
  void lapsed(job_seq job, std::uint64_t number, const queue_settings& settings,
              duration now);

  void cancelled(job_id job);

  /// By hand.
  void held(duration wait, duration now);
  void released(duration now);
  void key_released(const std::string& key, duration now);
  void all_released(duration now);

  void settings_changed(const queue_settings& settings);

  /// The process died: what had not been answered never will be.
  void died();

  /// A key that nobody has used for an hour after its hold is forgotten.
  void forget_key(const std::string& key) {
    keys_.erase(key);
  }

  // -- what is known ----------------------------------------------------------

  const gate_oracle& gate() const {
    return gate_;
  }

  /// Those that have ever been held and are not open.
  const std::map<std::string, gate_oracle>& keys() const {
    return keys_;
  }

  bool key_is_shut(const std::string& key, duration now) const;

  /// Deliveries that have a slot, of one key if one is given.
  std::size_t flying() const {
    return courses_.size();
  }

  std::size_t flying(const std::string& key) const;

  /// Those whose outcome is known although their POST is under way.
  std::size_t strays() const;

  /// Returns the delivery of a job whose outcome is owed.
  std::optional<std::uint64_t> owed(job_id job) const;

  /// Jobs whose outcome is owed, the oldest first.
  std::vector<job_id> owed() const;

  /// Jobs that await their ack, the oldest first.
  std::vector<job_id> awaiting() const;

  bool has_overdue(duration now) const;

  std::uint32_t ramp() const {
    return ramp_;
  }

private:
  using course_map = std::map<gate_oracle::name, course>;

  course_map::iterator owed_of(job_seq job);
  void conclude(course_map::iterator i, probe_verdict verdict, duration wait,
                defer_scope scope, const queue_settings& settings,
                duration now);
  void hold(const std::string& key, duration wait, defer_scope scope,
            duration now);
  void probe_gone(const course_map::value_type& c);
  void judge_queue(probe_verdict verdict, duration wait,
                   const queue_settings& settings, duration now);
  void tidy_key(const std::string& key);

  course_map courses_;
  gate_oracle gate_;
  std::map<std::string, gate_oracle> keys_;
  std::uint32_t ramp_ = 0;
  std::uint32_t successes_ = 0;
};

} // namespace tidegate::testing
