// Requests out of the bytes of a connection. Knows HTTP/1.1 and no socket.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "http/message.hpp"
#include "http/problem.hpp"

namespace tidegate::http {

/// Reads one request after the other: first its head, which is looked at, then
/// its body.
///
/// It refuses whatever two readers might understand differently: a length that
/// is given twice or beside a transfer coding, a coding other than `chunked`,
/// and a missing or repeated `Host` (RFC 9112, sections 3.2, 6.1 and 6.3).
class request_reader {
public:
  enum class step : std::uint8_t {
    /// More bytes are needed.
    need_more,
    /// The head is there, see `head`. Go on with `read_body`.
    head,
    /// The whole of a request is there. Go on with `next`.
    complete,
    /// What came is no request, or there is no memory for it, see `fault`.
    /// Nothing more can be read.
    fault,
  };

  explicit request_reader(std::size_t header_bytes_max);

  ~request_reader();

  /// Returns where to put the bytes that come next, never empty. It stays valid
  /// until `commit`, whatever is read meanwhile of what is there.
  std::span<char> prepare();

  /// Says that `bytes` of what `prepare` returned were filled.
  void commit(std::size_t bytes);

  /// Goes on until there is something to say.
  step advance();

  /// Whether no byte of the next request has come yet.
  bool is_idle() const;

  /// Whether bytes wait that were not looked at yet.
  bool has_unread() const;

  /// Whether the rest of a body that nobody wants is still to come.
  bool is_skipping() const;

  /// Why there is no going on, after `step::fault`.
  problem fault() const;

  /// Returns the first field of that name, also after `step::fault` as far as
  /// the head could be read; empty where there is none, or no whole head. Valid
  /// until `advance` or `next`.
  std::string_view field(std::string_view name) const;

  // -- after step::head -------------------------------------------------------

  /// Valid until `advance` or `next`.
  request_head head() const;

  bool is_http_1_0() const;

  /// Whether the client would send another request.
  bool keep_alive() const;

  /// Whether a body follows.
  bool has_body() const;

  /// Whether the body is announced to be larger than `body_bytes_max`.
  bool is_too_large(std::size_t body_bytes_max) const;

  /// Returns how large the body is said to be, 0 where that is not said.
  std::uint64_t announced() const;

  /// Returns how much of the body has come.
  std::size_t body_bytes() const;

  /// Whether the client waits for `100 Continue` before it sends the body.
  bool expects_continue() const;

  /// Goes on to the body, of which no more than `body_bytes_max` is taken.
  void read_body(std::size_t body_bytes_max);

  /// Goes on to the next request. The body in front of it is dropped as it
  /// comes, and takes no memory. @pre `announced()` says how large it is
  void skip_body();

  // -- after step::complete ---------------------------------------------------

  std::string take_body();

  /// Goes on to the next request.
  void next();

private:
  class impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tidegate::http
