#include "actors/pull_actor.hpp"

#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

error gone() {
  return {errc::queue_not_found, "the queue has been deleted"};
}

} // namespace

pull_state::pull_state(pull_impl_actor::pointer self) : self_(self) {
  // nop
}

void pull_state::open(environment_ptr env, pull_directory queues,
                      const queue_snapshot& stored) {
  env_ = std::move(env);
  queues_ = std::move(queues);
  project_ = stored.queue.project;
  name_ = stored.queue.name;
  id_ = stored.queue.id;
  take_up(stored);
}

void pull_state::take_up(const queue_snapshot& stored) {
  queue_.emplace(stored, env_->now(), bool{env_->permits});
  queue_->keep_accounts(bool{env_->on_delivery});
  if (draining_)
    run(queue_->stop());
  advance();
}

// -- the queue ----------------------------------------------------------------

std::optional<error> pull_state::unfit() const {
  if (closing_)
    return gone();
  if (!queue_)
    return error{errc::storage_unavailable, "the queue is being recovered"};
  return std::nullopt;
}

std::optional<error> pull_state::unfit_for_work() const {
  if (draining_ && !closing_)
    return error{errc::draining, "the server is stopping"};
  return unfit();
}

std::string pull_state::dead_letter_queue() const {
  const auto& named = queue_->record_now().pull.dead_letter_queue;
  return named.empty() ? name_ + ".dlq" : named;
}

auto pull_state::handle(get_pull_queue) -> promise<pull_queue_view> {
  auto answer = self_->make_response_promise<pull_queue_view>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  commits_.when_stored([this, answer, view = queue_->view(env_->now())](
                         const auto& failed) mutable {
    if (failed)
      answer.deliver(to_caf(*failed));
    else
      count_dead_letters(std::move(view), answer);
  });
  return answer;
}

/// Adds what the dead-letter queue holds, if there is one.
void pull_state::count_dead_letters(pull_queue_view view,
                                    promise<pull_queue_view> answer) {
  if (!queue_) {
    answer.deliver(to_caf(unfit().value_or(gone())));
    return;
  }
  self_
    ->request(queues_, caf::infinite,
              find_pull_impl{project_, dead_letter_queue(), {}, false, false})
    .then(
      [this, view, answer](const pull_impl_actor& other) mutable {
        if (other == self_) {
          answer.deliver(std::move(view));
          return;
        }
        self_->request(other, caf::infinite, get_depth{})
          .then(
            [view, answer](pull_queue_depth depth) mutable {
              view.dead_letters = depth.messages;
              answer.deliver(std::move(view));
            },
            [view, answer](const caf::error&) mutable {
              answer.deliver(std::move(view));
            });
      },
      [view, answer](const caf::error&) mutable {
        answer.deliver(std::move(view));
      });
}

caf::result<pull_queue_depth> pull_state::handle(get_depth) const {
  if (auto reason = unfit())
    return to_caf(*reason);
  return pull_queue_depth{id_, queue_->live_messages()};
}

caf::result<queue_metrics> pull_state::handle(get_queue_metrics) {
  if (auto reason = unfit())
    return to_caf(*reason);
  auto result = queue_->metrics(env_->now());
  result.counters.add(past_);
  return result;
}

auto pull_state::handle(const patch_pull_queue& request)
  -> promise<pull_queue_view> {
  auto answer = self_->make_response_promise<pull_queue_view>();
  const auto& dead_letters = request.patch.dead_letter_queue;
  if (!dead_letters || dead_letters->empty()) {
    patch(request.patch, answer);
    return answer;
  }
  // It may not be there yet, but it may be none of another kind.
  self_
    ->request(queues_, caf::infinite,
              find_pull_impl{project_, *dead_letters, {}, false, false})
    .then([this, answer, what = request.patch](
            const pull_impl_actor&) { patch(what, answer); },
          [this, answer, what = request.patch](const caf::error& why) mutable {
            if (from_caf(why).code == errc::wrong_queue_kind)
              answer.deliver(why);
            else
              patch(what, answer);
          });
  return answer;
}

void pull_state::patch(const pull_settings_patch& what,
                       promise<pull_queue_view> answer) {
  if (auto reason = unfit_for_work()) {
    answer.deliver(to_caf(*reason));
    return;
  }
  auto settings = apply(queue_->record_now().pull, what);
  auto wrong = validate(settings);
  if (auto reason = validate_dead_letters(name_, settings))
    wrong.push_back(std::move(*reason));
  if (wrong.empty())
    change(queue_->change_settings(settings, env_->now()), answer);
  else
    answer.deliver(to_caf(to_error(wrong.front())));
}

