#include "http/gateway_actor.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate::http {

namespace {

/// Most calls that one gateway has under way; beyond: 503.
constexpr std::size_t under_way_max = 20'000;

/// Most queues whose handles a gateway remembers.
constexpr std::size_t queues_max = 10'000;

template <class T>
struct reply_to;

template <>
struct reply_to<create_queue> {
  using type = put_queue_result;
};

template <>
struct reply_to<put_queue> {
  using type = put_queue_result;
};

template <>
struct reply_to<delete_queue> {
  using type = queue_deleted;
};

template <>
struct reply_to<list_queues> {
  using type = queue_list;
};

template <class T>
response to_response(const T& reply) {
  if constexpr (std::is_same_v<T, queue_deleted>)
    return deleted();
  else if constexpr (std::is_same_v<T, ready_for_work>)
    return ready();
  else
    return answer(reply);
}

const std::string* queue_of(const pending_call& c) {
  auto what = std::get_if<queue_call>(&c.what);
  return what ? &what->queue : nullptr;
}

} // namespace

gateway_state::gateway_state(gateway_actor::pointer self) : self_(self) {
  // nop
}

void gateway_state::open(registry_actor registry) {
  registry_ = std::move(registry);
}

void gateway_state::handle(pending_call_ptr c) {
  ++under_way_;
  if (under_way_ > under_way_max) {
    fail({errc::overloaded, "too many requests are under way"}, c);
    return;
  }
  std::visit([&](const auto& what) { execute(what, c); }, c->what);
}

template <class T>
void gateway_state::execute(const T& what, const pending_call_ptr& c) {
  if constexpr (std::is_same_v<T, health_check>)
    finish(c, alive());
  else if constexpr (std::is_same_v<T, ready_check>)
    ask<ready_for_work>(registry_, check_ready{}, c);
  else
    ask<typename reply_to<T>::type>(registry_, what, c);
}

void gateway_state::execute(const queue_call& what, const pending_call_ptr& c) {
  auto i = queues_.find(what.queue);
  if (i == queues_.end())
    look_up(c);
  else
    ask_queue(i->second, c);
}

void gateway_state::execute(const get_job& what, const pending_call_ptr& c) {
  self_->request(registry_, caf::infinite, find_queue_of{what.id})
    .then([this, c,
           what](const queue_actor& queue) { ask<job_view>(queue, what, c); },
          [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::look_up(const pending_call_ptr& c) {
  c->looked_up = true;
  self_->request(registry_, caf::infinite, find_queue{*queue_of(*c)})
    .then(
      [this, c](const queue_actor& queue) {
        if (queues_.size() >= queues_max)
          queues_.clear();
        queues_[*queue_of(*c)] = queue;
        ask_queue(queue, c);
      },
      [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::ask_queue(const queue_actor& queue,
                              const pending_call_ptr& c) {
  auto visitor = [&](const auto& what) {
    using T = std::decay_t<decltype(what)>;
    if constexpr (std::is_same_v<T, publish>)
      ask<publish_result>(queue, what, c);
    else
      ask<queue_view>(queue, what, c);
  };
  std::visit(visitor, std::get<queue_call>(c->what).what);
}

template <class Reply, class Actor, class Message>
void gateway_state::ask(const Actor& whom, Message what,
                        const pending_call_ptr& c) {
  self_->request(whom, caf::infinite, std::move(what))
    .then([this, c](const Reply& reply) { finish(c, to_response(reply)); },
          [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::fail(const error& reason, const pending_call_ptr& c) {
  auto queue = queue_of(*c);
  auto gone = reason.code == errc::queue_not_found
              || reason.code == errc::draining;
  if (queue && gone) {
    queues_.erase(*queue);
    // The queue that was remembered is gone; there may be a new one.
    if (!c->looked_up) {
      look_up(c);
      return;
    }
  }
  finish(c, answer(reason));
}

void gateway_state::finish(const pending_call_ptr& c, response what) {
  --under_way_;
  c->respond(std::move(what));
}

gateway_actor::behavior_type
make_gateway(gateway_actor::stateful_pointer<gateway_state> self,
             registry_actor registry) {
  auto& state = self->state;
  state.open(std::move(registry));
  return {
    [&state](pending_call_ptr& c) { state.handle(std::move(c)); },
  };
}

} // namespace tidegate::http
