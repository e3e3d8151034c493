#include "tests/core/gate_oracle.hpp"

#include <algorithm>
#include <cmath>

#include "tests/core/broken_rule.hpp"
#include "tests/core/moments.hpp"

namespace tidegate::testing {

bool gate_oracle::started(name what, duration now) {
  if (open_)
    return false;
  must(!probe_, "while a probe is out nothing starts");
  must(now >= release_, "while held nothing starts");
  probe_ = what;
  return true;
}

void gate_oracle::judged(probe_verdict verdict, duration asked, duration now) {
  must(probe_.has_value(), "only a probe is judged");
  probe_.reset();
  auto wait = asked;
  switch (verdict) {
    case probe_verdict::success:
    case probe_verdict::refused:
      failed_probes_ = 0;
      open_ = release_ <= now;
      return;
    case probe_verdict::deferred:
      failed_probes_ = 0;
      break;
    case probe_verdict::no_verdict:
      wait = seconds(std::min(60.0, std::pow(2.0, failed_probes_++)));
  }
  release_ = std::max(release_, now + wait);
}

void gate_oracle::held(duration wait, duration now) {
  open_ = false;
  release_ = std::max(release_, now + wait);
}

void gate_oracle::released(duration now) {
  release_ = std::min(release_, now);
}

} // namespace tidegate::testing
