#include "tidegate/service.hpp"

#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "actors/environment.hpp"
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
                                    std::unique_ptr<store> door) {
  auto box = boxed(std::move(door));
  return options.detach_storage
           ? system.spawn<caf::detached>(make_persistence, box, options.now,
                                         options.listener)
           : system.spawn(make_persistence, box, options.now, options.listener);
}

reader_actor spawn_reader(caf::actor_system& system,
                          std::unique_ptr<store_reader> door, bool detach) {
  auto box = boxed(std::move(door));
  return detach ? system.spawn<caf::detached>(make_reader, box)
                : system.spawn(make_reader, box);
}

} // namespace

struct service::impl {
  caf::actor_system& system;
  persistence_actor persistence;
  reader_actor reader;
  registry_impl_actor registry;
  /// Why there is nothing to start.
  std::optional<error> broken;
};

service::service(caf::actor_system& system, service_options options)
  : impl_(new impl{system, {}, {}, {}, {}}) {
  auto& i = *impl_;
  auto door = options.store->open_reader();
  if (!door) {
    i.broken = door.reason();
    return;
  }
  i.reader = spawn_reader(system, std::move(*door), options.detach_storage);
  auto disk = std::move(options.store);
  i.persistence = spawn_persistence(system, options, std::move(disk));
  auto env = std::make_shared<environment>();
  env->now = std::move(options.now);
  env->random = std::move(options.random);
  env->make_secret = std::move(options.make_secret);
  env->transport = std::move(options.transport);
  env->persistence = i.persistence;
  env->reader = i.reader;
  env->listener = std::move(options.listener);
  env->last_job = std::make_shared<std::atomic<std::uint64_t>>(0);
  env->backlog = std::make_shared<commit_backlog>();
  env->backlog_max = options.backlog_max;
  i.registry = system.spawn(make_registry, environment_ptr{std::move(env)});
}

service::~service() {
  kill();
}

registry_actor service::registry() const {
  return impl_->registry;
}

void service::start() {
  caf::anon_send(impl_->registry, start_queues{});
}

std::optional<error> service::start_and_wait() {
  if (impl_->broken)
    return impl_->broken;
  std::optional<error> result;
  caf::scoped_actor self{impl_->system};
  self->request(impl_->registry, caf::infinite, start_queues{})
    .receive([](queues_started) {},
             [&](const caf::error& reason) { result = from_caf(reason); });
  return result;
}

bool service::drain(duration timeout) {
  auto drained = false;
  caf::scoped_actor self{impl_->system};
  self->request(impl_->registry, timeout, drain_all{})
    .receive([&](queue_drained) { drained = true; }, [](const caf::error&) {});
  return drained;
}

void service::kill() {
  auto stop = [](auto& actor) {
    if (actor)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    actor = nullptr;
  };
  stop(impl_->registry);
  stop(impl_->persistence);
  stop(impl_->reader);
}

} // namespace tidegate
