#include "actors/operations_actor.hpp"

#include <algorithm>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

error not_read_yet() {
  return {errc::storage_unavailable, "the operations are being recovered"};
}

error stopped() {
  return {errc::draining, "the server is stopping"};
}

} // namespace

operations_state::operations_state(operations_full_actor::pointer self)
  : self_(self) {
  // nop
}

void operations_state::open(environment_ptr env) {
  env_ = std::move(env);
}

// -- requests -----------------------------------------------------------------

auto operations_state::handle(start_operation& request)
  -> promise<operation_record> {
  auto answer = self_->make_response_promise<operation_record>();
  if (standing_down_)
    return answer.deliver(to_caf(stopped()));
  if (!agrees_)
    return answer.deliver(to_caf(not_read_yet()));
  auto& op = request.operation;
  op.id = operation_id{++last_.value};
  if (op.started_at == wall_time{})
    op.started_at = env_->now().wall;
  if (op.kind == operation_kind::dlq_replay && op.position == job_seq{})
    op.position = job_seq{max_48_bits};
  commit(std::move(op), answer);
  return answer;
}

caf::result<operation_list>
operations_state::handle(const list_operations& request) const {
  if (!loaded_)
    return to_caf(not_read_yet());
  return operation_list{book_.list(request.project)};
}

caf::result<operation_record>
operations_state::handle(const get_operation& request) const {
  auto found = find(request.project, request.id);
  if (!found)
    return to_caf(found.reason());
  return std::move(*found);
}

auto operations_state::handle(const cancel_operation& request)
  -> promise<operation_record> {
  auto answer = self_->make_response_promise<operation_record>();
  if (auto found = find(request.project, request.id); !found)
    return answer.deliver(to_caf(found.reason()));
  cancels_[request.id].push_back(answer);
  cancel_if_asked(request.id);
  return answer;
}

result<operation_record> operations_state::find(const std::string& project,
                                                operation_id id) const {
  auto e = book_.find(id);
  if (e && e->record.project == project)
    return e->record;
  if (!loaded_)
    return not_read_yet();
  return error{errc::not_found, "Operation not found"};
}

// -- agreeing with the store --------------------------------------------------

auto operations_state::handle(const start_operations& message)
  -> promise<operations_started> {
  auto answer = self_->make_response_promise<operations_started>();
  queues_ = message.queues;
  if (agrees_)
    return answer.deliver(operations_started{});
  starters_.push_back(answer);
  started_ = true;
  read_at_ = env_->now().steady;
  go_on();
  return answer;
}

void operations_state::read_stored() {
  reading_ = true;
  auto failed = [this](const caf::error& reason) {
    fail_reading(from_caf(reason));
  };
  self_->request(env_->persistence, caf::infinite, read_last_operation{})
    .then(
      [this, failed](last_operation last) {
        last_ = std::max(last_, last.id);
        self_->request(env_->browser, caf::infinite, read_operations{})
          .then([this](operations_read& stored) { take_over(stored); }, failed);
      },
      failed);
}

void operations_state::take_over(operations_read& stored) {
  reading_ = false;
  agrees_ = true;
  loaded_ = true;
  book_.take_over(std::move(stored.items), env_->now());
  answer_starters(std::nullopt);
  std::vector<operation_id> asked;
  for (auto& [id, promises] : cancels_)
    asked.push_back(id);
  for (auto id : asked)
    cancel_if_asked(id);
  go_on();
}

void operations_state::fail_reading(const error& reason) {
  reading_ = false;
  lose_agreement();
  answer_starters(reason);
  while (!cancels_.empty())
    answer_cancels(cancels_.begin()->first, reason);
  go_on();
}

void operations_state::lose_agreement() {
  agrees_ = false;
  read_at_ = after(env_->now().steady, operations_pause);
}

void operations_state::answer_starters(const std::optional<error>& reason) {
  for (auto& starter : std::exchange(starters_, {})) {
    if (reason)
      starter.deliver(to_caf(*reason));
    else
      starter.deliver(operations_started{});
  }
}

// -- one slice ----------------------------------------------------------------

void operations_state::begin(operation_id id) {
  auto& e = *book_.find(id);
  if (slice_limit(e.record) == 0) {
    commit(ended(e.record, operation_state::done, env_->now().wall));
    return;
  }
  ++e.under_way;
  ++under_way_;
  self_->request(env_->browser, caf::infinite, next_slice(e.record))
    .then([this, id](const job_page& page) { take_page(id, page); },
          [this, id](const caf::error&) { fail(id); });
}

void operations_state::take_page(operation_id id, const job_page& page) {
  auto now = env_->now();
  replay_slice what{after_slice(book_.find(id)->record, page, now.wall), {}};
  for (const auto& job : page.jobs)
    what.ids.push_back(job.id);
  if (cancels_.count(id) > 0 || standing_down_) {
    end(id);
  } else if (what.ids.empty()
             && what.progress.state == operation_state::running) {
    book_.put(std::move(what.progress), now);
    end(id);
  } else {
    // The last one goes to the queue even if it is empty: there may be no dead
    // letters because there is no queue any more.
    find_queue_for(id, std::move(what));
  }
}

void operations_state::find_queue_for(operation_id id, replay_slice what) {
  auto queue = what.progress.queue;
  self_->request(queues_, caf::infinite, find_upkeep{queue})
    .then(
      [this, id, what = std::move(what)](const queue_upkeep& owner) mutable {
        replay(id, owner, std::move(what));
      },
      [this, id](const caf::error& reason) {
        if (from_caf(reason).code != errc::queue_not_found) {
          fail(id);
          return;
        }
        commit(ended(book_.find(id)->record, operation_state::failed,
                     env_->now().wall, "the queue has been deleted"));
        end(id);
      });
}

