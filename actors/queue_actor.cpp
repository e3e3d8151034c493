#include "actors/queue_actor.hpp"

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

/// How soon a step of the wall clock is seen by a queue that depends on it.
constexpr duration wall_clock_check = std::chrono::seconds{5};

error gone() {
  return {errc::queue_not_found, "the queue has been deleted"};
}

} // namespace

queue_state::queue_state(queue_impl_actor::pointer self) : self_(self) {
  // nop
}

void queue_state::open(environment_ptr env, const queue_snapshot& stored) {
  env_ = std::move(env);
  name_ = stored.queue.name;
  id_ = stored.queue.id;
  take_up(stored);
}

// -- the queue ----------------------------------------------------------------

std::optional<error> queue_state::unfit() const {
  if (closing_)
    return gone();
  if (!queue_)
    return error{errc::storage_unavailable, "the queue is being recovered"};
  return std::nullopt;
}

std::optional<error> queue_state::unfit_for_work() const {
  if (draining_ && !closing_)
    return error{errc::draining, "the server is stopping"};
  return unfit();
}

/// Returns what answers with `what` as it was when it was asked, once that is
/// stored.
template <class T>
queue_state::on_stored
queue_state::show(promise<T> answer, std::function<T()> what) {
  return [answer, what](const auto& failed) mutable {
    if (failed)
      answer.deliver(to_caf(*failed));
    else
      answer.deliver(what());
  };
}

auto queue_state::handle(get_queue) -> promise<queue_view> {
  auto answer = self_->make_response_promise<queue_view>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  commits_.when_stored(show<queue_view>(
    answer, [view = queue_->view(env_->now())] { return view; }));
  return answer;
}

auto queue_state::handle(const patch_queue& request) -> promise<queue_view> {
  if (!queue_)
    return change({});
  return handle(put_settings{apply(queue_->settings(), request.patch)});
}

auto queue_state::handle(const put_settings& request) -> promise<queue_view> {
  if (auto wrong = validate(request.settings); !wrong.empty()) {
    auto answer = self_->make_response_promise<queue_view>();
    return answer.deliver(
      to_caf({errc::validation_failed,
              wrong.front().field + " " + wrong.front().message}));
  }
  if (unfit_for_work())
    return change({});
  return change(queue_->change_settings(request.settings, env_->now()));
}

auto queue_state::handle(pause_queue) -> promise<queue_view> {
  if (unfit_for_work())
    return change({});
  return change(queue_->pause(env_->now()));
}

auto queue_state::handle(resume_queue) -> promise<queue_view> {
  if (unfit_for_work())
    return change({});
  return change(queue_->resume(env_->now()));
}

auto queue_state::handle(const hold_queue& request) -> promise<queue_view> {
  if (unfit_for_work())
    return change({});
  return change(queue_->hold(request.wait, request.reason, env_->now()));
}

auto queue_state::handle(release_queue) -> promise<queue_view> {
  if (unfit_for_work())
    return change({});
  return change(queue_->release(env_->now()));
}

auto queue_state::handle(rotate_secret request) -> promise<queue_view> {
  if (unfit_for_work())
    return change({});
  return change(
    queue_->rotate_secret(env_->make_secret(), request.overlap, env_->now()));
}

auto queue_state::change(transition&& t) -> promise<queue_view> {
  auto answer = self_->make_response_promise<queue_view>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  run(std::move(t),
      show<queue_view>(answer, [this] { return queue_->view(env_->now()); }));
  advance();
  return answer;
}

auto queue_state::handle(const list_limit_keys& request)
  -> promise<limit_key_list> {
  auto answer = self_->make_response_promise<limit_key_list>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  commits_.when_stored(show<limit_key_list>(
    answer, [view = queue_->view(request, env_->now())] { return view; }));
  return answer;
}

auto queue_state::handle(const release_limit_key& request)
  -> promise<limit_key_view> {
  auto answer = self_->make_response_promise<limit_key_view>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  run(queue_->release_key(request.key, env_->now()),
      show<limit_key_view>(answer, [this, key = request.key] {
        return queue_->view_key(key, env_->now());
      }));
  advance();
  return answer;
}

