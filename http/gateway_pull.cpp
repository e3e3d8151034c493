// How the gateway finds pull queues and what it asks of them.

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/response_type.hpp>
#include <caf/result.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "http/codec_pull.hpp"
#include "http/gateway_actor.hpp"

namespace tidegate::http {

namespace {

/// How often somebody who waits for messages looks whether the dead-letter
/// queue has come into being.
constexpr duration look_again_after = std::chrono::milliseconds{100};

/// What a pull queue answers to a `Message`, as its interface says.
template <class Message>
using pull_reply_of = std::tuple_element_t<
  0, typename caf::response_type<typename pull_queue_actor::signatures,
                                 Message>::tuple_type>;

/// Gives the messages back that `received` has if the response to it does not
/// reach the client. Keeps neither the queue nor the actor system alive.
std::shared_ptr<loss_notice> make_notice(const pull_queue_actor& queue,
                                         const messages_received& received) {
  return_messages back;
  for (const auto& item : received.items)
    if (item.handle)
      back.items.push_back({{item.job.id.seq, item.job.id.tag}, *item.handle});
  if (back.items.empty())
    return nullptr;
  return std::make_shared<loss_notice>(
    [where = queue.address(), back = std::move(back)]() mutable {
      if (auto alive = caf::actor_cast<caf::strong_actor_ptr>(where))
        caf::anon_send(caf::actor_cast<pull_queue_actor>(std::move(alive)),
                       std::move(back));
    });
}

} // namespace

void gateway_state::execute(const pull_call& what, const pending_call_ptr& c) {
  if (what.of_dead_letters) {
    find_target(what, c);
    return;
  }
  c->target = what.queue;
  if (auto queue = pull_by_name_.find(what.project, c->target))
    ask_pull(*queue, c);
  else
    look_up_pull(what, c);
}

// -- finding ------------------------------------------------------------------

void gateway_state::find_pull(const std::string& project,
                              const std::string& name, bool make,
                              on_found found, on_missed missed) {
  self_
    ->request(peers_.registry, caf::infinite,
              find_pull_queue{project, name, make})
    .then(
      [this, project, name, found](const pull_queue_actor& queue) {
        pull_by_name_.put(project, name, queue);
        found(queue);
      },
      [missed](const caf::error& reason) { missed(from_caf(reason)); });
}

/// Finds out where the dead letters of a queue are, unless its name says that
/// it is where they are.
void gateway_state::find_target(const pull_call& what,
                                const pending_call_ptr& c) {
  if (what.queue.ends_with(dead_letter_suffix)) {
    c->target = what.queue;
    look_up_pull(what, c);
    return;
  }
  auto missed = [this, c](const error& reason) { fail_pull(reason, c); };
  auto found = [this, c, missed](const pull_queue_actor& source) {
    self_->request(source, caf::infinite, get_pull_queue{})
      .then(
        [this, c](const pull_queue_view& view) {
          const auto& asked = std::get<pull_call>(c->what);
          c->target = view.queue.pull.dead_letter_queue;
          if (c->target.empty())
            c->target = asked.queue + std::string{dead_letter_suffix};
          look_up_pull(asked, c);
        },
        [missed](const caf::error& reason) { missed(from_caf(reason)); });
  };
  find_pull(what.project, what.queue, false, found, missed);
}

void gateway_state::look_up_pull(const pull_call& what,
                                 const pending_call_ptr& c) {
  c->looked_up = true;
  find_pull(
    what.project, c->target, what.if_absent == pull_call::absence::make,
    [this, c](const pull_queue_actor& queue) { ask_pull(queue, c); },
    [this, c](const error& reason) { miss(reason, c); });
}

/// What is to be done where the queue was not found.
void gateway_state::miss(const error& reason, const pending_call_ptr& c) {
  const auto& what = std::get<pull_call>(c->what);
  if (reason.code != errc::queue_not_found
      || what.if_absent != pull_call::absence::empty) {
    finish(c, answer(c->what, reason));
    return;
  }
  // That of a queue which was found just now.
  if (c->target != what.queue) {
    finish(c, answer_for_empty(what));
    return;
  }
  if (!c->target.ends_with(dead_letter_suffix)) {
    finish(c, answer(c->what, reason));
    return;
  }
  auto source = c->target;
  source.resize(source.size() - dead_letter_suffix.size());
  find_pull(
    what.project, source, false,
    [this, c](const pull_queue_actor&) { wait_for_queue(c); },
    [this, c, reason](const error&) { finish(c, answer(c->what, reason)); });
}

/// Answers for the dead-letter queue that is still to come, or looks for it
/// again if the caller waits.
void gateway_state::wait_for_queue(const pending_call_ptr& c) {
  auto& what = std::get<pull_call>(c->what);
  auto consume = std::get_if<consume_messages>(&what.what);
  auto waits = consume && consume->wait > duration{0}
               && !(consume->gone && consume->gone->load());
  if (!waits) {
    finish(c, answer_for_empty(what));
    return;
  }
  auto pause = std::min(consume->wait, look_again_after);
  consume->wait -= pause;
  // Nothing will come of it once the server is stopping.
  self_->request(peers_.registry, caf::infinite, check_ready{})
    .then(
      [this, c, pause](const ready_for_work&) {
        --under_way_;
        self_->delayed_send(self_, pause, c);
      },
      [this, c](const caf::error&) {
        finish(c, answer_for_empty(std::get<pull_call>(c->what)));
      });
}

// -- asking -------------------------------------------------------------------

void gateway_state::ask_pull(const pull_queue_actor& queue,
                             const pending_call_ptr& c) {
  std::visit([&](const auto& message) { send_pull(queue, message, c); },
             std::get<pull_call>(c->what).what);
}

template <class Message>
void gateway_state::send_pull(const pull_queue_actor& queue,
                              const Message& what, const pending_call_ptr& c) {
  using reply = pull_reply_of<Message>;
  auto failed = [this, c](const caf::error& reason) {
    fail_pull(from_caf(reason), c);
  };
  auto handle = self_->request(queue, caf::infinite, what);
  if constexpr (std::is_same_v<Message, consume_messages>)
    handle.then(
      [this, c, queue](const reply& x) {
        auto result = answer(c->what, x);
        result.notice = make_notice(queue, x);
        finish(c, std::move(result));
      },
      failed);
  else
    handle.then([this, c](const reply& x) { finish(c, answer(c->what, x)); },
                failed);
}

void gateway_state::fail_pull(const error& reason, const pending_call_ptr& c) {
  const auto& what = std::get<pull_call>(c->what);
  auto gone = reason.code == errc::queue_not_found
              || reason.code == errc::draining;
  if (gone)
    pull_by_name_.erase(what.project, c->target);
  // The queue that was remembered is gone; there may be a new one.
  if (gone && !c->looked_up && !c->target.empty())
    look_up_pull(what, c);
  else
    finish(c, answer(c->what, reason));
}

} // namespace tidegate::http
