// The listening side: accepts connections, reads requests, writes responses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/message.hpp"
#include "tidegate/time.hpp"

namespace boost::asio {

class io_context;

} // namespace boost::asio

namespace tidegate::http {

class server_tls;

/// Where to listen and how much to take.
struct server_options {
  /// A literal address, IPv4 or IPv6.
  std::string address = "127.0.0.1";

  /// 0: any free one, see `server::port`.
  std::uint16_t port = 8080;

  /// What connections speak TLS with; null: they are in clear.
  std::shared_ptr<server_tls> tls;

  /// Bytes of a request's line and headers; beyond: 431.
  std::size_t header_bytes_max = 16 * 1024;

  /// Bytes of a body; beyond: 413.
  std::size_t body_bytes_max = 1024 * 1024;

  /// The same for many jobs at once, where it is more.
  std::size_t batch_bytes_max = 16 * 1024 * 1024;

  /// Bytes of bodies that are being read or wait for their answer, over all
  /// connections: those of publishes, with something for each, and whatever is
  /// large. Beyond: 503, or where even the largest body would find it full,
  /// room for two of that size.
  std::size_t bodies_bytes_max = 32 * 1024 * 1024;

  /// Requests of one connection that are waiting for their answer; at the bound
  /// nothing more is read from it.
  std::size_t pipeline_max = 64;

  /// Connections at once; one more is answered 503 and closed, with TLS just
  /// closed.
  std::size_t connections_max = 10'000;

  /// From the first byte of a request to the last one of its body; then 408.
  /// As much is given to the handshake of TLS.
  duration request_timeout = std::chrono::seconds{10};

  /// For how long a connection may be open with nothing going on, and for how
  /// long a client may leave a response unread.
  duration idle_timeout = std::chrono::seconds{75};

  /// For how long the rest of a refused request is read and dropped, so that
  /// the client gets to see the answer.
  duration linger_timeout = std::chrono::seconds{2};

  /// How much of it is, at most.
  std::size_t linger_bytes_max = 8 * 1024 * 1024;
};

/// A request that the server has answered by itself, without `handler::handle`.
/// All of it is valid only during the call that it is handed to.
struct refused_request {
  /// The `x-request-id` of the answer.
  std::string_view id;

  /// Address of the client, without its port.
  std::string_view peer;

  /// Who asked for what; null where `handler::admit` did not say.
  const admission* asked = nullptr;

  /// Since its head was there; 0 where it never was.
  duration took{0};

  const response& answer;
};

/// What the server asks about requests. Called from the thread of the
/// connection's `io_context`, so from several threads at once.
class handler {
public:
  virtual ~handler() = default;

  /// Looks at a request whose head has arrived. Where it is refused the body is
  /// not read, and the connection ends where there is one.
  virtual std::variant<admission, refusal> admit(const request_head& head) = 0;

  /// Takes a whole request. `respond` may be called before this returns. Must
  /// not throw.
  virtual void handle(request what, responder respond) = 0;

  /// Hears of each request that was refused: by `admit`, or because it is too
  /// large, too slow, no HTTP, or more than there is room for. Must not throw.
  virtual void refused(const refused_request&) {
    // nop
  }
};

/// An HTTP/1.1 server (RFC 9110, RFC 9112) on a set of `io_context`s, each of
/// which is run by one thread. A connection stays with one of them.
///
/// All member functions may be called from any thread. The contexts must
/// outlive every `responder` that was handed out.
class server {
public:
  /// @pre `!contexts.empty()`, none of them null
  server(server_options options, std::vector<boost::asio::io_context*> contexts,
         std::shared_ptr<handler> what);

  server(const server&) = delete;

  server& operator=(const server&) = delete;

  /// Drops every connection.
  ~server();

  /// Starts to listen. Returns why it cannot, nothing where all is well.
  std::optional<std::string> start();

  /// Returns the port that the server listens on, 0 before `start`.
  std::uint16_t port() const;

  /// Returns how many connections are open.
  std::size_t connections() const;

  /// Stops listening and closes what is idle. Requests under way are answered,
  /// with `connection: close`. Calls `stopped` from one of the contexts once
  /// the last connection is gone.
  void stop(std::function<void()> stopped);

  /// Drops every connection at once.
  void abort();

private:
  class impl;

  std::shared_ptr<impl> impl_;
};

} // namespace tidegate::http
