// One connection to a webhook's server, in clear or with TLS.

#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "http/client_net.hpp"

namespace tidegate::http {

/// A socket, the TLS around it if any, and the bytes that were read and not
/// taken yet. Belongs to one exchange at a time, or to the idle ones. Used by
/// the thread of its context only.
class client_connection {
public:
  explicit client_connection(net_socket socket) : socket_(std::move(socket)) {
    // nop
  }

  /// Puts TLS around the socket. Returns its OpenSSL handle.
  SSL* add_tls(asio::ssl::context& context) {
    tls_ = std::make_unique<tls_stream>(socket_, context);
    return tls_->native_handle();
  }

  SSL* tls_handle() {
    return tls_->native_handle();
  }

  template <class Handler>
  void async_handshake(Handler handler) {
    tls_->async_handshake(asio::ssl::stream_base::client, std::move(handler));
  }

  /// Writes all of `bytes`, which stay valid until `handler(failure, count)`
  /// runs.
  template <class Handler>
  void async_write(std::string_view bytes, Handler handler) {
    if (tls_)
      asio::async_write(*tls_, asio::const_buffer(bytes.data(), bytes.size()),
                        std::move(handler));
    else
      asio::async_write(socket_, asio::const_buffer(bytes.data(), bytes.size()),
                        std::move(handler));
  }

  /// Writes what the kernel takes of `bytes` without waiting and returns how
  /// much that was; always 0 with TLS.
  std::size_t try_write(const std::string& bytes);

  /// Reads some bytes behind those of `unread()`. `handler(failure, count)`
  /// passes `count` on to `commit`.
  template <class Handler>
  void async_read(Handler handler) {
    auto room = prepare();
    if (tls_)
      tls_->async_read_some(room, std::move(handler));
    else
      socket_.async_read_some(room, std::move(handler));
  }

  void commit(std::size_t count) {
    size_ += count;
  }

  /// Returns what was read and not consumed yet, valid until the next call.
  std::string_view unread() const {
    return {buffer_.data() + first_, size_ - first_};
  }

  void consume(std::size_t count);

  /// Gives back what memory a large answer took, before the connection idles.
  /// @pre `unread()` is empty
  void shrink();

  /// Returns whether an idle connection is still of use, as far as can be seen
  /// without sending: the peer has not closed it, nor said what nobody asked.
  bool is_fresh();

  /// Closes at once, without the ceremony of TLS.
  void close();

  net_executor executor() {
    return socket_.get_executor();
  }

private:
  using tls_stream = asio::ssl::stream<net_socket&>;

  asio::mutable_buffer prepare();

  net_socket socket_;
  std::unique_ptr<tls_stream> tls_;
  std::string buffer_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

} // namespace tidegate::http
