#include "actors/core/gate.hpp"

#include <algorithm>

namespace tidegate {

duration probe_backoff(std::uint32_t n) {
  constexpr std::uint32_t doublings_max = 6;
  auto doublings = std::min(n - 1, doublings_max);
  return std::min(std::chrono::seconds{1u << doublings},
                  std::chrono::seconds{60});
}

gate::gate(const gate_record& stored, moment now)
  : state_(stored.state == gate_state::open ? gate_state::open
                                            : gate_state::held),
    release_(to_steady(stored.release_at, now)),
    since_(stored.since), cause_{stored.cause, stored.caused_by,
                                 stored.http_status, stored.reason},
    failed_probes_(stored.failed_probes), last_(stored.last) {
  // nop
}

gate::answer gate::ask(steady_time now) const {
  switch (state_) {
    case gate_state::open:
      return answer::pass;
    case gate_state::held:
      return now < release_ ? answer::shut : answer::pass_as_probe;
    case gate_state::probing:
      return answer::shut;
  }
  return answer::shut;
}

std::optional<steady_time> gate::held_until() const {
  if (state_ == gate_state::held)
    return release_;
  return std::nullopt;
}

bool gate::move_out(steady_time until, const cause& why) {
  if (until <= release_)
    return false;
  release_ = until;
  cause_ = why;
  return true;
}

bool gate::hold(duration wait, const cause& why, moment now) {
  auto until = after(now.steady, wait);
  if (state_ != gate_state::open) {
    auto moved = move_out(until, why);
    if (moved && state_ == gate_state::probing)
      held_again_ = now.wall;
    return moved;
  }
  state_ = gate_state::held;
  since_ = now.wall;
  release_ = until;
  cause_ = why;
  return true;
}

void gate::start_probe(job_id job, std::uint64_t delivery, moment now) {
  state_ = gate_state::probing;
  probe_ = {job, delivery, now.wall};
  held_again_.reset();
}

bool gate::is_probe(job_id job, std::uint64_t delivery) const {
  return state_ == gate_state::probing && probe_.job == job
         && probe_.delivery == delivery;
}

bool gate::failed_with(job_seq job) const {
  return failed_probes_ > 0 && last_ && last_->job.seq == job;
}

void gate::judge(probe_verdict verdict, duration wait, const cause& why,
                 moment now) {
  last_ = last_probe{probe_.job, probe_.delivery, verdict, now.wall};
  state_ = gate_state::held;
  failed_probes_ = verdict == probe_verdict::no_verdict ? failed_probes_ + 1
                                                        : 0;
  switch (verdict) {
    case probe_verdict::success:
    case probe_verdict::refused:
      if (release_ <= now.steady) {
        state_ = gate_state::open;
        cause_ = {};
      } else if (held_again_) {
        since_ = *held_again_;
      }
      break;
    case probe_verdict::deferred:
      move_out(after(now.steady, wait), why);
      break;
    case probe_verdict::no_verdict:
      move_out(after(now.steady, probe_backoff(failed_probes_)), why);
      break;
  }
}

void gate::probe_vanished() {
  if (state_ == gate_state::probing)
    state_ = gate_state::held;
}

bool gate::release(moment now) {
  if (state_ == gate_state::open || release_ <= now.steady)
    return false;
  release_ = now.steady;
  return true;
}

gate_record gate::to_record(moment now) const {
  gate_record result;
  result.state = state_;
  result.failed_probes = failed_probes_;
  result.last = last_;
  if (state_ != gate_state::open) {
    result.release_at = to_wall(release_, now);
    result.since = since_;
    result.cause = cause_.what;
    result.caused_by = cause_.job;
    result.http_status = cause_.http_status;
    result.reason = cause_.reason;
  }
  return result;
}

} // namespace tidegate
