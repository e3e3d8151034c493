#include "http/listener.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include "http/problem.hpp"

namespace tidegate::http {

namespace {

namespace asio = boost::asio;

using asio::ip::tcp;

constexpr auto pause_after_error = std::chrono::milliseconds{100};

/// Tells the client in one go, without waiting for it, and hangs up.
void turn_away(stream_socket socket, worker& home) {
  std::string text;
  response_frame frame;
  frame.keep_alive = false;
  frame.request_id = home.ids.next();
  append_response(text,
                  make_problem(problem::overloaded,
                               "The server has as many connections as it can "
                               "take"),
                  frame, home.dates.now());
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
  socket.shutdown(tcp::socket::shutdown_both, ignored);
}

} // namespace

listener::listener(std::vector<std::shared_ptr<worker>> workers)
  : workers_(std::move(workers)), acceptor_(workers_.front()->context),
    pause_(workers_.front()->context) {
  // nop
}

std::optional<std::string> listener::open(const std::string& address,
                                          std::uint16_t port) {
  boost::system::error_code code;
  auto where = asio::ip::make_address(address, code);
  if (code)
    return "'" + address + "' is no IP address";
  tcp::endpoint endpoint{where, port};
  acceptor_.open(endpoint.protocol(), code);
  if (!code)
    acceptor_.set_option(tcp::acceptor::reuse_address{true}, code);
  if (!code)
    acceptor_.bind(endpoint, code);
  if (!code)
    acceptor_.listen(asio::socket_base::max_listen_connections, code);
  if (code)
    return "cannot listen on " + address + " port " + std::to_string(port)
           + ": " + code.message();
  port_ = acceptor_.local_endpoint().port();
  asio::post(acceptor_.get_executor(),
             [self = shared_from_this()] { self->accept(); });
  return std::nullopt;
}

void listener::close() {
  closed_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void listener::accept() {
  if (closed_)
    return;
  auto home = workers_[next_++ % workers_.size()];
  auto executor = home->context.get_executor();
  acceptor_.async_accept(
    executor, [self = shared_from_this(), home = std::move(home)](
                boost::system::error_code code, stream_socket socket) mutable {
      self->on_accept(code, std::move(socket), std::move(home));
    });
}

void listener::on_accept(boost::system::error_code code, stream_socket socket,
                         std::shared_ptr<worker> home) {
  if (closed_)
    return;
  if (code)
    return accept_later();
  if (home->core->connections.take()) {
    auto& context = home->context;
    asio::post(context, [socket = std::move(socket),
                         home = std::move(home)]() mutable {
      std::make_shared<session>(std::move(socket), std::move(home))->start();
    });
  } else if (!workers_.front()->core->options.tls) {
    turn_away(std::move(socket), *workers_.front());
  }
  accept();
}

void listener::accept_later() {
  pause_.expires_after(pause_after_error);
  pause_.async_wait([self = shared_from_this()](auto code) {
    if (!code)
      self->accept();
  });
}

} // namespace tidegate::http
