#include "tests/testkit/world.hpp"

#include <stdexcept>
#include <utility>

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate::testkit {

namespace {

/// Returns the value or throws what was answered instead.
template <class T>
T need(std::optional<result<T>>&& answer) {
  if (!answer)
    throw std::logic_error("no answer");
  if (!*answer)
    throw std::runtime_error((*answer).reason().message);
  return std::move(**answer);
}

event_listener::behavior_type
record_events(event_listener::pointer,
              std::shared_ptr<std::vector<service_event>> events) {
  return {[events](const service_event& e) { events->push_back(e); }};
}

moment some_moment() {
  // 2026-01-01T00:00:00Z
  return {steady_time{std::chrono::seconds{1}},
          wall_time{std::chrono::seconds{1'767'225'600}}};
}

} // namespace

queue_settings some_settings() {
  queue_settings result;
  result.webhook_url = "http://downstream.test/";
  return result;
}

world::world(std::uint64_t seed)
  : seed_(seed), bits_(seed), contents_(make_memory_contents()),
    faults_(std::make_shared<store_faults>()),
    events_(std::make_shared<std::vector<service_event>>()) {
  start(some_moment());
}

world::~world() {
  service_->kill();
  caf::anon_send_exit(listener_, caf::exit_reason::user_shutdown);
  system_->run();
}

void world::start(moment at) {
  auto behaviour = downstream_ ? downstream_->behaviour() : always(response{});
  auto old = std::move(downstream_);
  system_ = std::make_unique<virtual_system>(at, seed_ == 0 ? 0 : bits_() | 1);
  downstream_ = std::make_shared<modelled_downstream>(*system_, behaviour);
  if (old)
    downstream_->remember(*old);
  listener_ = system_->get().spawn(record_events, events_);
  service_options options;
  options.store = make_faulty_store(make_memory_store(contents_), faults_);
  options.transport = downstream_;
  options.now = [system = system_.get()] { return system->now(); };
  options.random = [this] { return bits_(); };
  options.make_secret = [] { return "whsec_test_secret"; };
  options.listener = listener_;
  options.detach_storage = false;
  service_ = std::make_unique<service>(system_->get(), std::move(options));
  service_->start();
  system_->run();
}

void world::crash(duration down) {
  auto at = now();
  at.steady += down;
  at.wall += down;
  // The dead write nothing and hear nothing.
  auto alive = std::exchange(faults_->down, true);
  downstream_->drop_all();
  service_->kill();
  caf::anon_send_exit(listener_, caf::exit_reason::user_shutdown);
  listener_ = nullptr;
  system_->run();
  service_.reset();
  faults_->down = alive;
  auto dead = std::move(system_);
  start(at);
}

// -- requests -----------------------------------------------------------------

queue_view world::create(const std::string& name, queue_settings settings) {
  if (settings.webhook_url.empty())
    settings.webhook_url = some_settings().webhook_url;
  return need(system_->ask<put_queue_result>(registry(),
                                             create_queue{name, settings}))
    .view;
}

queue_actor world::queue(const std::string& name) {
  return need(system_->ask<queue_actor>(registry(), find_queue{name}));
}

queue_view world::patch(const std::string& name, queue_settings_patch patch) {
  return need(
    system_->ask<queue_view>(queue(name), patch_queue{std::move(patch)}));
}

queue_view world::pause(const std::string& name) {
  return need(system_->ask<queue_view>(queue(name), pause_queue{}));
}

queue_view world::resume(const std::string& name) {
  return need(system_->ask<queue_view>(queue(name), resume_queue{}));
}

queue_view world::get(const std::string& name) {
  return need(system_->ask<queue_view>(queue(name), get_queue{}));
}

job_view world::get(job_id id) {
  auto owner = need(system_->ask<queue_actor>(registry(), find_queue_of{id}));
  return need(system_->ask<job_view>(owner, get_job{id}));
}

publish_result world::put(const std::string& name, publish what) {
  if (what.payload.bytes().empty())
    what.payload = payload{"{}"};
  return need(system_->ask<publish_result>(queue(name), std::move(what)));
}

queue_counts world::scan(const std::string& name) {
  auto reader = make_memory_store(contents_);
  queue_counts result;
  auto stored = reader->load_queues();
  for (const auto& q : *stored) {
    if (q.queue.name != name)
      continue;
    result.completed = q.queue.completed;
    result.dead = q.queue.dead;
    for (const auto& j : q.jobs)
      ++(j.status == job_status::pending ? result.pending : result.processing);
  }
  return result;
}

} // namespace tidegate::testkit
