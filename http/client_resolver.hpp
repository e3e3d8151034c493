// Looks names up without ever blocking, or outliving, whoever asks.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/ip_address.hpp"

namespace tidegate::http {

/// What a name resolves to: addresses in the order to try them, or why there
/// are none, for people.
struct lookup_result {
  std::vector<ip_address> addresses;
  std::string error;
};

/// Blocks until `host` is resolved. Called by several threads at once.
using lookup_function = std::function<lookup_result(const std::string& host)>;

/// Asks the system (`getaddrinfo`, so `/etc/hosts` and DNS). Never throws.
lookup_result system_lookup(const std::string& host);

struct resolver_options {
  lookup_function lookup = system_lookup;

  /// Most look-ups that run at once, each on a thread of its own.
  std::size_t threads_max = 4;

  /// Most callers that wait at once; one more is answered with an error.
  std::size_t waiting_max = 4096;

  /// How long an answer is used again. An error is not.
  std::chrono::milliseconds cache_for{2000};

  /// Most answers that are kept.
  std::size_t cache_max = 1024;
};

/// Runs look-ups on a few threads of its own, started when they are first
/// needed. Callers that ask for the same name share one look-up. All functions
/// may be called from any thread.
///
/// The system's resolver cannot be interrupted, so nobody waits for these
/// threads: they own all that they touch and end by themselves.
class client_resolver {
public:
  using callback = std::function<void(const lookup_result&)>;

  /// Somebody who waits. Letting go of it withdraws the question.
  using ticket = std::shared_ptr<callback>;

  explicit client_resolver(resolver_options options);

  client_resolver(const client_resolver&) = delete;

  client_resolver& operator=(const client_resolver&) = delete;

  /// Calls `stop`.
  ~client_resolver();

  /// Starts to look `host` up. `done` runs at most once, on any thread,
  /// possibly before this returns, and holding no lock of its caller's; it must
  /// be quick, must not throw and must not call the resolver. It no longer runs
  /// once `stop` has returned; it may still run just after the ticket was let
  /// go.
  [[nodiscard]] ticket resolve(const std::string& host, callback done);

  /// Forgets everybody who waits.
  void stop();

private:
  struct state;

  std::shared_ptr<state> state_;
};

} // namespace tidegate::http
