// What a push queue does as time passes: which job goes out when.

#include <algorithm>

#include "actors/core/push_queue.hpp"

namespace tidegate {

namespace {

/// How many jobs are asked for at once, and below how many more are asked for.
constexpr std::size_t load_count = 64;
constexpr std::size_t load_below = 32;

/// Most jobs that are being given up on at once because their time is over.
constexpr std::size_t expiring_max = 256;

/// Most permits that are asked for at once.
constexpr std::size_t permits_max = 64;

/// A step of the wall clock that is smaller is a clock being tuned.
constexpr duration step_min = std::chrono::milliseconds{1};

} // namespace

transition push_queue::advance(moment now) {
  transition out;
  advanced_at_ = now;
  follow_wall_clock(now);
  run_errands(now, out);
  // One whose ack did not come may have outlived itself meanwhile.
  end_waits_for_ack(now, out);
  expire(now, out);
  wake_keys(now, out);
  start_ready(now, out);
  settle_permits(now, out);
  ask_for_jobs(now, out);
  return out;
}

void push_queue::follow_wall_clock(moment now) {
  auto offset = now.wall.time_since_epoch() - now.steady.time_since_epoch();
  auto step = offset - clock_offset_;
  if (std::chrono::abs(step) < step_min)
    return;
  clock_offset_ = offset;
  if (jobs_.waits_for_wall_clock())
    jobs_.shift(wait_kind::run_at, -step);
}

// -- jobs whose time is over --------------------------------------------------

void push_queue::expire(moment now, transition& out) {
  while (errands_.size() < expiring_max) {
    auto seq = jobs_.first_expired(now.steady);
    if (!seq)
      return;
    jobs_.take_out(*seq);
    auto i = residents_.find(*seq);
    if (i == residents_.end())
      errands_.insert_or_assign(*seq, errand::expired);
    else
      give_up(i->second, dead_reason::lifetime_exceeded, std::nullopt, now,
              out);
  }
}

void push_queue::end_waits_for_ack(moment now, transition& out) {
  while (!ack_deadlines_.empty()
         && ack_deadlines_.begin()->first <= now.steady) {
    auto seq = ack_deadlines_.begin()->second;
    ack_deadlines_.erase(ack_deadlines_.begin());
    auto i = residents_.find(seq);
    if (i == residents_.end())
      errands_.insert_or_assign(seq, errand::ack_overdue);
    else
      lapse(i->second, now, out);
  }
}

void push_queue::run_errands(moment now, transition& out) {
  for (auto i = errands_.begin(); i != errands_.end();) {
    auto [seq, what] = *i;
    auto r = residents_.find(seq);
    if (r == residents_.end()) {
      ++i;
      continue;
    }
    i = errands_.erase(i);
    run_errand(r->second, what, now, out);
  }
}

void push_queue::run_errand(resident& r, errand what, moment now,
                            transition& out) {
  switch (what) {
    case errand::interrupted:
      interrupt(r, now, out);
      break;
    case errand::expired:
      // It may have been interrupted as well.
      interrupt(r, now, out);
      give_up(r, dead_reason::lifetime_exceeded, std::nullopt, now, out);
      break;
    case errand::ack_overdue:
      lapse(r, now, out);
      break;
  }
}

void push_queue::wake_keys(moment now, transition& out) {
  for (const auto& key : keys_.wake(jobs_, now.steady))
    forget_key(key, out);
}

// -- whose turn it is ---------------------------------------------------------

bool push_queue::failed_as_probe(job_seq seq, lane_id lane) const {
  if (gate_.failed_with(seq))
    return true;
  auto key = keys_.find(lane);
  return key && key->door.failed_with(seq);
}

job_seq push_queue::first_of(lane_id lane) const {
  auto first = jobs_.first_ready(lane);
  if (failed_as_probe(first, lane))
    return jobs_.ready_front(lane, 2).back();
  return first;
}

std::optional<job_seq> push_queue::next_up(moment now) const {
  auto lane = jobs_.first_lane();
  if (!lane)
    return std::nullopt;
  auto first = first_of(*lane);
  for (auto l = lane; l; l = jobs_.lane_after(*l)) {
    auto candidate = l == lane ? first : first_of(*l);
    if (!failed_as_probe(candidate, *l)
        && keys_.ask(*l, now.steady) != gate::answer::shut)
      return candidate;
  }
  return first;
}

void push_queue::start_ready(moment now, transition& out) {
  jobs_.mature(now.steady);
  std::set<lane_id> started;
  while (may_start(now)) {
    auto lane = jobs_.first_lane();
    if (!lane)
      break;
    if (keys_.ask(*lane, now.steady) == gate::answer::shut) {
      keys_.shut(*lane, jobs_, now.steady);
      continue;
    }
    auto next = *next_up(now);
    if (!has_payload(next))
      break;
    auto& r = residents_.at(next);
    started.insert(r.lane);
    start(r, now, out);
  }
  if (!started.empty())
    store_starts(started, now, out);
}

void push_queue::store_starts(const std::set<lane_id>& lanes, moment now,
                              transition& out) {
  if (rate_.limited())
    out.records.push_back(update_rate{queue_.id, rate_.to_record(now)});
  for (auto lane : lanes)
    if (auto key = keys_.find(lane); key && key->rate.limited())
      out.records.push_back(
        update_limit_key{queue_.id, keys_.to_store(lane, jobs_, now)});
}

// -- starting -----------------------------------------------------------------

void push_queue::start(resident& r, moment now, transition& out) {
  auto& j = r.job;
  auto probe = gate_.ask(now.steady) == gate::answer::pass_as_probe;
  auto key_probe = keys_.ask(r.lane, now.steady) == gate::answer::pass_as_probe;
  jobs_.take_out(j.id.seq);
  jobs_.end_turn(r.lane);
  slots_.take();
  rate_.count(now.steady);
  if (r.lane != 0)
    keys_.start(r.lane, queue_.settings, jobs_, now.steady);
  if (capped_)
    --permits_;
  r.in_flight = true;
  r.busy = true;
  r.probe = probe || key_probe;
  ++busy_residents_;
  r.started = now.steady;
  j.status = job_status::processing;
  j.waits_for = wait_kind::none;
  ++j.deliveries;
  // The number is a token that must never be used twice.
  if (probe || key_probe || queue_.settings.mode == delivery_mode::ack) {
    j.started_delivery = j.deliveries;
    update(r, std::nullopt, out);
  }
  if (probe) {
    gate_.start_probe(j.id, j.deliveries, now);
    auto event = store_gate(event_kind::queue_probing, now, out);
    event.job = j.id;
    tell(std::move(event), out);
  }
  if (key_probe) {
    keys_.gate_of(r.lane, queue_.settings, jobs_)
      .start_probe(j.id, j.deliveries, now);
    auto event = store_key_gate(r.lane, event_kind::queue_probing, now, out);
    event.job = j.id;
    tell(std::move(event), out);
  }
  out.effects.push_back(
    start_delivery{make_delivery(r, probe || key_probe, now)});
}

delivery push_queue::make_delivery(const resident& r, bool probe,
                                   moment now) const {
  const auto& settings = queue_.settings;
  const auto& j = r.job;
  delivery d;
  d.job = j.id;
  d.queue_name = queue_.name;
  d.payload = j.payload;
  d.attempt = j.attempts + 1;
  d.max_attempts = settings.max_attempts;
  d.defers = j.defers;
  d.number = j.deliveries;
  d.created_at = j.created_at;
  d.started_at = now.wall;
  d.url = settings.webhook_url;
  d.headers = merge_headers(j.context->headers, settings.headers);
  d.traceparent = j.context->traceparent;
  d.tracestate = j.context->tracestate;
  d.timeout = settings.timeout;
  d.tls_ca = settings.tls_ca;
  d.tls_insecure = settings.tls_insecure;
  d.secrets = {queue_.secret};
  if (!queue_.previous_secret.empty()
      && now.wall < queue_.previous_secret_until)
    d.secrets.push_back(queue_.previous_secret);
  d.probe = probe;
  return d;
}

// -- permits and loads --------------------------------------------------------

void push_queue::granted(std::uint32_t count) {
  permits_ += count;
  permits_asked_ -= std::min(permits_asked_, count);
}

void push_queue::settle_permits(moment now, transition& out) {
  if (!capped_)
    return;
  auto wanted = jobs_.first_lane().has_value() && may_start_with_permit(now);
  if (!wanted && permits_ > 0) {
    out.effects.emplace_back(leave_permits{permits_});
    permits_ = 0;
  }
  if (wanted && permits_ == 0 && permits_asked_ == 0) {
    auto count = std::min({jobs_.ready(), permits_max,
                           std::size_t{slots_.limit() - slots_.taken()}});
    permits_asked_ = static_cast<std::uint32_t>(count);
    out.effects.emplace_back(take_permits{permits_asked_});
  }
}

void push_queue::ask_for_jobs(moment now, transition& out) {
  if (!loading_.empty())
    return;
  make_room();
  for (const auto& [seq, what] : errands_)
    loading_.push_back(seq);
  auto next = next_up(now);
  auto passes = !queue_.paused && gate_.ask(now.steady) != gate::answer::shut;
  auto runs_low = idle_residents() < std::min(load_below, jobs_.ready());
  if (passes && next && (!has_payload(*next) || runs_low)) {
    // What a held queue needs is one probe.
    auto front = gate_.state() == gate_state::open
                   ? jobs_.ready_front(load_count)
                   : std::vector{*next};
    for (auto seq : front)
      if (!has_payload(seq) && !errands_.contains(seq))
        loading_.push_back(seq);
  }
  if (!loading_.empty())
    out.effects.push_back(load_jobs{loading_});
}

std::optional<steady_time> push_queue::next_wakeup() const {
  const auto& now = advanced_at_;
  std::optional<steady_time> result;
  auto at = [&result](std::optional<steady_time> when) {
    if (when && (!result || *when < *result))
      result = when;
  };
  if (errands_.size() < expiring_max)
    at(jobs_.next_expiry());
  if (!ack_deadlines_.empty())
    at(ack_deadlines_.begin()->first);
  at(keys_.next_wakeup());
  auto someone_waits = jobs_.first_lane().has_value();
  if (queue_.paused || slots_.full() || ramp_.full(slots_.taken())
      || gate_.state() == gate_state::probing)
    return result;
  // What is ready and may go now waits for the store or a permit, not for the
  // time.
  if (someone_waits && may_start_with_permit(now))
    return result;
  auto next = someone_waits ? std::optional{now.steady} : jobs_.next_due();
  if (!next)
    return result;
  if (auto release = gate_.held_until())
    next = std::max(*next, *release);
  at(std::max(*next, rate_.next_start(now.steady)));
  return result;
}

} // namespace tidegate
