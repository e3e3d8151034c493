#include "tests/sim/arrivals.hpp"

#include <charconv>

namespace tidegate::sim {

payload to_payload(const publication& job) {
  return payload{"[" + std::to_string(job.stream) + ","
                 + std::to_string(job.key) + "]"};
}

publication from_payload(const payload& what) {
  publication result;
  const std::string& text = what.bytes();
  auto end = text.data() + text.size();
  auto comma = std::from_chars(text.data() + 1, end, result.stream).ptr;
  std::from_chars(comma + 1, end, result.key);
  return result;
}

std::string limit_key_of(const plan& what, const publication& job) {
  auto& from = what.streams[job.stream];
  if (from.keys < 2)
    return job.key == 0 ? std::string{} : from.name;
  return from.name + "-" + std::to_string(job.key);
}

stream_reader::stream_reader(const stream& what, std::uint64_t seed)
  : what_(what), lots_(seed), at_(to_seconds(what.from)) {
  if (what.type == stream::kind::poisson)
    at_ += lots_.exponential(1 / what.rate);
  next_ = draw_next();
}

std::optional<duration> stream_reader::draw_next() {
  switch (what_.type) {
    case stream::kind::burst: {
      auto n = done_ / what_.jobs;
      if (n == what_.times)
        return std::nullopt;
      return what_.from + what_.every * static_cast<std::int64_t>(n);
    }
    case stream::kind::trace:
      if (done_ == what_.trace.size())
        return std::nullopt;
      return what_.trace[done_];
    case stream::kind::steady:
      // A sum of many steps would drift.
      at_ = to_seconds(what_.from) + static_cast<double>(done_) / what_.rate;
      break;
    case stream::kind::poisson:
      if (done_ > 0)
        at_ += lots_.exponential(1 / what_.rate);
      break;
  }
  if (at_ >= to_seconds(what_.to))
    return std::nullopt;
  return to_duration(at_);
}

std::uint64_t stream_reader::pop() {
  ++done_;
  next_ = draw_next();
  return what_.keys == 0 ? 0 : 1 + lots_.below(what_.keys);
}

arrivals::arrivals(const plan& what, std::uint64_t seed) {
  lots seeds{seed};
  streams_.reserve(what.streams.size());
  for (auto& each : what.streams)
    streams_.emplace_back(each, seeds.bits());
}

std::optional<publication> arrivals::next() {
  std::optional<publication> result;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (auto at = streams_[i].peek(); at && (!result || *at < result->at))
      result = publication{*at, i, 0};
  if (result)
    result->key = streams_[result->stream].pop();
  return result;
}

} // namespace tidegate::sim
