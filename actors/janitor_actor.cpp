#include "actors/janitor_actor.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

janitor_state::janitor_state(janitor_actor::pointer self) : self_(self) {
  // nop
}

void janitor_state::open(environment_ptr env, queue_directory queues,
                         duration pause) {
  env_ = std::move(env);
  queues_ = std::move(queues);
  pause_ = pause;
}

void janitor_state::handle(start_janitor) {
  begin_slice();
}

void janitor_state::handle(janitor_tick message) {
  if (message.generation == timer_generation_)
    begin_slice();
}

auto janitor_state::handle(stand_down) -> promise<stood_down> {
  standing_down_ = true;
  auto answer = self_->make_response_promise<stood_down>();
  if (!busy_)
    return answer.deliver(stood_down{});
  waiters_.push_back(answer);
  return answer;
}

// -- one slice ----------------------------------------------------------------

void janitor_state::begin_slice() {
  if (busy_ || standing_down_)
    return;
  auto now = env_->now();
  busy_ = true;
  begun_ = now.steady;
  removed_ = 0;
  failed_ = false;
  self_->request(env_->browser, caf::infinite, find_removable{now.wall, slice_})
    .then([this](const removable_jobs& found) { remove(found); },
          [this](const caf::error&) { end_slice(); });
}

void janitor_state::remove(const removable_jobs& found) {
  std::map<queue_id, std::vector<job_seq>> by_queue;
  for (auto id : found.ids)
    by_queue[id.queue].push_back(id.seq);
  missing_ = by_queue.size();
  if (missing_ == 0 || standing_down_) {
    end_slice();
    return;
  }
  for (auto& [queue, seqs] : by_queue)
    remove(queue, std::move(seqs));
}

void janitor_state::remove(queue_id queue, std::vector<job_seq> seqs) {
  auto failed = [this](const caf::error&) { fail_one(); };
  self_->request(queues_, caf::infinite, find_upkeep{queue})
    .then(
      [this, failed, seqs = std::move(seqs)](const queue_upkeep& owner) {
        self_->request(owner, caf::infinite, remove_ended{seqs})
          .then(
            [this](const jobs_removed& done) {
              removed_ += done.count;
              count_one();
            },
            failed);
      },
      failed);
}

void janitor_state::fail_one() {
  failed_ = true;
  count_one();
}

void janitor_state::count_one() {
  if (--missing_ == 0)
    end_slice();
}

void janitor_state::end_slice() {
  busy_ = false;
  for (auto& waiter : waiters_)
    waiter.deliver(stood_down{});
  waiters_.clear();
  auto slow = env_->now().steady - begun_ > removal_time_max;
  slice_ = slow ? std::max(slice_ / 2, removal_slice_min)
                : std::min(slice_ * 2, removal_slice_max);
  // Where nothing could be removed the same would be found again.
  if (removed_ > 0 && !failed_)
    begin_slice();
  else
    rest();
}

void janitor_state::rest() {
  if (!standing_down_)
    self_->delayed_send(self_, pause_, janitor_tick{++timer_generation_});
}

void janitor_state::stop() {
  for (auto& waiter : waiters_)
    waiter.deliver(stood_down{});
  waiters_.clear();
}

janitor_actor::behavior_type
make_janitor(janitor_actor::stateful_pointer<janitor_state> self,
             environment_ptr env, queue_directory queues, duration pause) {
  auto& state = self->state;
  state.open(std::move(env), std::move(queues), pause);
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.stop();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](start_janitor x) { state.handle(x); },
    [&state](janitor_tick x) { state.handle(x); },
    [&state](stand_down x) { return state.handle(x); },
  };
}

} // namespace tidegate
