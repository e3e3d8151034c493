// A whole service in virtual time, with a disk that outlives it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "faulty_store.hpp"
#include "modelled_downstream.hpp"
#include "tidegate/event.hpp"
#include "tidegate/memory_store.hpp"
#include "tidegate/service.hpp"
#include "virtual_system.hpp"

namespace tidegate::testkit {

/// A request was answered with an error.
class refused : public std::runtime_error {
public:
  explicit refused(error why)
    : std::runtime_error(why.message), reason(std::move(why)) {
    // nop
  }

  error reason;
};

/// Returns the code of the error with which a request is refused, nothing where
/// it is not: `CHECK(refusal_of([&] { w.ack(id); }) == errc::job_dead)`.
template <class F>
std::optional<errc> refusal_of(F&& request) {
  try {
    std::forward<F>(request)();
  } catch (const refused& e) {
    return e.reason.code;
  }
  return std::nullopt;
}

/// See `service_options`, but for the seed, which is that of `virtual_system`.
struct world_options {
  std::uint64_t seed = 0;
  std::uint64_t in_flight_max = 0;

  /// A year of looking every second is a long time.
  duration api_keys_pause = service_options{}.api_keys_pause;
  duration removal_pause = service_options{}.removal_pause;

  std::optional<alert_options> alerts{};
};

/// Runs the real actors on one thread. `crash` takes the process away at any
/// moment and leaves what was committed.
class world {
public:
  explicit world(std::uint64_t seed = 0, std::uint64_t in_flight_max = 0);

  explicit world(world_options options);

  ~world();

  virtual_system& system() {
    return *system_;
  }

  modelled_downstream& downstream() {
    return *downstream_;
  }

  store_faults& faults() {
    return *faults_;
  }

  moment now() const {
    return system_->now();
  }

  /// Every event so far, over all crashes.
  const std::vector<service_event>& events() const {
    return *events_;
  }

  /// The API keys that the service has named last.
  const std::vector<api_key_record>& api_keys() const {
    return *api_keys_;
  }

  // -- requests ---------------------------------------------------------------
  //
  // Each throws `refused` where the answer is an error, and `std::logic_error`
  // where there is none yet. Queues, jobs and operations are those of the
  // default project.

  queue_view create(const std::string& name, queue_settings settings = {});
  queue_view patch(const std::string& name, queue_settings_patch patch);
  queue_view pause(const std::string& name);
  queue_view resume(const std::string& name);
  queue_view get(const std::string& name);
  queue_view hold(const std::string& name, duration wait,
                  std::string reason = {});
  queue_view release(const std::string& name);
  queue_view rotate_secret(const std::string& name,
                           duration overlap = std::chrono::hours{24});
  void remove(const std::string& name, bool force = false);

  /// Returns how many jobs were removed.
  std::uint64_t purge(const std::string& name,
                      std::optional<job_status> status = {});

  limit_key_list limit_keys(const std::string& name);
  limit_key_view release_key(const std::string& name, std::string key);

  publish_result put(const std::string& name, publish what = {});
  publish_batch_result put_batch(const std::string& name,
                                 std::vector<publish> jobs);

  job_view get(job_id id);
  job_view cancel(job_id id);
  job_view run_now(job_id id);
  job_view replay(job_id id, std::optional<payload> other = {});
  job_list list(const std::string& name, list_jobs what = {});
  job_list list_dead_letters(const std::string& name, job_filter filter = {});

  /// Returns how many jobs were removed.
  std::uint64_t delete_dead_letters(const std::string& name,
                                    job_filter filter = {});

  replay_plan replay_dead_letters(const std::string& name,
                                  tidegate::replay_dead_letters what = {});
  operation_record get(operation_id id);
  operation_record cancel(operation_id id);
  std::vector<operation_record> operations();

  // What a worker reports.
  void ack(job_id id, std::optional<std::uint64_t> delivery = {});
  void nack(job_id id, bool retryable = true);
  void nack(nack_job what);
  void defer(job_id id, duration wait, std::optional<defer_scope> scope = {});
  void defer(defer_job what);
  void touch(job_id id, duration extend);

  /// Returns the actor of a queue.
  queue_actor queue(const std::string& name);

  /// Returns the actor of the queue that a job belongs to.
  queue_actor queue_of(job_id id);

  /// Sends `what` to `whom` and returns the answer.
  template <class Reply, class Handle, class Message>
  Reply ask(const Handle& whom, Message what) {
    auto answer = system_->ask<Reply>(whom, std::move(what));
    if (!answer)
      throw std::logic_error("no answer");
    if (!*answer)
      throw refused((*answer).reason());
    return std::move(**answer);
  }

  registry_actor registry() const {
    return service_->registry();
  }

  operations_actor operations_handle() const {
    return service_->operations();
  }

  events_actor events_handle() const {
    return service_->events();
  }

  metrics_actor metrics_handle() const {
    return service_->metrics();
  }

  access_actor access() const {
    return service_->access();
  }

  // -- time and death ---------------------------------------------------------

  void advance(duration by) {
    system_->advance(by);
  }

  /// Kills the process without a word and starts it again on what was
  /// committed, `down` later.
  void crash(duration down = {});

  /// Returns the live jobs, completed and dead that the store has of a queue of
  /// the default project, counted one by one.
  queue_counts scan(const std::string& name);

private:
  void start(moment at);

  /// Sends what a worker of the downstream reports.
  void report(const delivery& what, const worker_report& said);

  world_options options_;
  std::mt19937_64 bits_;
  std::shared_ptr<memory_contents> contents_;
  std::shared_ptr<store_faults> faults_;
  std::shared_ptr<std::vector<service_event>> events_;
  std::shared_ptr<std::vector<api_key_record>> api_keys_;
  std::unique_ptr<virtual_system> system_;
  std::shared_ptr<modelled_downstream> downstream_;
  std::unique_ptr<service> service_;
  event_listener listener_;
};

/// Settings with a webhook, ready for use.
queue_settings some_settings();

} // namespace tidegate::testkit