void operations_state::replay(operation_id id, const queue_upkeep& owner,
                              replay_slice what) {
  auto jobs = what.ids.size();
  self_->request(owner, caf::infinite, std::move(what))
    .then(
      [this, id, jobs](slice_replayed& done) {
        auto now = env_->now();
        if (done.progress.state != operation_state::running)
          tell(event_kind::operation_ended, done.progress);
        book_.put(std::move(done.progress), now);
        if (auto& e = *book_.find(id); slice_limit(e.record) > 0)
          book_.pace(e, jobs, now);
        end(id);
      },
      [this, id](const caf::error&) { fail(id); });
}

void operations_state::end(operation_id id) {
  --under_way_;
  if (auto e = book_.find(id))
    --e->under_way;
  cancel_if_asked(id);
  go_on();
}

void operations_state::fail(operation_id id) {
  lose_agreement();
  end(id);
}

// -- changes of its own -------------------------------------------------------

void operations_state::cancel_if_asked(operation_id id) {
  if (cancels_.count(id) == 0)
    return;
  auto& e = *book_.find(id);
  if (e.under_way > 0)
    return;
  if (e.record.state != operation_state::running)
    answer_cancels(id, std::nullopt);
  else if (agrees_)
    commit(ended(e.record, operation_state::cancelled, env_->now().wall));
}

void operations_state::answer_cancels(operation_id id,
                                      const std::optional<error>& reason) {
  auto node = cancels_.extract(id);
  if (!node)
    return;
  for (auto& answer : node.mapped()) {
    if (reason)
      answer.deliver(to_caf(*reason));
    else
      answer.deliver(book_.find(id)->record);
  }
}

void operations_state::commit(
  operation_record after, std::optional<promise<operation_record>> starter) {
  ++under_way_;
  if (auto e = book_.find(after.id))
    ++e->under_way;
  auto what = starter ? record{insert_operation{after}}
                      : record{update_operation{after}};
  auto ticket = next_ticket_++;
  changes_.emplace(ticket, change{std::move(after), std::move(starter)});
  self_->send(env_->persistence, commit_request{{}, ticket, {std::move(what)}},
              caf::actor_cast<committer>(self_->address()));
}

void operations_state::handle(const committed& message) {
  auto node = changes_.extract(message.ticket);
  auto& [after, starter] = node.mapped();
  auto id = after.id;
  book_.put(after, env_->now());
  if (starter)
    tell(event_kind::operation_started, after);
  if (after.state != operation_state::running)
    tell(event_kind::operation_ended, after);
  if (starter) {
    ++book_.find(id)->under_way;
    starter->deliver(after);
  }
  end(id);
}

void operations_state::handle(const commit_failed& message) {
  auto node = changes_.extract(message.ticket);
  auto& [after, starter] = node.mapped();
  if (starter)
    starter->deliver(to_caf(message.reason));
  answer_cancels(after.id, message.reason);
  fail(after.id);
}

void operations_state::tell(event_kind kind, const operation_record& what) {
  if (!env_->listener)
    return;
  service_event event;
  event.kind = kind;
  event.project = what.project;
  event.queue = what.queue_name;
  event.at = env_->now().wall;
  event.operation = what;
  self_->send(env_->listener, std::move(event));
}

// -- time ---------------------------------------------------------------------

void operations_state::handle(operations_tick message) {
  if (timer_.fired(message))
    go_on();
}

void operations_state::go_on() {
  auto now = env_->now();
  book_.forget_old();
  if (under_way_ == 0)
    for (auto& waiter : std::exchange(stand_down_waiters_, {}))
      waiter.deliver(stood_down{});
  if (!agrees_) {
    if (started_ && !reading_ && under_way_ == 0 && read_at_ <= now.steady)
      read_stored();
  } else if (!standing_down_) {
    for (auto id : book_.due(now))
      begin(id);
  }
  arm_timer(now);
}

void operations_state::arm_timer(moment now) {
  std::optional<steady_time> next;
  if (agrees_ && !standing_down_)
    next = book_.next_at();
  else if (!agrees_ && started_ && !reading_ && under_way_ == 0)
    next = read_at_;
  if (next)
    timer_.arm(self_, now, *next);
}

// -- stop ---------------------------------------------------------------------

auto operations_state::handle(stand_down) -> promise<stood_down> {
  standing_down_ = true;
  stand_down_waiters_.push_back(self_->make_response_promise<stood_down>());
  auto answer = stand_down_waiters_.back();
  go_on();
  return answer;
}

void operations_state::stop() {
  for (auto& [ticket, change] : std::exchange(changes_, {}))
    if (change.starter)
      change.starter->deliver(to_caf(stopped()));
  while (!cancels_.empty())
    answer_cancels(cancels_.begin()->first, stopped());
  answer_starters(stopped());
  for (auto& waiter : std::exchange(stand_down_waiters_, {}))
    waiter.deliver(stood_down{});
}

operations_full_actor::behavior_type
make_operations(operations_full_actor::stateful_pointer<operations_state> self,
                environment_ptr env) {
  auto& state = self->state;
  state.open(std::move(env));
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.stop();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](const list_operations& x) { return state.handle(x); },
    [&state](const get_operation& x) { return state.handle(x); },
    [&state](const cancel_operation& x) { return state.handle(x); },
    [&state](start_operation& x) { return state.handle(x); },
    [&state](const start_operations& x) { return state.handle(x); },
    [&state](stand_down x) { return state.handle(x); },
    [&state](operations_tick x) { state.handle(x); },
    [&state](const committed& x) { state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
  };
}

} // namespace tidegate
