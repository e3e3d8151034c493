// Tidegate's actors as one thing to start and to stop.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <caf/fwd.hpp>

#include "tidegate/alert.hpp"
#include "tidegate/clocks.hpp"
#include "tidegate/delivery_account.hpp"
#include "tidegate/error.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/random.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// What a service is made of. `store` and `transport` must be set.
struct service_options {
  /// Where queues and jobs are kept. Owned by the service from then on.
  std::unique_ptr<tidegate::store> store;

  /// How deliveries reach their webhooks. Must answer everything that it was
  /// given before it is destroyed.
  std::shared_ptr<tidegate::transport> transport;

  /// Reads both clocks; the steady one must be that of the actor system. Any
  /// thread.
  std::function<moment()> now = read_clocks;

  /// Draws 64 random bits that nobody can predict: names of jobs are made of
  /// them. Any thread.
  std::function<std::uint64_t()> random = draw_random;

  /// Makes a signing secret: `whsec_` and base64 of 32 random bytes. Any
  /// thread. The default makes empty ones, for transports that sign nothing.
  std::function<signing_secret()> make_secret = [] { return signing_secret{}; };

  /// Hears of every event; may be empty.
  event_listener listener;

  /// Which alerts are told, and to whom; none: none are.
  std::optional<alert_options> alerts{};

  /// Hears what each delivery came to; may be empty, and then that costs
  /// nothing.
  account_listener on_delivery;

  /// What is kept of the events for those who read them as streams.
  event_limits events;

  /// Whether the three actors that block on the disk get threads of their own.
  /// Off only under a scheduler with virtual time.
  bool detach_storage = true;

  /// Hears which API keys there are whenever that changes, from the start on.
  /// Called by an actor; may be empty.
  std::function<void(const std::vector<api_key_record>&)> on_api_keys;

  /// How often it looks whether another process has changed the API keys; 0:
  /// never.
  duration api_keys_pause = std::chrono::milliseconds{500};

  /// How long it waits before it looks again for ended jobs to remove, once
  /// there are none.
  duration removal_pause = std::chrono::seconds{1};

  /// Most deliveries in flight over all queues, shared in turn among those that
  /// have jobs to deliver; 0: no limit.
  std::uint64_t in_flight_max = 0;

  /// Most changes that may wait for the disk. Beyond it publishes are refused
  /// with `overloaded`.
  std::uint64_t backlog_max = 100'000;
};

/// Runs the actors on a host's actor system, under any scheduler. Not
/// thread-safe: one thread starts and stops it. The handles may be used by any
/// actor and thread; drop them before the actor system is destroyed.
///
/// It stops in this order: `drain`, while callbacks and questions are still
/// answered, then `kill`, then the host's own actors that it delivers to, then
/// the actor system.
class service {
public:
  /// Spawns the actors; nothing is read from the store yet.
  /// @pre `system` outlives the service
  service(caf::actor_system& system, service_options options);

  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Calls `kill`.
  ~service();

  /// Returns the actor that creates, lists and finds queues. Requests are
  /// refused until the queues have been taken up.
  registry_actor registry() const;

  /// Returns the actor that knows the long-running operations.
  operations_actor operations() const;

  /// Returns the actor that knows the API keys.
  access_actor access() const;

  /// Returns the actor that hands out events.
  events_actor events() const;

  /// Returns the actor that tells how everything is.
  metrics_actor metrics() const;

  /// Begins to take up all queues from the store. `check_ready` tells when that
  /// is done.
  void start();

  /// Takes up all queues and returns when they run, or with the reason why they
  /// cannot. Blocks the calling thread, which must not be one that runs actors.
  std::optional<error> start_and_wait();

  /// Starts no more deliveries, refuses publishes, goes on answering
  /// everything else, and returns when what was under way has ended and is
  /// stored, or after `timeout`. Returns whether everything had ended. What has
  /// not is still under way then. Blocks like `start_and_wait`.
  bool drain(duration timeout);

  /// Ends the actors in their order, and returns when the store is closed,
  /// where those in front of it have threads of their own. What has not ended
  /// is aborted; it will be delivered again after the next start. Nothing that
  /// was acknowledged is lost.
  void kill();

private:
  struct impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tidegate
