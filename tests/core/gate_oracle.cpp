#include "tests/core/gate_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/core/broken_rule.hpp"
#include "tests/core/moments.hpp"

namespace tidegate::testing {

namespace {

enum class meaning { good, not_now, refused, nothing };

meaning meaning_of(const delivery_reply& reply) {
  auto status = reply.http_status.value_or(0);
  if (status == 429 || status == 503 || status == 529)
    return meaning::not_now;
  if (status / 100 == 2)
    return meaning::good;
  if (status / 100 == 4 && status != 408 && status != 425)
    return meaning::refused;
  return meaning::nothing;
}

duration asked_for(const delivery_reply& reply) {
  if (reply.retry_after.empty())
    return seconds(60);
  auto asked = std::strtod(reply.retry_after.front().c_str(), nullptr);
  return asked > to_seconds(longest_wait) ? longest_wait : seconds(asked);
}

} // namespace

void gate_oracle::started(const delivery& what, duration now) {
  if (open_) {
    must(!what.probe, "an open queue needs no probe");
    return;
  }
  must(!probe_, "while a probe is out nothing starts");
  must(now >= release_, "while held nothing starts");
  must(what.probe, "what starts at a held queue is a probe");
  probe_ = name{what.job.seq, what.number};
}

void gate_oracle::ended(const delivery& what, const delivery_reply& reply,
                        duration now) {
  auto was_probe = probe_ == name{what.job.seq, what.number};
  if (was_probe)
    probe_.reset();
  auto means = meaning_of(reply);
  if (means == meaning::not_now) {
    open_ = false;
    release_ = std::max(release_, now + asked_for(reply));
  }
  if (!was_probe)
    return;
  if (means != meaning::nothing) {
    failed_probes_ = 0;
    open_ = means != meaning::not_now && release_ <= now;
    return;
  }
  auto wait = std::min(60.0, std::pow(2.0, failed_probes_++));
  release_ = std::max(release_, now + seconds(wait));
}

void gate_oracle::released(duration now) {
  release_ = std::min(release_, now);
}

} // namespace tidegate::testing
