// The GATEWAY actor: turns calls into messages and replies into responses.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include "http/api.hpp"
#include "http/message.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate::http {

/// A call and the right to answer it. Shared only to travel in a message; the
/// gateway is its one owner.
struct pending_call {
  call what;
  responder respond;
  /// Whether the queue was looked up for this call. A handle from the cache may
  /// be that of a queue that is gone.
  bool looked_up = false;
};

using pending_call_ptr = std::shared_ptr<pending_call>;

/// Takes calls; each is answered exactly once. There is one for each thread.
using gateway_actor = caf::typed_actor<caf::reacts_to<pending_call_ptr>>;

class gateway_state {
public:
  explicit gateway_state(gateway_actor::pointer self);

  static inline const char* name = "tidegate.gateway";

  void open(registry_actor registry);

  void handle(pending_call_ptr c);

private:
  template <class T>
  void execute(const T& what, const pending_call_ptr& c);
  void execute(const queue_call& what, const pending_call_ptr& c);
  void execute(const get_job& what, const pending_call_ptr& c);

  template <class Reply, class Actor, class Message>
  void ask(const Actor& whom, Message what, const pending_call_ptr& c);
  void ask_queue(const queue_actor& queue, const pending_call_ptr& c);
  void look_up(const pending_call_ptr& c);
  void fail(const error& reason, const pending_call_ptr& c);
  void finish(const pending_call_ptr& c, response what);

  gateway_actor::pointer self_;
  registry_actor registry_;
  std::unordered_map<std::string, queue_actor> queues_;
  std::size_t under_way_ = 0;
};

gateway_actor::behavior_type
make_gateway(gateway_actor::stateful_pointer<gateway_state> self,
             registry_actor registry);

} // namespace tidegate::http

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::http::pending_call_ptr)
