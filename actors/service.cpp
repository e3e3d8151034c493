#include "tidegate/service.hpp"

#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "actors/access_actor.hpp"
#include "actors/alerts_actor.hpp"
#include "actors/environment.hpp"
#include "actors/events_actor.hpp"
#include "actors/janitor_actor.hpp"
#include "actors/metrics_actor.hpp"
#include "actors/operations_actor.hpp"
#include "actors/permits_actor.hpp"
#include "actors/persistence_actor.hpp"
#include "actors/queue_actor.hpp"
#include "actors/reader_actor.hpp"
#include "actors/registry_actor.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

/// CAF copies what it gives to a new actor; this carries what cannot be copied.
template <class T>
std::shared_ptr<T> boxed(T value) {
  return std::make_shared<T>(std::move(value));
}

persistence_actor spawn_persistence(caf::actor_system& system,
                                    const service_options& options,
                                    const event_listener& listener,
                                    std::shared_ptr<commit_counters> counters,
                                    std::unique_ptr<store> door) {
  auto box = boxed(std::move(door));
  return options.detach_storage
           ? system.spawn<caf::detached>(make_persistence, box, options.now,
                                         listener, counters)
           : system.spawn(make_persistence, box, options.now, listener,
                          counters);
}

reader_actor spawn_reader(caf::actor_system& system,
                          std::unique_ptr<store_reader> door, bool detach) {
  auto box = boxed(std::move(door));
  return detach ? system.spawn<caf::detached>(make_reader, box)
                : system.spawn(make_reader, box);
}

} // namespace

struct service::impl {
  explicit impl(caf::actor_system& host) : system(host) {
    // nop
  }

  std::shared_ptr<environment> open(service_options& options);
  std::vector<event_listener> spawn_listeners(service_options& options);
  void spawn_all(service_options options, std::shared_ptr<environment> env);

  caf::actor_system& system;
  alerts_actor alerts;
  events_impl_actor events;
  persistence_actor persistence;
  reader_actor reader;
  reader_actor browser;
  permits_actor permits;
  operations_full_actor operations;
  access_impl_actor access;
  registry_impl_actor registry;
  janitor_actor janitor;
  metrics_actor metrics;
  std::shared_ptr<commit_counters> commits;

  /// Whether those in front of the store have threads of their own.
  bool detached = false;

  /// Why there is nothing to start.
  std::optional<error> broken;
};

/// Spawns those in front of the store. Returns nothing where that cannot be
/// read.
std::shared_ptr<environment> service::impl::open(service_options& options) {
  auto detach = detached = options.detach_storage;
  for (auto actor : {&reader, &browser}) {
    auto door = options.store->open_reader();
    if (!door) {
      broken = door.reason();
      return nullptr;
    }
    *actor = spawn_reader(system, std::move(*door), detach);
  }
  auto disk = std::move(options.store);
  events = system.spawn(make_events, options.now().wall, options.events,
                        spawn_listeners(options));
  commits = std::make_shared<commit_counters>();
  persistence = spawn_persistence(system, options, events, commits,
                                  std::move(disk));
  auto env = std::make_shared<environment>();
  env->persistence = persistence;
  env->reader = reader;
  env->browser = browser;
  return env;
}

std::vector<event_listener>
service::impl::spawn_listeners(service_options& options) {
  std::vector<event_listener> result;
  if (options.listener)
    result.push_back(options.listener);
  if (options.alerts) {
    alerts = system.spawn(make_alerts, options.now, *options.alerts);
    result.push_back(alerts);
  }
  return result;
}

