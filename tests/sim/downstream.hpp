// What the downstream of a plan says to each request.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "tests/sim/arrivals.hpp"
#include "tests/sim/lots.hpp"
#include "tests/sim/plan.hpp"
#include "tests/testkit/modelled_downstream.hpp"
#include "tidegate/transport.hpp"

namespace tidegate::sim {

/// What became of a request.
enum class fate : std::uint8_t {
  /// Taken, and answered 200.
  taken,
  /// Turned away: by an outage, the limit or the concurrency.
  refused,
  /// Taken, and answered 500 or too late.
  failed,
};

struct verdict {
  fate what = fate::taken;
  testkit::response answer;
};

/// Counts the requests of windows.
class window_counter {
public:
  explicit window_counter(const window_limit& limit) : limit_(limit) {
    // nop
  }

  /// Takes a request that begins at `now` and returns nothing, or refuses it
  /// and returns how long it would have to wait.
  std::optional<duration> take(duration now);

private:
  const window_limit& limit_;

  /// Fixed: the window that is counted, and its requests.
  std::int64_t window_ = -1;
  std::uint64_t count_ = 0;

  /// Sliding: when the requests of the last window began.
  std::deque<duration> begun_;
};

/// Refuses in this order: outage, concurrency, limit. What is refused counts
/// for neither limit nor concurrency.
class downstream_model {
public:
  /// `what` outlives the model.
  downstream_model(const downstream_plan& what, std::uint64_t seed);

  /// Judges a request that begins at `now`, counted from the start of the plan,
  /// and is given up after `timeout`.
  /// @pre not earlier than the one before
  verdict take(const publication& job, duration timeout, duration now);

private:
  const outage* outage_at(duration now);

  verdict refuse(std::uint16_t status, const retry_hint& hint, duration wait);

  /// Returns how long a request has to wait until the limit lets it in.
  std::optional<duration> ask_limit(const publication& job, duration now);

  /// The same of the concurrency.
  std::optional<duration> ask_concurrency(duration now);

  verdict answer(duration timeout, duration now);

  const downstream_plan& plan_;
  lots lots_;
  std::size_t outage_ = 0;

  /// By stream and limit key; where they share the limit there is one.
  std::map<std::pair<std::size_t, std::uint64_t>, window_counter> counters_;

  /// When the requests that were taken end.
  std::priority_queue<duration, std::vector<duration>, std::greater<>> ends_;
};

/// A downstream whose "not now" nobody hears: 429, 503 and 529 become 500, and
/// `Retry-After` is dropped. Before a queue it makes what is commonly built by
/// hand: every job retries by itself, by its backoff, and is dead when its
/// attempts are spent.
class without_backpressure : public transport {
public:
  explicit without_backpressure(std::shared_ptr<transport> inner)
    : inner_(std::move(inner)) {
    // nop
  }

  std::shared_ptr<call> post(delivery what, callback done) override;

private:
  std::shared_ptr<transport> inner_;
};

} // namespace tidegate::sim