auto queue_state::handle(close_queue request) -> promise<queue_deleted> {
  auto answer = self_->make_response_promise<queue_deleted>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  if (auto live = queue_->live_jobs(); live > 0 && !request.force)
    return answer.deliver(
      to_caf({errc::queue_not_empty,
              "Queue '" + name_ + "' has " + std::to_string(live)
                + (live == 1 ? " live job" : " live jobs")}));
  closing_ = true;
  abort_deliveries();
  transition t;
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

auto queue_state::handle(drain_queue) -> promise<queue_drained> {
  draining_ = true;
  drain_waiters_.push_back(self_->make_response_promise<queue_drained>());
  auto answer = drain_waiters_.back();
  answer_if_drained();
  return answer;
}

caf::result<queue_metrics> queue_state::handle(get_queue_metrics) {
  if (auto reason = unfit())
    return to_caf(*reason);
  auto result = queue_->metrics(env_->now());
  result.counters.add(past_);
  return result;
}

// -- what helpers say ---------------------------------------------------------

void queue_state::handle(committed& message) {
  auto what = commits_.take(*env_, message);
  if (!what)
    return;
  run(queue_->committed(message.records, message.answers, env_->now()));
  if (what->committed)
    what->committed(message);
  carry_out(std::move(what->effects));
  for (auto& done : what->done)
    done(std::nullopt);
  if (queue_)
    advance();
}

void queue_state::handle(const commit_failed& message) {
  if (!commits_.is_hit_by(message))
    return;
  lose_memory(message.reason);
  attach();
}

void queue_state::handle(delivery_ended& message) {
  if (message.generation != generation_)
    return;
  deliveries_.ended(message);
  run(queue_->ended(message.job, message.number, message.reply, draw_lot(*env_),
                    env_->now()));
  advance();
}

void queue_state::handle(permits_granted message) {
  if (!queue_) {
    carry_out(leave_permits{message.count});
    return;
  }
  queue_->granted(message.count);
  if (draining_ || closing_)
    carry_out(leave_permits{queue_->leave_permits_unused()});
  else
    advance();
}

void queue_state::handle(queue_tick message) {
  if (timer_.fired(message) && queue_)
    advance();
}

void queue_state::handle(attach_again) {
  if (!queue_)
    attach();
}

// -- carrying out -------------------------------------------------------------

void queue_state::run(transition&& t, on_stored done, on_committed on) {
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

void queue_state::settle(job_id id, decider decide, on_stored done,
                         const job_record* stored) {
  auto decision = decide(stored);
  if (auto t = std::get_if<transition>(&decision)) {
    run(std::move(*t), std::move(done));
    advance();
    return;
  }
  if (auto reason = std::get_if<error>(&decision)) {
    done(*reason);
    return;
  }
  commits_.when_stored([this, id, decide, done](const auto& failed) {
    if (failed)
      done(failed);
    else
      read(id, decide, done);
  });
}

void queue_state::read(job_id id, decider decide, on_stored done) {
  auto generation = generation_;
  self_->request(env_->reader, caf::infinite, find_job{id})
    .then(
      [this, id, decide, done, generation](const job_record& found) {
        if (generation == generation_ && queue_)
          settle(id, decide, done, &found);
        else
          done(unfit().value_or(gone()));
      },
      [this, id, done, generation](const caf::error& reason) {
        done(from_caf(reason));
        if (generation != generation_ || !queue_)
          return;
        // What was kept for this may have to be read again.
        queue_->unwatch(id.seq);
        advance();
      });
}

void queue_state::carry_out(std::vector<effect>&& effects) {
  for (auto& e : effects)
    std::visit([this](auto& what) { carry_out(std::move(what)); }, e);
}

void queue_state::carry_out(start_delivery&& what) {
  if (!closing_)
    deliveries_.start(self_, *env_, std::move(what), generation_);
}

void queue_state::carry_out(stop_delivery&& what) {
  deliveries_.abort(self_, what.job, what.number);
}

void queue_state::carry_out(take_permits&& what) {
  self_->send(env_->permits, ask_permits{what.count},
              caf::actor_cast<permit_taker>(self_->address()));
}

void queue_state::carry_out(leave_permits&& what) {
  if (env_->permits && what.count > 0)
    self_->send(env_->permits, return_permits{what.count});
}

void queue_state::carry_out(load_jobs&& what) {
  auto lost = [this, generation = generation_](const error& reason) {
    if (generation != generation_)
      return;
    lose_memory(reason);
    attach();
  };
  self_
    ->request(env_->reader, caf::infinite, read_jobs{id_, std::move(what.seqs)})
    .then(
      [this, lost, generation = generation_](jobs_read& found) {
        if (generation != generation_)
          return;
        if (auto t = queue_->loaded(std::move(found.jobs), env_->now())) {
          run(std::move(*t));
          advance();
        } else {
          lost({errc::storage_unavailable, "jobs are missing from the store"});
        }
      },
      [lost](const caf::error& reason) { lost(from_caf(reason)); });
}

void queue_state::carry_out(emit&& what) {
  if (env_->listener)
    self_->send(env_->listener, std::move(what.event));
}

void queue_state::carry_out(give_account&& what) {
  env_->on_delivery(what.what);
}

void queue_state::advance() {
  if (draining_ || closing_) {
    answer_if_drained();
    return;
  }
  run(queue_->advance(env_->now()));
  arm_timer();
}

void queue_state::arm_timer() {
  auto next = queue_->next_wakeup();
  if (!next)
    return;
  auto most = queue_->follows_wall_clock() ? wall_clock_check
                                           : one_timer<queue_tick>::longest;
  timer_.arm(self_, env_->now(), *next, most);
}

void queue_state::answer_if_drained() {
  auto busy = queue_ && (queue_->posts() > 0 || !commits_.empty());
  if (!draining_ || busy)
    return;
  for (auto& waiter : drain_waiters_)
    waiter.deliver(queue_drained{});
  drain_waiters_.clear();
}

// -- losing and finding memory ------------------------------------------------

void queue_state::abort_deliveries() {
  ++generation_;
  deliveries_.abort_all(self_);
}

void queue_state::lose_memory(const error& reason) {
  if (queue_)
    carry_out(leave_permits{queue_->permits_held()});
  if (queue_)
    past_.add(queue_->counters(env_->now()));
  abort_deliveries();
  queue_.reset();
  commits_.fail_all(*env_, reason);
  answer_if_drained();
}

void queue_state::take_up(const queue_snapshot& stored) {
  queue_.emplace(stored, env_->now(), bool{env_->permits});
  queue_->keep_accounts(bool{env_->on_delivery});
  advance();
}

void queue_state::attach() {
  self_->request(env_->persistence, caf::infinite, attach_queue{id_})
    .then([this](const queue_snapshot& stored) { take_up(stored); },
          [this](const caf::error&) {
            self_->delayed_send(self_, attach_pause, attach_again{});
          });
}

queue_impl_actor::behavior_type
make_queue(queue_impl_actor::stateful_pointer<queue_state> self,
           environment_ptr env, std::shared_ptr<const queue_snapshot> stored) {
  auto& state = self->state;
  state.open(std::move(env), *stored);
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.lose_memory({errc::draining, "the server has stopped"});
    self->quit(std::move(message.reason));
  });
  // CAF tries one after the other: what comes with every job stands first.
  return {
    [&state](committed& x) { state.handle(x); },
    [&state](publish& x) { return state.handle(x); },
    [&state](delivery_ended& x) { state.handle(x); },
    [&state](const ack_job& x) { return state.handle(x); },
    [&state](publish_batch& x) { return state.handle(x); },
    [&state](queue_tick x) { state.handle(x); },
    [&state](permits_granted x) { state.handle(x); },
    [&state](get_queue x) { return state.handle(x); },
    [&state](const patch_queue& x) { return state.handle(x); },
    [&state](pause_queue x) { return state.handle(x); },
    [&state](resume_queue x) { return state.handle(x); },
    [&state](const hold_queue& x) { return state.handle(x); },
    [&state](release_queue x) { return state.handle(x); },
    [&state](rotate_secret x) { return state.handle(x); },
    [&state](purge_queue x) { return state.handle(x); },
    [&state](const list_limit_keys& x) { return state.handle(x); },
    [&state](const release_limit_key& x) { return state.handle(x); },
    [&state](const get_job& x) { return state.handle(x); },
    [&state](const list_jobs& x) { return state.handle(x); },
    [&state](const cancel_job& x) { return state.handle(x); },
    [&state](const run_job_now& x) { return state.handle(x); },
    [&state](const replay_job& x) { return state.handle(x); },
    [&state](const nack_job& x) { return state.handle(x); },
    [&state](const defer_job& x) { return state.handle(x); },
    [&state](const touch_job& x) { return state.handle(x); },
    [&state](const delete_dead_letters& x) { return state.handle(x); },
    [&state](const replay_dead_letters& x) { return state.handle(x); },
    [&state](const replay_slice& x) { return state.handle(x); },
    [&state](const remove_ended& x) { return state.handle(x); },
    [&state](const put_settings& x) { return state.handle(x); },
    [&state](close_queue x) { return state.handle(x); },
    [&state](drain_queue x) { return state.handle(x); },
    [&state](get_queue_metrics x) { return state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
    [&state](attach_again x) { state.handle(x); },
  };
}

} // namespace tidegate