auto pull_state::refuse(const std::vector<field_error>& wrong)
  -> promise<pull_queue_view> {
  return refuse(to_error(wrong.front()));
}

auto pull_state::refuse(const error& reason) -> promise<pull_queue_view> {
  auto answer = self_->make_response_promise<pull_queue_view>();
  return answer.deliver(to_caf(reason));
}

/// Answers with the queue as it is then. @pre no promise has been made yet
auto pull_state::change(pull_transition&& t) -> promise<pull_queue_view> {
  auto answer = self_->make_response_promise<pull_queue_view>();
  change(std::move(t), answer);
  return answer;
}

void pull_state::change(pull_transition&& t, promise<pull_queue_view> answer) {
  run(std::move(t), [this, answer](const auto& failed) mutable {
    if (failed)
      answer.deliver(to_caf(*failed));
    else
      count_dead_letters(queue_->view(env_->now()), answer);
  });
  advance();
}

auto pull_state::handle(close_queue request) -> promise<queue_deleted> {
  auto answer = self_->make_response_promise<queue_deleted>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  if (auto live = queue_->live_messages(); live > 0 && !request.force)
    return answer.deliver(
      to_caf({errc::queue_not_empty,
              "Queue '" + name_ + "' has " + std::to_string(live)
                + (live == 1 ? " message" : " messages")}));
  closing_ = true;
  ++generation_;
  deliveries_.abort_all(self_);
  pull_transition t;
  t.records.push_back(remove_queue{id_});
  run(std::move(t), [this, answer](const auto& failed) mutable {
    closing_ = false;
    if (failed) {
      answer.deliver(to_caf(*failed));
      return;
    }
    answer.deliver(queue_deleted{});
    lose_memory(gone());
    self_->quit();
  });
  return answer;
}

auto pull_state::handle(drain_queue) -> promise<queue_drained> {
  draining_ = true;
  drain_waiters_.push_back(self_->make_response_promise<queue_drained>());
  auto answer = drain_waiters_.back();
  // Nobody is given anything more, so nobody has to wait.
  for (auto& [id, waiter] : std::exchange(waiters_, {}))
    waiter.deliver(messages_received{});
  if (queue_)
    run(queue_->stop());
  answer_if_drained();
  return answer;
}

// -- receiving ----------------------------------------------------------------

auto pull_state::handle(const consume_messages& request)
  -> promise<messages_received> {
  auto answer = self_->make_response_promise<messages_received>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  if (draining_)
    return answer.deliver(messages_received{});
  auto id = next_waiter_++;
  waiters_.emplace(id, answer);
  queue_->wait(id, request, env_->now());
  advance();
  return answer;
}

void pull_state::handle(const return_messages& message) {
  if (!queue_)
    return;
  run(queue_->returned(message, env_->now()));
  advance();
}

void pull_state::carry_out(hand_out&& what) {
  auto node = waiters_.extract(what.waiter);
  if (node)
    node.mapped().deliver(messages_received{std::move(what.messages)});
}

void pull_state::carry_out(load_messages&& what) {
  auto lost = [this, generation = generation_](const error& reason) {
    if (generation != generation_)
      return;
    start_anew(reason);
  };
  self_
    ->request(env_->reader, caf::infinite, read_jobs{id_, std::move(what.seqs)})
    .then(
      [this, lost, generation = generation_](jobs_read& found) {
        if (generation != generation_ || !queue_)
          return;
        if (queue_->loaded(std::move(found.jobs)))
          advance();
        else
          lost(
            {errc::storage_unavailable, "messages are missing from the store"});
      },
      [lost](const caf::error& reason) { lost(from_caf(reason)); });
}

// -- what persistence says ----------------------------------------------------

void pull_state::handle(committed& message) {
  auto what = commits_.take(*env_, message);
  if (!what)
    return;
  auto after = queue_->committed(message.records, message.answers, env_->now());
  if (what->committed)
    what->committed(message);
  // Nobody is told before the other queues know.
  send_away_and_then(after.effects, [this, all = std::move(what->done),
                                     generation = generation_] {
    auto lost = generation != generation_ || !queue_;
    for (const auto& done : all)
      done(lost ? std::optional{unfit().value_or(gone())} : std::nullopt);
  });
  run(std::move(after));
  carry_out(std::move(what->effects));
  if (queue_)
    advance();
}

void pull_state::handle(const commit_failed& message) {
  if (!commits_.is_hit_by(message))
    return;
  start_anew(message.reason);
  for (auto queue : message.reached)
    self_
      ->request(queues_, caf::infinite,
                find_pull_impl{project_, {}, queue, false, false})
      .then(
        [this](const pull_impl_actor& other) {
          self_->send(other, look_again{});
        },
        [](const caf::error&) {
          // It is gone.
        });
}