void service::impl::spawn_all(service_options options,
                              std::shared_ptr<environment> env) {
  env->now = std::move(options.now);
  env->random = std::move(options.random);
  env->make_secret = std::move(options.make_secret);
  env->transport = std::move(options.transport);
  env->listener = events;
  env->on_delivery = std::move(options.on_delivery);
  env->last_job = std::make_shared<std::atomic<std::uint64_t>>(0);
  env->backlog = std::make_shared<commit_backlog>();
  env->commits = commits;
  env->backlog_max = options.backlog_max;
  if (options.in_flight_max > 0)
    env->permits = permits = system.spawn(make_permits, options.in_flight_max);
  environment_ptr shared = env;
  // The queues need it, and it the queues: it learns of the registry with the
  // message that starts it.
  env->operations = operations = system.spawn(make_operations, shared);
  access = system.spawn(make_access, shared, std::move(options.on_api_keys),
                        options.api_keys_pause);
  registry = system.spawn(make_registry, shared);
  metrics = system.spawn(make_metrics, shared, meter_directory{registry},
                         events_actor{events});
  janitor = system.spawn(make_janitor, shared, queue_directory{registry},
                         options.removal_pause);
}

service::service(caf::actor_system& system, service_options options)
  : impl_(new impl{system}) {
  if (auto env = impl_->open(options))
    impl_->spawn_all(std::move(options), std::move(env));
}

service::~service() {
  kill();
}

registry_actor service::registry() const {
  return impl_->registry;
}

operations_actor service::operations() const {
  return impl_->operations;
}

access_actor service::access() const {
  return impl_->access;
}

metrics_actor service::metrics() const {
  return impl_->metrics;
}

events_actor service::events() const {
  return impl_->events;
}

// -- start --------------------------------------------------------------------

void service::start() {
  auto& i = *impl_;
  if (i.broken)
    return;
  caf::anon_send(i.access, start_access{});
  caf::anon_send(i.registry, start_queues{});
  caf::anon_send(i.operations, start_operations{queue_directory{i.registry}});
  caf::anon_send(i.janitor, start_janitor{});
  if (i.alerts)
    caf::anon_send(i.alerts, start_alerts{i.registry, i.registry});
}

std::optional<error> service::start_and_wait() {
  auto& i = *impl_;
  if (i.broken)
    return i.broken;
  std::optional<error> result;
  caf::scoped_actor self{i.system};
  auto failed = [&](const caf::error& reason) { result = from_caf(reason); };
  self->request(i.access, caf::infinite, start_access{})
    .receive([](access_started) {}, failed);
  if (!result)
    self->request(i.registry, caf::infinite, start_queues{})
      .receive([](queues_started) {}, failed);
  if (!result)
    self
      ->request(i.operations, caf::infinite,
                start_operations{queue_directory{i.registry}})
      .receive([](operations_started) {}, failed);
  if (!result && i.alerts)
    self->request(i.alerts, caf::infinite, start_alerts{i.registry, i.registry})
      .receive([](alerts_started) {}, failed);
  if (!result)
    caf::anon_send(i.janitor, start_janitor{});
  return result;
}

// -- stop ---------------------------------------------------------------------

bool service::drain(duration timeout) {
  auto& i = *impl_;
  if (i.broken)
    return true;
  auto all = true;
  auto failed = [&](const caf::error&) { all = false; };
  caf::scoped_actor self{i.system};
  auto queues = self->request(i.registry, timeout, drain_all{});
  auto operations = self->request(i.operations, timeout, stand_down{});
  auto janitor = self->request(i.janitor, timeout, stand_down{});
  queues.receive([](queue_drained) {}, failed);
  operations.receive([](stood_down) {}, failed);
  janitor.receive([](stood_down) {}, failed);
  return all;
}

void service::kill() {
  auto& i = *impl_;
  auto stop = [](auto& actor) {
    if (actor)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    actor = nullptr;
  };
  stop(i.alerts);
  stop(i.metrics);
  stop(i.registry);
  stop(i.janitor);
  stop(i.operations);
  stop(i.access);
  stop(i.permits);
  // The store is closed last: whoever closes it puts its log in order, and that
  // takes that nobody else has it open.
  std::vector<reader_actor> readers;
  for (auto actor : {&i.reader, &i.browser})
    if (*actor)
      readers.push_back(*actor);
  stop(i.browser);
  stop(i.reader);
  auto disk = i.persistence;
  if (i.detached && disk) {
    caf::scoped_actor self{i.system};
    self->wait_for(readers);
    stop(i.persistence);
    // Whoever starts a service on the same file next finds it closed.
    self->wait_for(disk);
  }
  stop(i.persistence);
  stop(i.events);
}

} // namespace tidegate
