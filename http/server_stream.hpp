// A client's connection, in clear or with TLS. Internal to the server.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace tidegate::http {

/// A socket that knows which kind of executor it has, which saves the
/// indirections of the one that does not.
using stream_socket =
  boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                   boost::asio::io_context::executor_type>;

/// A socket, and the TLS around it if any: in clear an operation is that of the
/// socket and one comparison more. For the thread of its context. At most one
/// read and one write may be under way; `async_end` counts as a write.
class server_stream {
public:
  explicit server_stream(stream_socket socket) : socket_(std::move(socket)) {
    // nop
  }

  /// Puts TLS around the socket.
  void add_tls(boost::asio::ssl::context& context) {
    tls_ = std::make_unique<tls_stream>(socket_, context);
  }

  bool has_tls() const {
    return tls_ != nullptr;
  }

  stream_socket& socket() {
    return socket_;
  }

  /// @pre `has_tls()`
  template <class Handler>
  void async_handshake(Handler handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server,
                          std::move(handler));
  }

  template <class Handler>
  void async_read(std::span<char> room, Handler handler) {
    auto buffer = boost::asio::buffer(room.data(), room.size());
    if (tls_ && !bypassed_)
      tls_->async_read_some(buffer, std::move(handler));
    else
      socket_.async_read_some(buffer, std::move(handler));
  }

  /// Writes all of `bytes`.
  template <class Handler>
  void async_write(const std::string& bytes, Handler handler) {
    if (tls_)
      boost::asio::async_write(*tls_, boost::asio::buffer(bytes),
                               std::move(handler));
    else
      boost::asio::async_write(socket_, boost::asio::buffer(bytes),
                               std::move(handler));
  }

  /// Sends the `close_notify` of TLS and waits for that of the client. Fails
  /// where the client goes on to send, and no more of it can be decrypted then.
  /// @pre `has_tls()`
  template <class Handler>
  void async_end(Handler handler) {
    tls_->async_shutdown(std::move(handler));
  }

  /// From now on reads get what comes as it comes, encrypted: to be dropped.
  void bypass_tls() {
    bypassed_ = true;
  }

  bool is_bypassed() const {
    return bypassed_;
  }

  /// Whether `failure` of a read means that the client sends nothing more. One
  /// that leaves out the `close_notify` is no worse: where a request ends is
  /// for HTTP to say.
  static bool is_end(boost::system::error_code failure) {
    return failure == boost::asio::error::eof
           || failure == boost::asio::ssl::error::stream_truncated;
  }

private:
  using tls_stream = boost::asio::ssl::stream<stream_socket&>;

  stream_socket socket_;
  std::unique_ptr<tls_stream> tls_;
  bool bypassed_ = false;
};

} // namespace tidegate::http
