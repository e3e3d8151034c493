// A whole service in virtual time, with a disk that outlives it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "storage/memory_store.hpp"
#include "tests/testkit/faulty_store.hpp"
#include "tests/testkit/modelled_downstream.hpp"
#include "tests/testkit/virtual_system.hpp"
#include "tidegate/event.hpp"
#include "tidegate/service.hpp"

namespace tidegate::testkit {

/// Runs the real actors on one thread. `crash` takes the process away at any
/// moment and leaves what was committed.
class world {
public:
  explicit world(std::uint64_t seed = 0);

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

  // -- requests; each throws where the answer is an error or does not come ----

  queue_view create(const std::string& name, queue_settings settings = {});
  queue_view patch(const std::string& name, queue_settings_patch patch);
  queue_view pause(const std::string& name);
  queue_view resume(const std::string& name);
  queue_view get(const std::string& name);
  job_view get(job_id id);
  publish_result put(const std::string& name, publish what = {});

  /// Returns the actor of a queue.
  queue_actor queue(const std::string& name);

  registry_actor registry() const {
    return service_->registry();
  }

  // -- time and death ---------------------------------------------------------

  void advance(duration by) {
    system_->advance(by);
  }

  /// Kills the process without a word and starts it again on what was
  /// committed, `down` later.
  void crash(duration down = {});

  /// Returns the live jobs, completed and dead that the store has of a queue,
  /// counted one by one.
  queue_counts scan(const std::string& name);

private:
  void start(moment at);

  std::uint64_t seed_;
  std::mt19937_64 bits_;
  std::shared_ptr<memory_contents> contents_;
  std::shared_ptr<store_faults> faults_;
  std::shared_ptr<std::vector<service_event>> events_;
  std::unique_ptr<virtual_system> system_;
  std::shared_ptr<modelled_downstream> downstream_;
  std::unique_ptr<service> service_;
  event_listener listener_;
};

/// Settings with a webhook, ready for use.
queue_settings some_settings();

} // namespace tidegate::testkit
