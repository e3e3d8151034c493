// Carries deliveries to their webhooks over HTTP/1.1.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "http/client_resolver.hpp"
#include "http/client_response.hpp"
#include "http/target_policy.hpp"
#include "tidegate/error.hpp"
#include "tidegate/transport.hpp"

namespace boost::asio {

class io_context;

} // namespace boost::asio

namespace tidegate::http {

struct client_options {
  /// Where the sockets live; at least one. Each context is run by one thread at
  /// a time and outlives the client and all calls that it returned.
  ///
  /// A delivery that is posted from a thread that runs one of them stays there,
  /// others are dealt out in turn. Each context has idle connections of its
  /// own.
  std::vector<boost::asio::io_context*> contexts;

  /// Which addresses may be called.
  target_policy targets;

  /// PEM file with CAs that are trusted besides the system's; empty: none.
  std::string trusted_ca_file;

  response_limits limits;

  /// How long the body of an answer that is no 2xx is waited for: a downstream
  /// that says "not now" is heard at once.
  std::chrono::milliseconds refusal_body_wait{100};

  /// How long a connection that nobody uses is kept.
  std::chrono::milliseconds idle_timeout{30'000};

  /// Most idle connections of one context, to one origin and altogether.
  std::size_t idle_per_origin_max = 256;
  std::size_t idle_max = 4096;

  /// Whom to ask for addresses, see `dns_options`.
  std::vector<std::string> dns_servers;

  /// How names are looked up; without a `lookup` in there by DNS.
  resolver_options resolver;
};

/// The transport of the server. Connections are kept alive and used again;
/// redirects are never followed; nobody is called whom the target policy
/// objects to; certificates are verified.
///
/// A delivery has one deadline over look-up, connect, TLS, request and response
/// head. When the head is in, the outcome is decided: a body that breaks off,
/// never ends or stalls changes nothing but the excerpt. That of a 2xx ends at
/// the same deadline, that of any other answer soon after the head.
class client final : public transport {
public:
  /// The error says what is wrong with `options`.
  static result<std::unique_ptr<client>> make(client_options options);

  client(const client&) = delete;

  client& operator=(const client&) = delete;

  /// Calls `stop`.
  ~client() override;

  /// `done` runs on a thread of one of the contexts, or inside of this call; it
  /// must not throw and may call `post`.
  std::shared_ptr<call> post(delivery what, callback done) override;

  /// Aborts what is under way and closes what is idle; later deliveries are
  /// answered with `delivery_errc::aborted` at once. Returns before the
  /// callbacks of what was under way have run: they run on their contexts, and
  /// once these have nothing left to do, all have run. May be called more than
  /// once.
  void stop();

private:
  struct state;

  explicit client(std::unique_ptr<state> content);

  std::unique_ptr<state> state_;
};

} // namespace tidegate::http
