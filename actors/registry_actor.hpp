// The REGISTRY actor: knows every queue by project and name, and by number.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/environment.hpp"
#include "actors/pull_actor.hpp"
#include "actors/queue_actor.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate {

/// Takes up all queues from the store; answered when all of them run.
struct start_queues {};

struct queues_started {};

/// Refuses new queues and drains the ones there are; answered when nothing is
/// under way any more.
struct drain_all {};

using registry_impl_actor =
  registry_actor::extend<caf::replies_to<start_queues>::with<queues_started>,
                         caf::replies_to<drain_all>::with<queue_drained>,
                         caf::replies_to<find_upkeep>::with<queue_upkeep>,
                         caf::replies_to<find_pull_impl>::with<pull_impl_actor>,
                         caf::replies_to<list_meters>::with<meter_list>,
                         caf::reacts_to<committed>,
                         caf::reacts_to<commit_failed>>;

/// By what people know a queue. Ordered by project, then name, so that those of
/// one project stand together.
struct queue_key {
  std::string project;
  std::string name;
  auto operator<=>(const queue_key&) const = default;
};

/// Creates and removes queues one at a time for each key, so that no two have
/// the same one.
class registry_state {
public:
  explicit registry_state(registry_impl_actor::pointer self);

  static inline const char* name = "tidegate.registry";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env);

  promise<put_queue_result> handle(create_queue& request);
  promise<put_queue_result> handle(put_queue& request);
  promise<queue_deleted> handle(const delete_queue& request);
  promise<queue_list> handle(const list_queues& request);
  caf::result<queue_actor> handle(const find_queue& request) const;
  caf::result<queue_actor> handle(const find_queue_of& request) const;
  promise<pull_queue_created> handle(create_pull_queue& request);
  promise<pull_queue_list> handle(const list_pull_queues& request);
  promise<pull_queue_actor> handle(const find_pull_queue& request);
  promise<pull_impl_actor> handle(const find_pull_impl& request);
  caf::result<queue_upkeep> handle(find_upkeep request) const;
  meter_list handle(list_meters) const;
  promise<ready_for_work> handle(check_ready);
  promise<queues_started> handle(start_queues);
  promise<queue_drained> handle(drain_all);
  void handle(const committed& message);
  void handle(const commit_failed& message);

  /// Answers everybody who still waits and ends the queues.
  void stop();

private:
  /// A queue that runs, of the one kind or of the other.
  struct running {
    queue_impl_actor push;
    pull_impl_actor pull;

    queue_kind kind() const {
      return push ? queue_kind::push : queue_kind::pull;
    }
  };

  /// Told when a queue is stored and runs, or why not.
  using on_created = std::function<void(const std::optional<error>&)>;

  /// A queue that is being stored.
  struct creation {
    queue_record queue;
    on_created done;
  };

  template <class View, class List>
  struct collected_views;

  std::optional<error> unfit() const;
  void when_free(const queue_key& queue, std::function<void()> work);
  void set_free(const queue_key& queue);
  void create(queue_record&& queue, on_created done);
  void create_push(const queue_key& key, queue_settings&& settings,
                   promise<put_queue_result> answer);
  void show_created(const queue_key& key, bool created,
                    promise<pull_queue_created> answer);
  void show_same(const queue_key& key, const pull_settings& settings,
                 promise<pull_queue_created> answer);
  pull_settings default_settings(const queue_key& key) const;
  template <class T>
  void with_pull(const queue_key& key, bool make, bool dead_letters,
                 promise<T> answer);
  template <class List, class Request, class Ask, class Actor>
  promise<List> collect(const Request& request, Ask ask, Actor actor_of);
  void start(queue_snapshot&& stored);
  void tell(event_kind kind, const queue_key& queue);

  registry_impl_actor::pointer self_;
  environment_ptr env_;
  std::map<queue_key, running> queues_;
  std::unordered_map<queue_id, queue_key> keys_;
  queue_id last_queue_;
  bool started_ = false;
  bool draining_ = false;

  /// Keys at which somebody is at work, and what waits for that to end.
  std::map<queue_key, std::vector<std::function<void()>>> busy_;
  std::unordered_map<std::uint64_t, creation> creations_;
  std::uint64_t next_ticket_ = 1;
};

registry_impl_actor::behavior_type
make_registry(registry_impl_actor::stateful_pointer<registry_state> self,
              environment_ptr env);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_queues)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::queues_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::drain_all)
