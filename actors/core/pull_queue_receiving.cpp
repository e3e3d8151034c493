// Who receives which message of a pull queue.

#include <algorithm>
#include <utility>

#include "actors/core/pull_queue.hpp"

namespace tidegate {

namespace {

/// How many messages are asked for at once.
constexpr std::size_t load_count = 64;

} // namespace

void pull_queue::wait(waiter_id id, const consume_messages& request,
                      moment now) {
  waiter w;
  w.id = id;
  w.limit = request.limit;
  w.visibility =
    request.visibility_timeout.value_or(queue_.pull.visibility_timeout);
  w.deadline = after(now.steady, request.wait);
  w.gone = request.gone;
  waiters_.push_back(std::move(w));
}

/// Returns whether what goes next has to be stored or read first.
bool pull_queue::awaits_store() const {
  if (!loading_.empty())
    return true;
  auto next = next_up(1);
  return !next.empty() && !loaded_.contains(next.front());
}

void pull_queue::drop_waiters(moment now, pull_transition& out) {
  auto may_get = !waiters_.empty() && awaits_store();
  std::erase_if(waiters_, [&](const waiter& w) {
    auto gone = w.gone && w.gone->load();
    // Who waits no longer still gets what is there.
    if (!gone && (w.deadline > now.steady || may_get))
      return false;
    out.effects.push_back(hand_out{w.id, {}});
    return true;
  });
}

void pull_queue::serve(moment now, pull_transition& out) {
  jobs_.mature(now.steady);
  groups_.wake(now.steady, jobs_);
  while (!waiters_.empty() && serve_first(now, out))
    ;
}

/// Returns the messages that go next, up to `count`: one of each group.
std::vector<job_seq> pull_queue::next_up(std::size_t count) const {
  if (!queue_.pull.fifo)
    return jobs_.ready_front(0, count);
  std::vector<job_seq> result;
  for (auto group = jobs_.first_lane(); group && result.size() < count;
       group = jobs_.lane_after(*group))
    result.push_back(jobs_.first_ready(*group));
  return result;
}

/// Asks for what will be needed next, unless that is being read already.
void pull_queue::ask_for(pull_transition& out) {
  if (!loading_.empty())
    return;
  loading_ = next_up(load_count);
  std::erase_if(loading_, [this](job_seq seq) {
    // What is not stored yet cannot be read.
    return loaded_.contains(seq) || unstored_.contains(seq);
  });
  if (!loading_.empty())
    out.effects.push_back(load_messages{loading_});
}

/// Returns whether there may be something for the next one.
bool pull_queue::serve_first(moment now, pull_transition& out) {
  const auto& w = waiters_.front();
  if (w.gone && w.gone->load()) {
    out.effects.push_back(hand_out{w.id, {}});
    waiters_.pop_front();
    return true;
  }
  auto next = next_up(w.limit);
  if (next.empty())
    return false;
  // None overtakes one that is not in memory.
  auto missing =
    std::find_if_not(next.begin(), next.end(),
                     [this](job_seq seq) { return loaded_.contains(seq); });
  if (missing != next.end())
    ask_for(out);
  next.erase(missing, next.end());
  if (next.empty())
    return false;
  hand_out effect{w.id, {}};
  for (auto seq : next)
    effect.messages.push_back(hand(*take_loaded(seq), w, now, out));
  waiters_.pop_front();
  out.effects.push_back(std::move(effect));
  return true;
}

message_view pull_queue::hand(job&& message, const waiter& to, moment now,
                              pull_transition& out) {
  auto deadline = after(now.steady, to.visibility);
  message.due = after(now.wall, to.visibility);
  deadlines_.emplace(deadline, message.id.seq);
  auto result = grant(std::move(message), deadline, now, out);
  result.handle = make_receipt({result.job.id.seq, result.job.id.tag},
                               result.job.deliveries);
  return result;
}

/// Leases a message until `deadline`, or until its delivery has ended.
message_view pull_queue::grant(job&& message,
                               std::optional<steady_time> deadline, moment now,
                               pull_transition& out) {
  auto seq = message.id.seq;
  ++message.attempts;
  ++message.deliveries;
  ++queue_.totals.received;
  message.status = job_status::awaiting_ack;
  message.waits_for = wait_kind::none;
  message.started_delivery = deadline ? 0 : message.deliveries;
  message.waits_since = now.wall;
  jobs_.take_out(seq);
  if (queue_.pull.fifo)
    groups_.shut(jobs_.find(seq)->lane, seq, jobs_);
  message_view result;
  result.job = message;
  result.queue_name = queue_.name;
  result.status = message_status::in_flight;
  message.payload = {};
  update(message, out);
  leases_.emplace(seq, lease{std::move(message), deadline});
  return result;
}

} // namespace tidegate
