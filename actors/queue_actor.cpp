#include "actors/queue_actor.hpp"

#include <algorithm>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

/// A timer is never set for longer: a job that is due next year must not keep a
/// message in the clock for a year.
constexpr duration timer_max = std::chrono::hours{1};

constexpr duration attach_pause = std::chrono::seconds{1};

/// Maps 64 random bits to [0, 1).
double to_lot(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

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
  queue_.emplace(stored, env_->now());
  advance();
}

// -- requests -----------------------------------------------------------------

std::optional<error> queue_state::unfit_for_work() const {
  if (closing_)
    return gone();
  if (draining_)
    return error{errc::draining, "the server is stopping"};
  if (!queue_)
    return error{errc::storage_unavailable, "the store cannot be written"};
  return std::nullopt;
}

auto queue_state::handle(publish& request) -> promise<publish_result> {
  auto answer = self_->make_response_promise<publish_result>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  if (env_->backlog->records.load(std::memory_order_relaxed)
      >= env_->backlog_max)
    return answer.deliver(
      to_caf({errc::overloaded, "too much is waiting for the disk"}));
  auto now = env_->now();
  job_id id{id_, job_seq{++*env_->last_job}, env_->random() & max_48_bits};
  pending p{};
  p.publish = pending_publish{answer, now};
  std::vector<record> records;
  records.push_back(insert_job{queue_->make_job(request, id, now)});
  commit(std::move(p), std::move(records));
  return answer;
}

