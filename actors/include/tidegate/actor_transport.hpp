// Deliveries to an actor of the host: the "webhook" without HTTP.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/fwd.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "tidegate/clocks.hpp"
#include "tidegate/time.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// What a delivery came to, in the words of the actor that it went to.
struct handler_reply {
  /// The numbers are the statuses that history and metrics show.
  enum class kind : std::uint16_t {
    /// The job is done; in ack mode: it was taken.
    completed = 200,
    /// It was no good and will never be: the job is given up on at once.
    refused = 422,
    /// "Not now": the queue, or the limit key, is held. No attempt is spent.
    deferred = 429,
    /// It failed: an attempt is spent, and it is tried again with backoff.
    failed = 500,
  };

  kind what = kind::completed;

  /// `deferred`: for how long, from the arrival of the reply. Rounded up to the
  /// next millisecond; less than 0 counts as 0. None, and no `until`: 60 s.
  std::optional<duration> wait{};

  /// `deferred`, instead of `wait`: until when. One in the past means now.
  std::optional<wall_time> until{};

  /// What the history shows of it: a result, or a reason for people. The first
  /// 2048 bytes are kept.
  std::string text{};

  /// The job is done, or in ack mode taken.
  static handler_reply completed(std::string result = {}) {
    return {kind::completed, {}, {}, std::move(result)};
  }

  /// Not now, but after `wait`.
  static handler_reply deferred(duration wait, std::string reason = {}) {
    return {kind::deferred, wait, {}, std::move(reason)};
  }

  /// Not now, but from `until` on.
  static handler_reply deferred_until(wall_time until,
                                      std::string reason = {}) {
    return {kind::deferred, {}, until, std::move(reason)};
  }

  /// It failed, and may be tried again.
  static handler_reply failed(std::string reason) {
    return {kind::failed, {}, {}, std::move(reason)};
  }

  /// It failed for good.
  static handler_reply refused(std::string reason) {
    return {kind::refused, {}, {}, std::move(reason)};
  }
};

/// An actor of the host that does jobs. It gets one message for each delivery
/// and answers when it knows the outcome, at once or later with a promise. It
/// has at most as many to answer as the queues' `concurrency` allows, and may
/// delegate each to an actor of its own choice, by `delivery::queue_name` for
/// example.
///
/// An error as the answer is a failure that may be tried again. No answer
/// within `delivery::timeout` is a timeout. Nobody waits for the answer any
/// more then, nor after the job was cancelled: an actor that wants to know of
/// that monitors the sender of the message, which goes down as soon as the
/// delivery is over.
///
/// Deliveries are made at least once. `delivery::job` and `delivery::number`
/// tell one that comes again.
using job_handler =
  caf::typed_actor<caf::replies_to<delivery>::with<handler_reply>>;

/// Carries deliveries to an actor. `url`, headers and secrets of a queue are of
/// no meaning to it. All functions may be called from any thread.
///
/// When the handler dies, the deliveries that it had are failures
/// (`connection_reset`), and so is every later one (`connect_failed`), until
/// `use` names another one.
class actor_transport : public transport {
public:
  /// Spawns an actor on `system` that watches over deadlines. `now` is as in
  /// `service_options`.
  /// @pre `system` outlives it
  actor_transport(caf::actor_system& system, job_handler handler,
                  std::function<moment()> now = read_clocks);

  actor_transport(const actor_transport&) = delete;
  actor_transport& operator=(const actor_transport&) = delete;

  /// Ends what is under way with `delivery_errc::aborted`.
  ~actor_transport() override;

  /// Sends what comes from now on to `handler`.
  void use(job_handler handler);

  std::shared_ptr<call> post(delivery what, callback done) override;

private:
  struct impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::handler_reply)
