// A client for tests that says exactly what it is told to say.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ssl_st;

/// A response as it came over the wire.
struct raw_response {
  int status = 0;

  /// Names in lower case.
  std::map<std::string, std::string> headers;

  std::string body;

  /// Returns the header `name`, empty where there is none.
  std::string header(const std::string& name) const;
};

/// A blocking connection to a server on loopback. Nothing waits longer than a
/// few seconds; a test that needs more has failed.
class raw_client {
public:
  explicit raw_client(std::uint16_t port);

  raw_client(raw_client&& other) noexcept;

  raw_client(const raw_client&) = delete;

  ~raw_client();

  /// Speaks TLS from now on, with a server whose certificate `authority` (PEM)
  /// has signed. `protocols`: those of ALPN, each behind its length. Returns
  /// whether that was agreed on.
  bool secure(const std::string& authority, const std::string& protocols = {});

  /// The protocol that was agreed on, empty where there is none.
  std::string protocol() const;

  /// Whether the server has said that it sends nothing more (`close_notify`),
  /// once `is_closed` is true.
  bool was_told() const;

  /// Sends `bytes`. Returns whether all of them could be sent.
  bool send(std::string_view bytes);

  /// Says that nothing more will be sent.
  void finish();

  /// Reads the next response, 1xx included. Nothing where the connection ended
  /// or nothing comes. `to_head`: the request was a `HEAD`.
  std::optional<raw_response> receive(bool to_head = false);

  /// Sends `bytes` and reads the next response.
  std::optional<raw_response> ask(std::string_view bytes);

  /// Whether the server closes the connection, with nothing more to read.
  bool is_closed();

  /// Whether nothing comes within `span`, and the connection stays open.
  bool is_silent(std::chrono::milliseconds span);

private:
  /// Reads some more bytes. Returns false at the end of the stream.
  bool fill();

  struct tls_deleter {
    void operator()(ssl_st* what) const;
  };

  bool has_bytes(int wait_ms);

  /// Reads up to `size` bytes, returns how many, not more than 0 at the end.
  long read(char* bytes, std::size_t size);

  int socket_;
  std::unique_ptr<ssl_st, tls_deleter> tls_;
  std::string buffer_;
};
