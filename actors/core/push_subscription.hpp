// The webhook to which the messages of a pull queue are pushed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "actors/core/gate.hpp"
#include "actors/core/outcome.hpp"
#include "actors/core/pull_transition.hpp"
#include "actors/core/rate_window.hpp"
#include "tidegate/pull_messages.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Decides when the next message may be pushed and what an answer says about
/// the downstream: the gate, the limits and the probes of a push queue, for a
/// queue whose messages may also be received by hand. What becomes of the
/// message is the queue's to decide.
///
/// Settings and secret stand in the record of the queue, which is passed in;
/// without a URL there is no subscription.
class push_subscription {
public:
  /// `capped`: deliveries need permits.
  push_subscription(const queue_record& stored, moment now, bool capped);

  // -- settings ---------------------------------------------------------------

  /// The settings in `queue` have changed. A subscription that begins has an
  /// open gate. What is under way when one ends may finish.
  void changed(const queue_record& queue, moment now, pull_transition& out);

  /// Nothing is started any more.
  void stop(pull_transition& out);

  // -- deliveries -------------------------------------------------------------

  bool may_start(moment now) const {
    return may_start_with_permit(now) && (!capped_ || permits_ > 0);
  }

  /// Returns whether the last probe was this message's and told nothing, so
  /// that another one should have a try.
  bool failed_with(job_seq message) const {
    return gate_.failed_with(message);
  }

  /// Returns the message of a delivery that is under way.
  std::optional<job_id> post(job_seq message, std::uint64_t number) const {
    auto i = posts_.find({message, number});
    return i == posts_.end() ? std::nullopt : std::optional{i->second};
  }

  /// Returns whether this delivery is the probe that is out.
  bool is_probe(job_id message, std::uint64_t delivery) const {
    return gate_.is_probe(message, delivery);
  }

  /// Pushes a message that has been leased. @pre `may_start(now)`
  void start(const queue_record& queue, const message_view& what, moment now,
             pull_transition& out);

  /// A delivery has ended. Returns what it came to: a defer also where it was
  /// aborted. Nothing where no such delivery is under way.
  std::optional<outcome>
  ended(const queue_record& queue, job_seq message, std::uint64_t number,
        const delivery_reply& reply, moment now, pull_transition& out);

  // -- permits ----------------------------------------------------------------

  void granted(std::uint32_t count);

  /// Asks for permits where `available` messages wait, and gives back those
  /// that are not needed.
  void settle_permits(std::size_t available, moment now, pull_transition& out);

  /// Permits that are in use or not used yet.
  std::uint32_t permits_held() const {
    return capped_ ? permits_ + in_flight() : 0;
  }

  // -- time and figures -------------------------------------------------------

  /// Returns from when on the next one may start if nothing else happens;
  /// nothing where that does not depend on the time.
  std::optional<steady_time> next_start(moment now) const;

  /// Writes gate and rate into the record of the queue.
  void write(queue_record& queue, moment now) const;

  /// Deliveries since it was taken up.
  const delivery_counters& counters() const {
    return counters_;
  }

  /// For how long the gate was not open since it was taken up.
  duration held(moment now) const {
    return std::max(duration{0}, held_ + gate_.shut_for(now));
  }

  gate_state state() const {
    return gate_.state();
  }

  gate_record gate_now(moment now) const {
    return gate_.to_record(now);
  }

  std::uint32_t in_flight() const {
    return static_cast<std::uint32_t>(posts_.size());
  }

private:
  bool may_start_with_permit(moment now) const;
  void judge_probe(const queue_record& queue, const outcome& what,
                   const gate::cause& why, moment now, pull_transition& out);
  service_event store_gate(const queue_record& queue, event_kind kind,
                           moment now, pull_transition& out) const;

  bool active_ = false;
  bool stopped_ = false;
  gate gate_;
  std::uint32_t concurrency_;
  rate_window rate_;

  bool capped_ = false;
  std::uint32_t permits_ = 0;
  std::uint32_t permits_asked_ = 0;

  /// Deliveries under way, by message and number.
  std::map<std::pair<job_seq, std::uint64_t>, job_id> posts_;

  delivery_counters counters_;

  /// For how long the gate was not open, up to when it opened last.
  duration held_{0};
};

} // namespace tidegate
