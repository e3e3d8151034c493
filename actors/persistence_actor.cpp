#include "actors/persistence_actor.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "tidegate/protocol.hpp"

namespace tidegate {

namespace {

/// A batch that is larger than this is committed without waiting for more.
constexpr std::size_t batch_records_max = 8192;

/// What changes of no queue name as theirs. Nobody has in memory what such a
/// change builds on, so nobody has to attach before the next one.
constexpr queue_id no_queue{0};

/// Returns the queues to which records bring messages of another one.
std::vector<queue_id> queues_reached(std::span<const record> records) {
  std::vector<queue_id> result;
  for (const auto& r : records) {
    if (auto move = std::get_if<move_message>(&r))
      result.push_back(move->to);
    else if (auto over = std::get_if<hand_over>(&r);
             over && over->next.job.id.queue != over->message.id.queue)
      result.push_back(over->next.job.id.queue);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace

persistence_state::persistence_state(persistence_actor::pointer self)
  : self_(self) {
  // nop
}

void persistence_state::open(std::unique_ptr<store> door,
                             std::function<moment()> now,
                             event_listener listener,
                             std::shared_ptr<commit_counters> counters) {
  store_ = std::move(door);
  now_ = std::move(now);
  listener_ = std::move(listener);
  counters_ = std::move(counters);
}

void persistence_state::add(commit_request request, committer sender) {
  waiting w{std::move(sender), request.queue, request.ticket,
            request.records.size()};
  if (lost_.count(w.queue) > 0) {
    refuse(w, {errc::storage_unavailable, "an earlier change was not stored"});
    return;
  }
  if (waiting_.empty())
    self_->send(self_, flush{});
  waiting_.push_back(std::move(w));
  batch_.insert(batch_.end(), std::make_move_iterator(request.records.begin()),
                std::make_move_iterator(request.records.end()));
  if (batch_.size() >= batch_records_max)
    commit();
}

void persistence_state::commit() {
  if (waiting_.empty())
    return;
  if (auto reason = mend()) {
    fail(*reason);
    return;
  }
  auto began = now_().steady;
  auto answers = store_->commit(batch_);
  if (!answers) {
    fail(answers.reason());
    return;
  }
  counters_->count(batch_.size(), now_().steady - began);
  outdate_snapshots();
  auto record = std::make_move_iterator(batch_.begin());
  auto answer = std::make_move_iterator(answers->begin());
  for (auto& w : waiting_) {
    auto n = static_cast<std::ptrdiff_t>(w.records);
    self_->send(w.sender, committed{w.ticket,
                                    {record, record + n},
                                    {answer, answer + n}});
    record += n;
    answer += n;
  }
  waiting_.clear();
  batch_.clear();
}

/// What has just been committed may have brought messages to queues that have
/// not attached yet.
void persistence_state::outdate_snapshots() {
  if (lost_.empty())
    return;
  for (auto queue : queues_reached(batch_))
    if (auto l = lost_.find(queue); l != lost_.end())
      l->second.reset();
}

void persistence_state::refuse(const waiting& w, const error& reason,
                               std::vector<queue_id> reached) {
  self_->send(w.sender, commit_failed{w.ticket, reason, std::move(reached)});
}

void persistence_state::fail(const error& reason) {
  counters_->count_failure();
  if (!broken_)
    tell(event_kind::store_failed, reason.message);
  broken_ = true;
  std::span<const record> left = batch_;
  for (const auto& w : waiting_) {
    if (w.queue != no_queue)
      lost_[w.queue] = std::nullopt;
    refuse(w, reason, queues_reached(left.first(w.records)));
    left = left.subspan(w.records);
  }
  waiting_.clear();
  batch_.clear();
}

std::optional<error> persistence_state::mend() {
  if (!broken_)
    return std::nullopt;
  if (auto reason = store_->reopen())
    return reason;
  broken_ = false;
  tell(event_kind::store_recovered, {});
  return std::nullopt;
}

void persistence_state::tell(event_kind kind, const std::string& detail) {
  if (!listener_)
    return;
  service_event event;
  event.kind = kind;
  event.at = now_().wall;
  event.detail = detail;
  self_->send(listener_, std::move(event));
}

caf::result<queue_snapshot> persistence_state::attach(queue_id queue) {
  commit();
  if (auto reason = mend())
    return to_caf(*reason);
  auto i = lost_.find(queue);
  if (i == lost_.end() || !i->second) {
    // One scan serves every queue that is lost: none of them can have written
    // since, and what others wrote into them outdates it.
    auto stored = store_->load_queues();
    if (!stored)
      return to_caf(stored.reason());
    lost_.try_emplace(queue);
    for (auto& q : *stored)
      if (auto l = lost_.find(q.queue.id); l != lost_.end())
        l->second = std::move(q);
    i = lost_.find(queue);
  }
  auto snapshot = std::move(i->second);
  lost_.erase(i);
  if (!snapshot)
    return to_caf({errc::queue_not_found, "the queue is not stored"});
  return std::move(*snapshot);
}

caf::result<stored_queues> persistence_state::load() {
  auto queues = store_->load_queues();
  if (!queues)
    return to_caf(queues.reason());
  auto job = store_->last_job_seq();
  if (!job)
    return to_caf(job.reason());
  auto queue = store_->last_queue_id();
  if (!queue)
    return to_caf(queue.reason());
  return stored_queues{std::move(*queues), *job, *queue};
}

caf::result<store_usable> persistence_state::check() {
  if (auto reason = mend())
    return to_caf(*reason);
  return store_usable{};
}

caf::result<last_operation> persistence_state::find_last_operation() {
  if (auto reason = mend())
    return to_caf(*reason);
  auto id = store_->last_operation_id();
  if (!id)
    return to_caf(id.reason());
  return last_operation{*id};
}

persistence_actor::behavior_type
make_persistence(persistence_actor::stateful_pointer<persistence_state> self,
                 std::shared_ptr<std::unique_ptr<store>> door,
                 std::function<moment()> now, event_listener listener,
                 std::shared_ptr<commit_counters> counters) {
  auto& state = self->state;
  state.open(std::move(*door), std::move(now), std::move(listener),
             std::move(counters));
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.commit();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](commit_request& request, committer& sender) {
      state.add(std::move(request), std::move(sender));
    },
    [&state](flush) { state.commit(); },
    [&state](attach_queue request) { return state.attach(request.queue); },
    [&state](load_queues) { return state.load(); },
    [&state](check_store) { return state.check(); },
    [&state](read_last_operation) { return state.find_last_operation(); },
  };
}

} // namespace tidegate
