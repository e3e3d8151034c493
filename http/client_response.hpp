// Reads one final response out of the bytes that a webhook sends.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tidegate/transport.hpp"

namespace tidegate::http {

/// Bounds on what is taken from one response.
struct response_limits {
  /// Bytes of the head, those of interim responses included.
  std::size_t head_max = 16 * 1024;

  /// Bytes of the body, its framing included, that are read so that the
  /// connection can be used again.
  std::size_t body_max = 64 * 1024;

  /// Bytes of the body that are kept.
  std::size_t excerpt_max = 2048;
};

/// HTTP/1.x response (RFC 9112) as a value that is fed with bytes. Knows no
/// socket. Interim responses (1xx) are passed over, at most as many as fit
/// into `head_max`; 101 is an error, for nobody asked to switch.
class response_reader {
public:
  enum class state {
    /// More bytes are needed; nothing is decided yet.
    head,
    /// The final head is in, so the outcome is decided; the body follows.
    body,
    /// The body is complete, or as much of it was read as ever will be.
    done,
    /// What came is no HTTP response or larger than allowed.
    malformed,
  };

  explicit response_reader(response_limits limits);

  response_reader(const response_reader&) = delete;

  response_reader& operator=(const response_reader&) = delete;

  ~response_reader();

  /// Takes bytes from the front of `bytes` and returns how many. The caller
  /// presents the others again, with what has come in since behind them.
  /// @pre `now()` is `head` or `body`
  std::size_t feed(std::string_view bytes);

  /// Says that the other side has ended the stream.
  void end_of_stream();

  state now() const {
    return state_;
  }

  /// Whether the connection may carry another request: the response is
  /// complete and did not ask to close.
  bool reusable() const {
    return reusable_;
  }

  /// Why it is malformed, for people.
  const std::string& complaint() const {
    return complaint_;
  }

  /// Returns the status of the response. @pre `now()` is `body` or `done`
  unsigned status() const;

  /// Moves the response's fields into `reply`.
  /// @pre `now()` is `body` or `done`
  void move_to(delivery_reply& reply);

private:
  class parser;

  void refuse(std::string why);

  void on_complete();

  std::size_t feed_parser(std::string_view bytes);

  response_limits limits_;
  std::unique_ptr<parser> parser_;
  std::size_t head_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  state state_ = state::head;
  bool reusable_ = false;
  std::string complaint_;
};

} // namespace tidegate::http
