#include "http/gateway_actor.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include <caf/response_type.hpp>
#include <caf/result.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "http/event_stream.hpp"

namespace tidegate::http {

namespace {

/// Most calls that one gateway has under way; beyond: 503.
constexpr std::size_t under_way_max = 20'000;

/// What `Actor` answers to a `Message`, as its interface says.
template <class Actor, class Message>
using reply_of = std::tuple_element_t<
  0,
  typename caf::response_type<typename Actor::signatures, Message>::tuple_type>;

/// Whether `Actor` takes a `Message`.
template <class Actor, class Message>
constexpr bool takes =
  caf::response_type<typename Actor::signatures, Message>::valid;

/// Returns the message that a call stands for.
template <class T>
const auto& message_of(const T& what) {
  if constexpr (requires { what.what; })
    return what.what;
  else
    return what;
}

template <class Message>
const auto& peer_for(const gateway_peers& peers) {
  if constexpr (takes<registry_actor, Message>)
    return peers.registry;
  else if constexpr (takes<operations_actor, Message>)
    return peers.operations;
  else
    return peers.access;
}

} // namespace

gateway_state::gateway_state(gateway_actor::pointer self) : self_(self) {
  // nop
}

void gateway_state::open(gateway_peers peers) {
  peers_ = std::move(peers);
}

void gateway_state::handle(pending_call_ptr c) {
  ++under_way_;
  if (under_way_ > under_way_max) {
    fail({errc::overloaded, "too many requests are under way"}, c);
    return;
  }
  std::visit([&](const auto& what) { execute(what, c); }, c->what);
}

// -- calls --------------------------------------------------------------------

template <class T>
void gateway_state::execute(const T& what, const pending_call_ptr& c) {
  const auto& message = message_of(what);
  using message_type = std::decay_t<decltype(message)>;
  ask(peer_for<message_type>(peers_), message, c);
}

void gateway_state::execute(const queue_call& what, const pending_call_ptr& c) {
  if (auto queue = by_name_.find(what.project, what.queue))
    ask_queue(*queue, c);
  else
    look_up(c);
}

void gateway_state::execute(const job_call& what, const pending_call_ptr& c) {
  if (auto queue = by_id_.find(what.project, what.id.queue))
    ask_queue(*queue, c);
  else
    look_up(c);
}

void gateway_state::execute(const events_call& what,
                            const pending_call_ptr& c) {
  auto body = std::make_shared<body_stream>(event_bytes_unsent_max);
  event_sink_ptr sink = std::make_shared<event_writer>(body, what.may_read);
  std::weak_ptr<event_sink> weak = sink;
  body->on_room([weak, events = peers_.events] {
    if (auto taker = weak.lock())
      caf::anon_send(events, feed_events{std::move(taker)});
  });
  body->on_gone([weak, events = peers_.events] {
    if (auto taker = weak.lock())
      caf::anon_send(events, unsubscribe_events{std::move(taker)});
  });
  self_
    ->request(peers_.events, caf::infinite,
              subscribe_events{what.filter, what.after, std::move(sink)})
    .then([this, c, body](
            const events_subscribed&) { finish(c, make_event_response(body)); },
          [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::execute(const metrics_call& what,
                            const pending_call_ptr& c) {
  self_->request(peers_.metrics, caf::infinite, print_metrics_of{what.project})
    .then(
      [this, c](metrics_text& printed) {
        response result;
        result.body = std::move(printed.text);
        result.content_type = metrics_type;
        finish(c, std::move(result));
      },
      [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::execute(const health_check&, const pending_call_ptr& c) {
  finish(c, alive());
}

void gateway_state::execute(const ready_check&, const pending_call_ptr& c) {
  ask(peers_.registry, check_ready{}, c);
}

// -- queues -------------------------------------------------------------------

template <class Message>
void gateway_state::look_up(Message what, const pending_call_ptr& c) {
  c->looked_up = true;
  self_->request(peers_.registry, caf::infinite, std::move(what))
    .then(
      [this, c](const queue_actor& queue) {
        remember(queue, c->what);
        ask_queue(queue, c);
      },
      [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::look_up(const pending_call_ptr& c) {
  if (auto what = std::get_if<queue_call>(&c->what))
    look_up(find_queue{what->queue, what->project}, c);
  else if (auto job = std::get_if<job_call>(&c->what))
    look_up(find_queue_of{job->id, job->project}, c);
}

void gateway_state::remember(const queue_actor& queue, const call& what) {
  if (auto named = std::get_if<queue_call>(&what))
    by_name_.put(named->project, named->queue, queue);
  else if (auto job = std::get_if<job_call>(&what))
    by_id_.put(job->project, job->id.queue, queue);
}

/// Returns whether the call is one to a queue.
bool gateway_state::forget(const call& what) {
  if (auto named = std::get_if<queue_call>(&what))
    by_name_.erase(named->project, named->queue);
  else if (auto job = std::get_if<job_call>(&what))
    by_id_.erase(job->project, job->id.queue);
  else
    return false;
  return true;
}

void gateway_state::ask_queue(const queue_actor& queue,
                              const pending_call_ptr& c) {
  auto visitor = [&](const auto& message) { ask(queue, message, c); };
  if (auto what = std::get_if<queue_call>(&c->what))
    std::visit(visitor, what->what);
  else if (auto job = std::get_if<job_call>(&c->what))
    std::visit(visitor, job->what);
}

// -- replies ------------------------------------------------------------------

template <class Actor, class Message>
void gateway_state::ask(const Actor& whom, Message what,
                        const pending_call_ptr& c) {
  using reply = reply_of<Actor, Message>;
  self_->request(whom, caf::infinite, std::move(what))
    .then([this, c](const reply& x) { finish(c, answer(c->what, x)); },
          [this, c](const caf::error& reason) { fail(from_caf(reason), c); });
}

void gateway_state::fail(const error& reason, const pending_call_ptr& c) {
  auto gone = reason.code == errc::queue_not_found
              || reason.code == errc::draining;
  // The queue that was remembered is gone; there may be a new one.
  if (gone && forget(c->what) && !c->looked_up) {
    look_up(c);
    return;
  }
  finish(c, answer(c->what, reason));
}

void gateway_state::finish(const pending_call_ptr& c, response what) {
  --under_way_;
  c->respond(std::move(what));
}

gateway_actor::behavior_type
make_gateway(gateway_actor::stateful_pointer<gateway_state> self,
             gateway_peers peers) {
  auto& state = self->state;
  state.open(std::move(peers));
  return {
    [&state](pending_call_ptr& c) { state.handle(std::move(c)); },
  };
}

} // namespace tidegate::http
