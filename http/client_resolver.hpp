// Looks names up without ever blocking, or outliving, whoever asks.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "http/dns.hpp"

namespace tidegate::http {

/// Starts to look `host` up and returns without waiting. `done` is to be called
/// at most once, from any thread, possibly before the function returns. Called
/// by several threads at once; must not throw.
using lookup_function =
  std::function<void(const std::string& host, lookup_callback done)>;

struct resolver_options {
  lookup_function lookup;

  /// Most names that are looked up at once, and most callers that wait for
  /// them; one more is answered with an error.
  std::size_t names_max = 1024;
  std::size_t waiting_max = 4096;

  /// How long an answer is used again. An error is not.
  std::chrono::milliseconds cache_for{2000};

  /// Most answers that are kept.
  std::size_t cache_max = 1024;
};

/// Shares look-ups among those who ask for the same name, and keeps the answers
/// for a while. All functions may be called from any thread.
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
