// The jobs of a plan, one after the other.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/lots.hpp"
#include "tests/sim/plan.hpp"
#include "tidegate/job.hpp"

namespace tidegate::sim {

/// A job that is published.
struct publication {
  /// From the start of the plan.
  duration at{0};

  /// Number of its stream.
  std::size_t stream = 0;

  /// Number of its limit key, from 1; 0: it has none.
  std::uint64_t key = 0;
};

/// Returns the payload that says which job this is: `[STREAM,KEY]`.
payload to_payload(const publication& job);

/// Returns what a payload says; the instant is not in it.
/// @pre `what` comes from `to_payload`
publication from_payload(const payload& what);

/// Returns the limit key of a job, empty where it has none.
std::string limit_key_of(const plan& what, const publication& job);

/// Jobs of one stream, in order.
class stream_reader {
public:
  /// `what` outlives the reader.
  stream_reader(const stream& what, std::uint64_t seed);

  /// Returns the instant of the next job, nothing after the last one.
  std::optional<duration> peek() const {
    return next_;
  }

  /// Goes on to the next job. Returns the limit key's number of this one.
  /// @pre `peek()`
  std::uint64_t pop();

private:
  std::optional<duration> draw_next();

  const stream& what_;
  lots lots_;
  std::uint64_t done_ = 0;
  double at_ = 0;
  std::optional<duration> next_;
};

/// Jobs of all streams, in order. What one stream draws by lot does not depend
/// on the others, nor on what becomes of the jobs.
class arrivals {
public:
  /// `what` outlives the arrivals.
  arrivals(const plan& what, std::uint64_t seed);

  /// Returns the next job, nothing after the last one.
  std::optional<publication> next();

private:
  std::vector<stream_reader> streams_;
};

} // namespace tidegate::sim