auto queue_state::handle(const get_job& request) -> promise<job_view> {
  auto answer = self_->make_response_promise<job_view>();
  self_->request(env_->reader, caf::infinite, find_job{request.id})
    .then(
      [this, answer](job_record& found) mutable {
        if (queue_)
          answer.deliver(queue_->view(std::move(found), env_->now()));
        else
          answer.deliver(to_caf(
            {errc::storage_unavailable, "the queue is being recovered"}));
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  return answer;
}

auto queue_state::handle(get_queue) -> promise<queue_view> {
  auto answer = self_->make_response_promise<queue_view>();
  if (closing_)
    return answer.deliver(to_caf(gone()));
  if (!queue_)
    return answer.deliver(
      to_caf({errc::storage_unavailable, "the queue is being recovered"}));
  when_stored(
    [answer, view = queue_->view(env_->now())](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
      else
        answer.deliver(std::move(view));
    });
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

auto queue_state::change(transition&& t) -> promise<queue_view> {
  auto answer = self_->make_response_promise<queue_view>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  run(std::move(t), [this, answer](const auto& failed) mutable {
    if (failed)
      answer.deliver(to_caf(*failed));
    else
      answer.deliver(queue_->view(env_->now()));
  });
  advance();
  return answer;
}

auto queue_state::handle(close_queue request) -> promise<queue_deleted> {
  auto answer = self_->make_response_promise<queue_deleted>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  if (auto live = queue_->live_jobs(); live > 0 && !request.force)
    return answer.deliver(
      to_caf({errc::queue_not_empty, "Queue '" + name_ + "' has "
                                       + std::to_string(live) + " live jobs"}));
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

// -- what helpers say ---------------------------------------------------------

void queue_state::handle(committed& message) {
  // An answer from before the memory was lost has nobody waiting for it.
  if (pending_.empty() || pending_.front().ticket != message.ticket)
    return;
  auto p = std::move(pending_.front());
  pending_.pop_front();
  env_->backlog->records -= p.records;
  queue_->committed(message.records);
  if (p.publish)
    finish(std::move(*p.publish), message);
  carry_out(std::move(p.effects));
  for (auto& done : p.done)
    done(std::nullopt);
  if (queue_)
    advance();
}

void queue_state::finish(pending_publish&& p, committed& message) {
  auto& stored = std::get<insert_job>(message.records.front()).job;
  const auto& existing = message.answers.front().existing;
  const auto& shown = existing ? *existing : stored;
  publish_result result;
  result.id = shown.id;
  result.status = shown.status;
  result.created_at = shown.created_at;
  result.duplicate = existing.has_value();
  result.payload_mismatch = existing && existing->payload != stored.payload;
  if (!existing)
    queue_->stored(std::move(stored), p.made, env_->now());
  p.answer.deliver(std::move(result));
}

void queue_state::handle(const commit_failed& message) {
  if (pending_.empty() || pending_.front().ticket > message.ticket)
    return;
  lose_memory(message.reason);
  attach();
}

void queue_state::handle(delivery_ended& message) {
  if (message.generation != generation_)
    return;
  deliveries_.erase(message.job);
  run(queue_->ended(message.job, message.reply, to_lot(env_->random()),
                    env_->now()));
  advance();
}

void queue_state::handle(queue_tick message) {
  if (message.generation != timer_generation_)
    return;
  armed_.reset();
  if (queue_)
    advance();
}

void queue_state::handle(attach_again) {
  if (!queue_)
    attach();
}

// -- carrying out -------------------------------------------------------------

void queue_state::run(transition&& t, on_stored done) {
  if (!t.records.empty()) {
    pending p{};
    p.effects = std::move(t.effects);
    if (done)
      p.done.push_back(std::move(done));
    commit(std::move(p), std::move(t.records));
    return;
  }
  carry_out(std::move(t.effects));
  if (done)
    when_stored(std::move(done));
}

void queue_state::when_stored(on_stored done) {
  if (pending_.empty())
    done(std::nullopt);
  else
    pending_.back().done.push_back(std::move(done));
}

void queue_state::commit(pending&& p, std::vector<record>&& records) {
  p.ticket = next_ticket_++;
  p.records = records.size();
  env_->backlog->records += p.records;
  self_->send(env_->persistence,
              commit_request{id_, p.ticket, std::move(records)},
              caf::actor_cast<committer>(self_->address()));
  pending_.push_back(std::move(p));
}

void queue_state::carry_out(std::vector<effect>&& effects) {
  for (auto& e : effects)
    std::visit([this](auto& what) { carry_out(std::move(what)); }, e);
}

void queue_state::carry_out(start_delivery&& what) {
  if (closing_)
    return;
  auto seq = what.what.job.seq;
  auto shared = std::make_shared<delivery>(std::move(what.what));
  deliveries_[seq] = self_->spawn(
    make_delivery, env_->transport, std::move(shared),
    caf::actor_cast<delivery_owner>(self_->address()), generation_);
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

void queue_state::advance() {
  if (draining_ || closing_) {
    answer_if_drained();
    return;
  }
  run(queue_->advance(env_->now()));
  arm_timer();
}

void queue_state::arm_timer() {
  auto now = env_->now();
  auto next = queue_->next_wakeup(now);
  if (!next)
    return;
  auto wait = std::clamp(*next - now.steady, duration{0}, timer_max);
  // One that fires too early does no harm and is cheaper than one more.
  if (armed_ && *armed_ <= now.steady + wait)
    return;
  armed_ = now.steady + wait;
  self_->delayed_send(self_, wait, queue_tick{++timer_generation_});
}

void queue_state::answer_if_drained() {
  auto busy = queue_ && (queue_->in_flight() > 0 || !pending_.empty());
  if (!draining_ || busy)
    return;
  for (auto& waiter : drain_waiters_)
    waiter.deliver(queue_drained{});
  drain_waiters_.clear();
}

// -- losing and finding memory ------------------------------------------------

void queue_state::fail_pending(const error& reason) {
  auto failed = std::move(pending_);
  pending_.clear();
  for (auto& p : failed) {
    env_->backlog->records -= p.records;
    if (p.publish)
      p.publish->answer.deliver(to_caf(reason));
    for (auto& done : p.done)
      done(reason);
  }
}

void queue_state::abort_deliveries() {
  ++generation_;
  for (auto& [seq, actor] : deliveries_)
    self_->send(actor, abort_delivery{});
  deliveries_.clear();
}

void queue_state::lose_memory(const error& reason) {
  abort_deliveries();
  queue_.reset();
  fail_pending(reason);
  answer_if_drained();
}

void queue_state::attach() {
  self_->request(env_->persistence, caf::infinite, attach_queue{id_})
    .then(
      [this](const queue_snapshot& stored) {
        queue_.emplace(stored, env_->now());
        advance();
      },
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
  return {
    [&state](publish& x) { return state.handle(x); },
    [&state](const get_job& x) { return state.handle(x); },
    [&state](get_queue x) { return state.handle(x); },
    [&state](const patch_queue& x) { return state.handle(x); },
    [&state](pause_queue x) { return state.handle(x); },
    [&state](resume_queue x) { return state.handle(x); },
    [&state](const put_settings& x) { return state.handle(x); },
    [&state](close_queue x) { return state.handle(x); },
    [&state](drain_queue x) { return state.handle(x); },
    [&state](committed& x) { state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
    [&state](delivery_ended& x) { state.handle(x); },
    [&state](queue_tick x) { state.handle(x); },
    [&state](attach_again x) { state.handle(x); },
  };
}

} // namespace tidegate
