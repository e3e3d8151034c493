// What happens over time, in a bounded number of spans.

#pragma once

#include <cstdint>
#include <vector>

#include "tidegate/time.hpp"

namespace tidegate::sim {

/// What happened in one span.
struct bucket {
  double deliveries = 0;
  double refused = 0;

  /// The largest number of live jobs.
  double backlog = 0;

  /// For how long the queue's gate was held, and how long a probe was out.
  /// Unit: seconds.
  double held = 0;
  double probing = 0;

  /// The same of all limit keys together, held or probing.
  double keys_shut = 0;

  /// Takes over what the following span has.
  void merge(const bucket& next);

  bool operator==(const bucket&) const = default;
};

/// Spans of the same width from the start on. When there are too many, each two
/// become one.
class timeline {
public:
  static constexpr std::size_t buckets_max = 1000;

  /// @pre `width > 0`
  explicit timeline(duration width) : width_(width) {
    // nop
  }

  duration width() const {
    return width_;
  }

  const std::vector<bucket>& buckets() const {
    return buckets_;
  }

  void count_delivery(duration at, bool refused);

  void note_backlog(duration at, std::uint64_t jobs);

  /// Adds the time from `from` to `to` to a field of the spans that it is in.
  void spread(duration from, duration to, double bucket::*field);

private:
  bucket& at(duration instant);

  void halve();

  duration width_;
  std::vector<bucket> buckets_;
};

} // namespace tidegate::sim
