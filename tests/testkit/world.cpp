#include "tests/testkit/world.hpp"

#include <utility>

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate::testkit {

namespace {

event_listener::behavior_type
record_events(event_listener::pointer,
              std::shared_ptr<std::vector<service_event>> events) {
  return {[events](const service_event& e) { events->push_back(e); }};
}

/// Sends a report as a worker does, who does not mind what is answered.
template <class Report>
void send_report(caf::actor_system& system, registry_actor registry,
                 Report what) {
  system.spawn([=](caf::event_based_actor* self) {
    self->request(registry, caf::infinite, find_queue_of{what.id})
      .then(
        [=](const queue_actor& owner) {
          self->request(owner, caf::infinite, what)
            .then([](report_taken) {}, [](const caf::error&) {});
        },
        [](const caf::error&) {});
  });
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

world::world(std::uint64_t seed, std::uint64_t in_flight_max)
  : world(world_options{seed, in_flight_max}) {
  // nop
}

world::world(world_options what)
  : options_(what), bits_(what.seed), contents_(make_memory_contents()),
    faults_(std::make_shared<store_faults>()),
    events_(std::make_shared<std::vector<service_event>>()),
    api_keys_(std::make_shared<std::vector<api_key_record>>()) {
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
  system_ =
    std::make_unique<virtual_system>(at, options_.seed == 0 ? 0 : bits_() | 1);
  downstream_ = std::make_shared<modelled_downstream>(*system_, behaviour);
  if (old)
    downstream_->remember(*old);
  downstream_->on_report(
    [this](const delivery& what, const worker_report& said) {
      report(what, said);
    });
  listener_ = system_->get().spawn(record_events, events_);
  service_options options;
  options.store = make_faulty_store(make_memory_store(contents_), faults_);
  options.transport = downstream_;
  options.now = [system = system_.get()] { return system->now(); };
  options.random = [this] { return bits_(); };
  options.make_secret = [] { return "whsec_test_secret"; };
  options.listener = listener_;
  options.detach_storage = false;
  options.in_flight_max = options_.in_flight_max;
  options.api_keys_pause = options_.api_keys_pause;
  options.removal_pause = options_.removal_pause;
  options.alerts = options_.alerts;
  options.on_api_keys = [keys = api_keys_](const auto& all) { *keys = all; };
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

// -- queues -------------------------------------------------------------------

queue_view world::create(const std::string& name, queue_settings settings) {
  if (settings.webhook_url.empty())
    settings.webhook_url = some_settings().webhook_url;
  return ask<put_queue_result>(registry(), create_queue{name, settings}).view;
}

queue_actor world::queue(const std::string& name) {
  return ask<queue_actor>(registry(), find_queue{name});
}

queue_actor world::queue_of(job_id id) {
  return ask<queue_actor>(registry(), find_queue_of{id});
}

queue_view world::patch(const std::string& name, queue_settings_patch patch) {
  return ask<queue_view>(queue(name), patch_queue{std::move(patch)});
}

queue_view world::pause(const std::string& name) {
  return ask<queue_view>(queue(name), pause_queue{});
}

queue_view world::resume(const std::string& name) {
  return ask<queue_view>(queue(name), resume_queue{});
}

queue_view world::get(const std::string& name) {
  return ask<queue_view>(queue(name), get_queue{});
}

queue_view world::hold(const std::string& name, duration wait,
                       std::string reason) {
  return ask<queue_view>(queue(name), hold_queue{wait, std::move(reason)});
}

queue_view world::release(const std::string& name) {
  return ask<queue_view>(queue(name), release_queue{});
}

queue_view world::rotate_secret(const std::string& name, duration overlap) {
  return ask<queue_view>(queue(name), tidegate::rotate_secret{overlap});
}

void world::remove(const std::string& name, bool force) {
  ask<queue_deleted>(registry(), delete_queue{name, force});
}

std::uint64_t world::purge(const std::string& name,
                           std::optional<job_status> status) {
  return ask<jobs_removed>(queue(name), purge_queue{status}).count;
}

limit_key_list world::limit_keys(const std::string& name) {
  return ask<limit_key_list>(queue(name), list_limit_keys{});
}

limit_key_view world::release_key(const std::string& name, std::string key) {
  return ask<limit_key_view>(queue(name), release_limit_key{std::move(key)});
}

// -- jobs ---------------------------------------------------------------------

publish_result world::put(const std::string& name, publish what) {
  if (what.payload.bytes().empty())
    what.payload = payload{"{}"};
  return ask<publish_result>(queue(name), std::move(what));
}

publish_batch_result world::put_batch(const std::string& name,
                                      std::vector<publish> jobs) {
  for (auto& what : jobs)
    if (what.payload.bytes().empty())
      what.payload = payload{"{}"};
  return ask<publish_batch_result>(queue(name), publish_batch{std::move(jobs)});
}

job_view world::get(job_id id) {
  return ask<job_view>(queue_of(id), get_job{id});
}

job_view world::cancel(job_id id) {
  return ask<job_view>(queue_of(id), cancel_job{id});
}

job_view world::run_now(job_id id) {
  return ask<job_view>(queue_of(id), run_job_now{id});
}

job_view world::replay(job_id id, std::optional<payload> other) {
  return ask<job_view>(queue_of(id), replay_job{id, std::move(other)});
}

job_list world::list(const std::string& name, list_jobs what) {
  return ask<job_list>(queue(name), std::move(what));
}

job_list world::list_dead_letters(const std::string& name, job_filter filter) {
  list_jobs what;
  what.filter = std::move(filter);
  what.dead_letters = true;
  return list(name, std::move(what));
}

// -- dead letters and operations ----------------------------------------------

std::uint64_t world::delete_dead_letters(const std::string& name,
                                         job_filter filter) {
  return ask<jobs_removed>(queue(name),
                           tidegate::delete_dead_letters{std::move(filter)})
    .count;
}

replay_plan world::replay_dead_letters(const std::string& name,
                                       tidegate::replay_dead_letters what) {
  return ask<replay_plan>(queue(name), std::move(what));
}

operation_record world::get(operation_id id) {
  return ask<operation_record>(operations_handle(),
                               get_operation{default_project, id});
}

operation_record world::cancel(operation_id id) {
  return ask<operation_record>(operations_handle(),
                               cancel_operation{default_project, id});
}

std::vector<operation_record> world::operations() {
  return ask<operation_list>(operations_handle(), list_operations{}).items;
}

// -- reports ------------------------------------------------------------------

void world::ack(job_id id, std::optional<std::uint64_t> delivery) {
  ask<report_taken>(queue_of(id), ack_job{id, delivery});
}

void world::nack(job_id id, bool retryable) {
  nack(nack_job{id, std::nullopt, retryable, {}});
}

void world::nack(nack_job what) {
  auto owner = queue_of(what.id);
  ask<report_taken>(owner, std::move(what));
}

void world::defer(job_id id, duration wait, std::optional<defer_scope> scope) {
  defer(defer_job{id, std::nullopt, wait, scope, {}});
}

void world::defer(defer_job what) {
  auto owner = queue_of(what.id);
  ask<report_taken>(owner, std::move(what));
}

void world::touch(job_id id, duration extend) {
  ask<report_taken>(queue_of(id), touch_job{id, std::nullopt, extend});
}

void world::report(const delivery& what, const worker_report& said) {
  const std::string reason = "the worker said so";
  switch (said.what) {
    case callback_kind::none:
      break;
    case callback_kind::ack:
      send_report(system_->get(), registry(), ack_job{what.job, what.number});
      break;
    case callback_kind::nack:
      send_report(system_->get(), registry(),
                  nack_job{what.job, what.number, said.retryable, reason});
      break;
    case callback_kind::defer:
      send_report(system_->get(), registry(),
                  defer_job{what.job, what.number, said.wait, said.scope,
                            reason});
      break;
  }
}

queue_counts world::scan(const std::string& name) {
  auto reader = make_memory_store(contents_);
  queue_counts result;
  auto stored = reader->load_queues();
  for (const auto& q : *stored) {
    if (q.queue.project != default_project || q.queue.name != name)
      continue;
    result.completed = q.queue.completed;
    result.dead = q.queue.dead;
    for (const auto& j : q.jobs)
      ++(j.status == job_status::pending        ? result.pending
         : j.status == job_status::awaiting_ack ? result.awaiting_ack
                                                : result.processing);
  }
  return result;
}

} // namespace tidegate::testkit