void pull_state::start_anew(const error& reason) {
  lose_memory(reason);
  attach();
}

void pull_state::run(pull_transition&& t, on_stored done, on_committed on) {
  if (t.records.empty()) {
    carry_out(std::move(t.effects));
    if (done)
      commits_.when_stored(std::move(done));
    return;
  }
  commits::entry what{std::move(t.effects), std::move(on), {}};
  if (done)
    what.done.push_back(std::move(done));
  commits_.send(self_, *env_, id_, std::move(t.records), std::move(what));
}

void pull_state::carry_out(std::vector<pull_effect>&& effects) {
  for (auto& e : effects)
    std::visit([this](auto& what) { carry_out(std::move(what)); }, e);
}

// -- time ---------------------------------------------------------------------

void pull_state::handle(queue_tick message) {
  if (timer_.fired(message) && queue_)
    advance();
}

void pull_state::advance() {
  if (closing_ || !queue_)
    return;
  run(queue_->advance(env_->now()));
  arm_timer();
  answer_if_drained();
}

void pull_state::arm_timer() {
  if (auto next = queue_->next_wakeup())
    timer_.arm(self_, env_->now(), *next);
}

void pull_state::answer_if_drained() {
  auto busy = queue_ && (queue_->posts() > 0 || !commits_.empty());
  if (!draining_ || busy)
    return;
  for (auto& waiter : drain_waiters_)
    waiter.deliver(queue_drained{});
  drain_waiters_.clear();
}

// -- losing and finding memory ------------------------------------------------

void pull_state::lose_memory(const error& reason) {
  ++generation_;
  if (queue_)
    carry_out(leave_permits{queue_->permits_held()});
  if (queue_)
    past_.add(queue_->counters(env_->now()));
  deliveries_.abort_all(self_);
  queue_.reset();
  commits_.fail_all(*env_, reason);
  for (auto& [id, waiter] : std::exchange(waiters_, {}))
    waiter.deliver(to_caf(reason));
  answer_if_drained();
}

void pull_state::attach() {
  self_->request(env_->persistence, caf::infinite, attach_queue{id_})
    .then([this](const queue_snapshot& stored) { take_up(stored); },
          [this](const caf::error&) {
            self_->delayed_send(self_, attach_pause, attach_again{});
          });
}

void pull_state::handle(attach_again) {
  if (queue_)
    advance();
  else
    attach();
}

pull_impl_actor::behavior_type
make_pull_queue(pull_impl_actor::stateful_pointer<pull_state> self,
                environment_ptr env, pull_directory queues,
                std::shared_ptr<const queue_snapshot> stored) {
  auto& state = self->state;
  state.open(std::move(env), std::move(queues), *stored);
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.lose_memory({errc::draining, "the server has stopped"});
    self->quit(std::move(message.reason));
  });
  // CAF tries one after the other: what comes with every message stands first.
  return {
    [&state](committed& x) { state.handle(x); },
    [&state](const consume_messages& x) { return state.handle(x); },
    [&state](const settle_message& x) { return state.handle(x); },
    [&state](const publish_message& x) { return state.handle(x); },
    [&state](const settle_messages& x) { return state.handle(x); },
    [&state](const publish_messages& x) { return state.handle(x); },
    [&state](delivery_ended& x) { state.handle(x); },
    [&state](queue_tick x) { state.handle(x); },
    [&state](permits_granted x) { state.handle(x); },
    [&state](get_pull_queue x) { return state.handle(x); },
    [&state](const patch_pull_queue& x) { return state.handle(x); },
    [&state](const subscribe_webhook& x) { return state.handle(x); },
    [&state](unsubscribe_webhook x) { return state.handle(x); },
    [&state](const return_messages& x) { state.handle(x); },
    [&state](const peek_messages& x) { return state.handle(x); },
    [&state](const list_dead_messages& x) { return state.handle(x); },
    [&state](purge_pull_queue x) { return state.handle(x); },
    [&state](const redrive_messages& x) { return state.handle(x); },
    [&state](const remove_ended& x) { return state.handle(x); },
    [&state](const replay_slice& x) { return state.handle(x); },
    [&state](const messages_arrived& x) { return state.handle(x); },
    [&state](look_again x) { state.handle(x); },
    [&state](const prepare_message& x) { return state.handle(x); },
    [&state](message_stored& x) { return state.handle(x); },
    [&state](get_depth x) { return state.handle(x); },
    [&state](close_queue x) { return state.handle(x); },
    [&state](drain_queue x) { return state.handle(x); },
    [&state](get_queue_metrics x) { return state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
    [&state](attach_again x) { state.handle(x); },
  };
}

} // namespace tidegate
