// A server on a loopback port that answers as a script says, byte for byte.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::http::testing {

/// What the server does on one connection, in order. After the last step it
/// closes. A value: each function returns the script with one step more.
class connection_script {
public:
  enum class step { read_request, send, wait, stall, drip, flood, reset };

  /// Waits until a whole request has come in (its length counts).
  connection_script read_request() const {
    return add(step::read_request);
  }

  /// Sends these bytes.
  connection_script send(std::string bytes) const {
    return add(step::send, std::move(bytes));
  }

  /// Reads a request and answers it with these bytes.
  connection_script answer(std::string bytes) const {
    return read_request().send(std::move(bytes));
  }

  /// Does nothing for a moment, so that what was sent arrives by itself.
  connection_script wait() const {
    return add(step::wait);
  }

  /// Does nothing until the client closes.
  connection_script stall() const {
    return add(step::stall);
  }

  /// Sends these bytes every few milliseconds until the client closes.
  connection_script drip(std::string bytes) const {
    return add(step::drip, std::move(bytes));
  }

  /// Sends these bytes as fast as they go until the client closes.
  connection_script flood(std::string bytes) const {
    return add(step::flood, std::move(bytes));
  }

  /// Closes with a RST instead of a FIN.
  connection_script reset() const {
    return add(step::reset);
  }

  struct entry {
    step what;
    std::string bytes;
  };

  const std::vector<entry>& entries() const {
    return entries_;
  }

private:
  connection_script add(step what, std::string bytes = {}) const {
    auto result = *this;
    result.entries_.push_back({what, std::move(bytes)});
    return result;
  }

  std::vector<entry> entries_;
};

/// PEM texts of a server's certificate chain and key.
struct server_identity {
  std::string certificate;
  std::string key;
};

/// Returns a response with this status and body, and a length.
std::string response(int status, const std::string& body = {},
                     const std::string& more_headers = {});

/// Plays script n on connection n, each on a thread of its own; connections
/// beyond the last script get the last one again. Stops when it is destroyed.
class scripted_server {
public:
  explicit scripted_server(std::vector<connection_script> scripts);

  /// Speaks TLS, as `identity`; with clients that ask for `localhost` (RFC
  /// 6066), as `localhost`, where there is one.
  scripted_server(std::vector<connection_script> scripts,
                  const server_identity& identity,
                  const server_identity& localhost = {});

  scripted_server(const scripted_server&) = delete;

  scripted_server& operator=(const scripted_server&) = delete;

  ~scripted_server();

  std::uint16_t port() const;

  /// Returns e.g. `http://127.0.0.1:40000/hook`.
  std::string url(const std::string& host = "127.0.0.1") const;

  /// How many connections were accepted so far.
  std::size_t connections() const;

  /// How many bytes came in so far, those of TLS not counted.
  std::size_t received() const;

  /// The whole requests that were read so far, in order.
  std::vector<std::string> requests() const;

  /// Blocks until the client has closed connection `n`, from 0, or the script
  /// has ended it.
  void wait_until_closed(std::size_t n);

private:
  struct state;

  std::unique_ptr<state> state_;
};

} // namespace tidegate::http::testing
