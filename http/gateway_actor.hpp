// The GATEWAY actor: turns calls into messages and replies into responses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include "http/api.hpp"
#include "http/message.hpp"
#include "http/metrics_printer.hpp"
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

  /// Of a `pull_call`: the queue that it goes to, once that is known.
  std::string target = {};
};

using pending_call_ptr = std::shared_ptr<pending_call>;

/// Takes calls; each is answered exactly once. There is one for each thread.
using gateway_actor = caf::typed_actor<caf::reacts_to<pending_call_ptr>>;

/// Whom a gateway asks.
struct gateway_peers {
  registry_actor registry;
  operations_actor operations;
  access_actor access;
  events_actor events = {};
  metrics_printer metrics = {};
};

/// Handles of queues by the name or number that a project knows them by. Holds
/// a bounded number of them.
template <class Name, class Actor = queue_actor>
class queue_cache {
public:
  /// Returns the handle, null where it is not known.
  const Actor* find(std::string_view project, Name name) const {
    auto i = queues_.find(key_view{project, name});
    return i == queues_.end() ? nullptr : &i->second;
  }

  void put(std::string_view project, Name name, Actor queue) {
    if (queues_.size() >= size_max)
      queues_.clear();
    queues_.insert_or_assign(key{std::string{project}, stored{name}},
                             std::move(queue));
  }

  void erase(std::string_view project, Name name) {
    auto i = queues_.find(key_view{project, name});
    if (i != queues_.end())
      queues_.erase(i);
  }

private:
  static constexpr std::size_t size_max = 10'000;

  using stored = std::conditional_t<std::is_same_v<Name, std::string_view>,
                                    std::string, Name>;

  using key = std::pair<std::string, stored>;

  using key_view = std::pair<std::string_view, Name>;

  // Transparent, so that looking up makes no strings.
  struct hash {
    using is_transparent = void;

    std::size_t operator()(const key_view& x) const {
      return std::hash<std::string_view>{}(x.first) * 31
             + std::hash<Name>{}(x.second);
    }

    std::size_t operator()(const key& x) const {
      return (*this)(key_view{x.first, x.second});
    }
  };

  struct equal {
    using is_transparent = void;

    template <class T, class U>
    bool operator()(const T& x, const U& y) const {
      return x.second == y.second && x.first == y.first;
    }
  };

  std::unordered_map<key, Actor, hash, equal> queues_;
};

class gateway_state {
public:
  explicit gateway_state(gateway_actor::pointer self);

  static inline const char* name = "tidegate.gateway";

  void open(gateway_peers peers);

  void handle(pending_call_ptr c);

private:
  template <class T>
  void execute(const T& what, const pending_call_ptr& c);
  void execute(const queue_call& what, const pending_call_ptr& c);
  void execute(const job_call& what, const pending_call_ptr& c);
  void execute(const pull_call& what, const pending_call_ptr& c);
  void execute(const events_call& what, const pending_call_ptr& c);
  void execute(const metrics_call& what, const pending_call_ptr& c);
  void execute(const health_check& what, const pending_call_ptr& c);
  void execute(const ready_check& what, const pending_call_ptr& c);

  template <class Actor, class Message>
  void ask(const Actor& whom, Message what, const pending_call_ptr& c);
  void ask_queue(const queue_actor& queue, const pending_call_ptr& c);
  template <class Message>
  void look_up(Message what, const pending_call_ptr& c);
  void look_up(const pending_call_ptr& c);

  // -- pull queues, see gateway_pull.cpp --------------------------------------

  using on_found = std::function<void(const pull_queue_actor&)>;
  using on_missed = std::function<void(const error&)>;

  void find_pull(const std::string& project, const std::string& name, bool make,
                 on_found found, on_missed missed);
  void find_target(const pull_call& what, const pending_call_ptr& c);
  void look_up_pull(const pull_call& what, const pending_call_ptr& c);
  void ask_pull(const pull_queue_actor& queue, const pending_call_ptr& c);
  template <class Message>
  void send_pull(const pull_queue_actor& queue, const Message& what,
                 const pending_call_ptr& c);
  void miss(const error& reason, const pending_call_ptr& c);
  void wait_for_queue(const pending_call_ptr& c);
  void fail_pull(const error& reason, const pending_call_ptr& c);

  // ---------------------------------------------------------------------------

  void remember(const queue_actor& queue, const call& what);
  bool forget(const call& what);
  void fail(const error& reason, const pending_call_ptr& c);
  void finish(const pending_call_ptr& c, response what);

  gateway_actor::pointer self_;
  gateway_peers peers_;
  queue_cache<std::string_view> by_name_;
  queue_cache<queue_id> by_id_;
  queue_cache<std::string_view, pull_queue_actor> pull_by_name_;
  std::size_t under_way_ = 0;
};

gateway_actor::behavior_type
make_gateway(gateway_actor::stateful_pointer<gateway_state> self,
             gateway_peers peers);

} // namespace tidegate::http

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::http::pending_call_ptr)
