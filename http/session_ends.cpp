// How a session begins and how it ends.

#include <utility>

#include "http/body_stream.hpp"
#include "http/server_tls.hpp"
#include "http/session.hpp"

namespace tidegate::http {

using boost::asio::ip::tcp;

// -- beginning ----------------------------------------------------------------

void session::start() {
  boost::system::error_code ignored;
  stream_.socket().set_option(tcp::no_delay{true}, ignored);
  if (home_->core->options.tls)
    shake_hands();
  else
    begin();
}

void session::shake_hands() {
  state_ = state::shaking_hands;
  if (home_->draining)
    return close();
  request_until_ = clock::now() + home_->core->options.request_timeout;
  stream_.add_tls(*home_->core->options.tls->context());
  stream_.async_handshake(
    [self = shared_from_this()](auto code) { self->on_handshake(code); });
  arm();
}

void session::on_handshake(boost::system::error_code code) {
  if (state_ == state::closed)
    return;
  if (code)
    return close();
  state_ = state::open;
  request_until_.reset();
  begin();
}

void session::begin() {
  idle_until_ = clock::now() + home_->core->options.idle_timeout;
  if (home_->draining)
    drain();
  process();
}

// -- ending -------------------------------------------------------------------

void session::drain() {
  if (body_)
    body_->end();
  if (state_ == state::shaking_hands)
    return close();
  if (state_ != state::open)
    return;
  if (!reader_.is_idle() && !reader_.is_skipping()) {
    frame_.keep_alive = false;
    return;
  }
  state_ = state::ending;
  if (pipeline_.empty() && writing_.empty())
    return hang_up();
  pipeline_.end_after_newest();
}

void session::close() {
  if (state_ == state::closed)
    return;
  state_ = state::closed;
  boost::system::error_code ignored;
  stream_.socket().close(ignored);
  pipeline_.abandon();
  if (auto body = std::exchange(body_, nullptr))
    body->abandon();
  out_notices_.clear();
  writing_notices_.clear();
  timer_.cancel();
  home_->sessions.erase(this);
  home_->core->connections.give_back();
}

bool session::is_idle() const {
  return !body_ && pipeline_.empty() && writing_.empty() && out_.empty();
}

void session::end_if_done() {
  if (state_ != state::ending || body_ || !writing_.empty() || !out_.empty())
    return;
  if (pipeline_.empty())
    linger();
  else if (end_of_stream_ && pipeline_.is_abandoned())
    close();
}

void session::linger() {
  if (end_of_stream_ && !stream_.has_tls())
    return close();
  state_ = state::lingering;
  if (stream_.has_tls()) {
    stream_.async_end(
      [self = shared_from_this()](auto code) { self->on_ended(code); });
  } else {
    boost::system::error_code code;
    stream_.socket().shutdown(tcp::socket::shutdown_send, code);
    if (code)
      return close();
  }
  linger_until_ = clock::now() + home_->core->options.linger_timeout;
  read_on();
  arm();
}

void session::hang_up() {
  if (stream_.has_tls() && is_idle() && state_ != state::lingering)
    linger();
  else
    close();
}

void session::on_ended(boost::system::error_code code) {
  if (state_ == state::closed)
    return;
  if (!code || end_of_stream_ || server_stream::is_end(code))
    return close();
  // The client is still sending.
  stream_.bypass_tls();
  read_on();
}

void session::read_on() {
  if (!stream_.has_tls() || stream_.is_bypassed())
    read();
}

void session::drop(std::size_t bytes) {
  dropped_ += bytes;
  if (dropped_ <= home_->core->options.linger_bytes_max)
    return state_ == state::lingering ? read_on() : watch();
  if (state_ == state::lingering)
    close();
}

} // namespace tidegate::http
