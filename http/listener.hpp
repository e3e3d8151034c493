// Accepts connections. Internal to the server.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/session.hpp"
#include "http/worker.hpp"

namespace tidegate::http {

/// Gives each connection to one of the workers, in turn. One too many is told
/// so and closed, which is kinder to its client than silence.
class listener : public std::enable_shared_from_this<listener> {
public:
  /// Accepts on the thread of the first worker.
  /// @pre `!workers.empty()`
  explicit listener(std::vector<std::shared_ptr<worker>> workers);

  /// Returns why it cannot listen, nothing where all is well. For any thread,
  /// once, before any other function.
  std::optional<std::string> open(const std::string& address,
                                  std::uint16_t port);

  /// Returns the port, after `open`.
  std::uint16_t port() const {
    return port_;
  }

  /// Stops. On the thread of the first worker.
  void close();

private:
  void accept();

  void on_accept(boost::system::error_code code, stream_socket socket,
                 std::shared_ptr<worker> home);

  /// Goes on a little later, for instance when there are file descriptors
  /// again.
  void accept_later();

  std::vector<std::shared_ptr<worker>> workers_;
  std::size_t next_ = 0;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp,
                                     boost::asio::io_context::executor_type>
    acceptor_;
  boost::asio::steady_timer pause_;
  std::uint16_t port_ = 0;
  bool closed_ = false;
};

} // namespace tidegate::http
