// A webhook in virtual time: scripted, or with outages and a service time.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/messages.hpp"
#include "tidegate/transport.hpp"
#include "virtual_system.hpp"

namespace tidegate::testkit {

/// What the worker behind a downstream reports of a job that it took.
struct worker_report {
  callback_kind what = callback_kind::ack;

  /// From the answer to the report.
  duration after{0};

  /// `nack`: whether the job may be tried again.
  bool retryable = true;

  /// `defer`: for how long, and what is held.
  duration wait{0};
  std::optional<defer_scope> scope;
};

/// What a downstream does with one delivery.
struct response {
  response(std::uint16_t status_code = 200, std::string wait = {},
           duration until_answer = std::chrono::milliseconds{20})
    : status(status_code), retry_after(std::move(wait)), latency(until_answer) {
    // nop
  }

  /// 0: the connection breaks.
  std::uint16_t status;

  /// Value of `Retry-After`; empty: none.
  std::string retry_after;

  /// Until the answer is there.
  duration latency;

  /// What follows; empty: nothing. The death of the process takes with it what
  /// has not been reported.
  std::optional<worker_report> report;
};

/// Answers 200, and the worker reports an ack `after` that.
response acked(duration after);

/// Answers 200, and the worker reports a nack `after` that.
response nacked(duration after, bool retryable = true);

/// Answers 200, and the worker reports a defer of `wait` `after` that.
response deferred(duration after, duration wait,
                  std::optional<defer_scope> scope = {});

/// A delivery that arrived, and when.
struct arrival {
  delivery what;
  moment at;
};

/// Answers what `decide` says. Notes every delivery that arrives.
class modelled_downstream : public transport {
public:
  using decision = std::function<response(const delivery&, moment)>;
  using reporter = std::function<void(const delivery&, const worker_report&)>;

  modelled_downstream(virtual_system& system, decision decide);

  /// Changes what it does from now on.
  void behave(decision decide) {
    decide_ = std::move(decide);
  }

  const decision& behaviour() const {
    return decide_;
  }

  /// Sets who carries the workers' reports.
  void on_report(reporter tell) {
    report_ = std::move(tell);
  }

  /// Takes over what another one saw before it.
  void remember(const modelled_downstream& before);

  std::shared_ptr<call> post(delivery what, callback done) override;

  // -- what it saw ------------------------------------------------------------

  const std::vector<arrival>& arrivals() const {
    return arrivals_;
  }

  /// Deliveries that were answered with this status.
  std::uint64_t answered(std::uint16_t status) const {
    auto i = answered_.find(status);
    return i == answered_.end() ? 0 : i->second;
  }

  std::uint32_t in_flight() const {
    return in_flight_;
  }

  std::uint32_t in_flight_max() const {
    return in_flight_max_;
  }

  /// Forgets what it saw.
  void forget();

  /// Leaves everything that is under way without an answer for ever, as the
  /// death of the process does.
  void drop_all() {
    ++generation_;
    in_flight_ = 0;
  }

private:
  class exchange;

  void finish(exchange& x);
  void report_later(const delivery& what, const worker_report& said);

  virtual_system& system_;
  decision decide_;
  reporter report_;
  std::vector<arrival> arrivals_;
  std::map<std::uint16_t, std::uint64_t> answered_;
  std::uint32_t in_flight_ = 0;
  std::uint32_t in_flight_max_ = 0;
  std::uint64_t generation_ = 0;
};

/// Always answers `answer`.
modelled_downstream::decision always(response answer);

/// Answers with each of `answers` in turn, then with the last one for ever.
/// @pre `!answers.empty()`
modelled_downstream::decision in_turn(std::vector<response> answers);

/// Answers 429 with `Retry-After: retry_after` for `length` from its first
/// delivery, and `otherwise` from then on.
modelled_downstream::decision outage(duration length, std::string retry_after,
                                     response otherwise = {});

} // namespace tidegate::testkit
