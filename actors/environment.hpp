// What every actor of one service shares.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "actors/metrics_protocol.hpp"
#include "actors/queue_upkeep.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/delivery_account.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/time.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// The world as the actors of one service see it. Made once, then only read;
/// what the functions touch may be used from any thread.
struct environment {
  /// Reads both clocks.
  std::function<moment()> now;

  /// Draws 64 random bits. The tags of job ids come from here, so they must not
  /// be predictable in a server.
  std::function<std::uint64_t()> random;

  /// Makes a new signing secret.
  std::function<signing_secret()> make_secret;

  std::shared_ptr<tidegate::transport> transport;
  persistence_actor persistence;
  reader_actor reader;

  /// Reads what people ask for: nobody's delivery waits for it.
  reader_actor browser;

  /// May be empty: then nothing limits what is in flight over all queues.
  permits_actor permits;

  /// Set once, before the first queue is taken up.
  operations_impl_actor operations;

  /// The EVENTS actor, or in tests another one, or none.
  event_listener listener;

  /// Hears what deliveries came to; none: nobody keeps account of them.
  account_listener on_delivery;

  /// Number of the last job.
  std::shared_ptr<std::atomic<std::uint64_t>> last_job;

  std::shared_ptr<commit_backlog> backlog;

  /// What PERSISTENCE counts.
  std::shared_ptr<commit_counters> commits;

  /// Most records that may wait for the disk before publishes are refused.
  std::uint64_t backlog_max = 0;
};

using environment_ptr = std::shared_ptr<const environment>;

} // namespace tidegate
