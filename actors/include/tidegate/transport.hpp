// The second door to the world: how a delivery reaches its webhook.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/pull_messages.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Everything that one POST needs to know.
struct delivery {
  job_id job;
  std::string queue_name;
  tidegate::payload payload;

  /// Where a message of a pull queue is pushed: it, as receivers see it. It is
  /// the body then.
  std::shared_ptr<const message_view> message;

  /// Number of the attempt in progress, from 1.
  std::uint64_t attempt = 1;
  std::uint64_t max_attempts = 1;
  std::uint64_t defers = 0;

  /// Number of this delivery, from 1.
  std::uint64_t number = 1;

  wall_time created_at{};

  /// When this delivery was started; the timestamp that is signed.
  wall_time started_at{};

  /// Of the queue, as they were when the delivery started. The job's own
  /// headers go before those of the queue that have the same name.
  std::string url;
  std::vector<header> headers;
  duration timeout{};
  std::string tls_ca;
  bool tls_insecure = false;

  /// W3C Trace Context, as given at publish; empty: none.
  std::string traceparent;
  std::string tracestate;

  /// Secrets in force, newest first; at least one. Empty where the service
  /// makes none.
  std::vector<signing_secret> secrets;

  /// Whether this delivery tests a held queue.
  bool probe = false;
};

/// What came back, or why nothing did.
struct delivery_reply {
  /// Status of the final response, if its head arrived whole.
  std::optional<std::uint16_t> http_status;

  /// Every `Retry-After` of the response, in order.
  std::vector<std::string> retry_after;

  /// The response's `Date`; empty: none.
  std::string date;

  /// First bytes of the body as they came, at most 2048.
  std::string excerpt;

  /// `none` exactly where there is an `http_status`.
  delivery_errc error_code = delivery_errc::none;

  /// For people; empty where there is an `http_status`.
  std::string error;

  /// From the call of `post` to this reply.
  duration took{0};

  /// Where it is a failure: whether it is final, so that the job is given up on
  /// at once, whatever the queue's `permanent_failure_statuses` are.
  bool permanent = false;
};

/// Carries deliveries out: over HTTP in the server, to an actor of the host
/// with `actor_transport`. All functions may be called from any thread.
class transport {
public:
  /// Hears what came back.
  using callback = std::function<void(delivery_reply)>;

  /// A delivery under way.
  class call {
  public:
    virtual ~call() = default;

    /// Ends the delivery early. Its callback still runs, exactly once, with
    /// `delivery_errc::aborted` where no reply was there yet.
    virtual void abort() = 0;
  };

  virtual ~transport() = default;

  /// Starts one POST and returns at once. `done` runs exactly once, on any
  /// thread, possibly before `post` returns, at the latest when the delivery's
  /// `timeout` has passed.
  virtual std::shared_ptr<call> post(delivery what, callback done) = 0;
};

} // namespace tidegate
