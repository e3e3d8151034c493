#include "http/client_exchange.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

#include "http/client_tls.hpp"

namespace tidegate::http {

namespace {

// Names with more addresses are tried at the first ones only.
constexpr std::size_t addresses_max = 16;

std::string seconds_text(duration d) {
  auto text = std::to_string(to_seconds(d));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return text + " s";
}

bool is_end_of_stream(error_code failure) {
  return failure == asio::error::eof
         || failure == asio::ssl::error::stream_truncated;
}

} // namespace

client_exchange::client_exchange(std::shared_ptr<client_lane> lane,
                                 outgoing_request request,
                                 transport::callback done)
  : lane_(lane.get()), executor_(lane->executor()),
    request_(std::move(request)), done_(std::move(done)),
    reader_(lane->shared().options.limits) {
  // nop
}

void client_exchange::abort() {
  if (!ended_)
    asio::post(executor_, [self = shared_from_this()] { self->on_abort(); });
}

void client_exchange::start(client_lane::deadline_map::iterator position) {
  position_ = position;
  connection_ = lane_->take_idle(request_.url.origin);
  if (!connection_) {
    open();
    return;
  }
  reused_ = true;
  send();
}

void client_exchange::on_deadline() {
  cut_short(delivery_errc::timeout, "no answer within "
                                      + seconds_text(request_.timeout)
                                      + ": still " + stage_);
}

void client_exchange::on_abort() {
  cut_short(delivery_errc::aborted,
            std::string{"the delivery was aborted while "} + stage_);
}

// -- to a connection ----------------------------------------------------------

void client_exchange::open() {
  auto known = addresses_without_lookup(request_.url.host);
  if (known.empty())
    look_up();
  else
    connect(known);
}

void client_exchange::look_up() {
  stage_ = "looking up the host's name";
  auto done = [weak = weak_from_this(),
               executor = executor_](const lookup_result& found) {
    asio::post(executor, [weak, found] {
      if (auto self = weak.lock())
        self->on_lookup(found);
    });
  };
  ticket_ = lane_->shared().resolver.resolve(request_.url.host, done);
}

void client_exchange::on_lookup(const lookup_result& found) {
  if (ended_)
    return;
  ticket_ = nullptr;
  if (found.addresses.empty())
    fail(delivery_errc::dns_failed, "the name \"" + request_.url.host
                                      + "\" did not resolve: " + found.error);
  else
    connect(interleave(found.addresses));
}

void client_exchange::connect(const std::vector<ip_address>& addresses) {
  stage_ = "connecting";
  const auto& policy = lane_->shared().options.targets;
  std::vector<asio::ip::tcp::endpoint> endpoints;
  std::string blocked;
  for (const auto& address : addresses) {
    if (auto kind = policy.objection(address))
      blocked = blocked_text(address, *kind);
    else if (endpoints.size() < addresses_max)
      endpoints.push_back(to_endpoint(address, request_.url.port));
  }
  if (endpoints.empty()) {
    fail(delivery_errc::target_blocked, std::move(blocked));
    return;
  }
  auto done = [self = shared_from_this()](error_code failure,
                                          net_socket socket) {
    self->on_connected(failure, std::move(socket));
  };
  connector_ = std::make_shared<client_connector>(executor_,
                                                  std::move(endpoints), done);
  connector_->start();
}

void client_exchange::on_connected(error_code failure, net_socket socket) {
  connector_ = nullptr;
  if (failure) {
    fail(delivery_errc::connect_failed, "could not connect to "
                                          + request_.url.authority + ": "
                                          + failure.message());
    return;
  }
  socket.set_option(asio::ip::tcp::no_delay{true}, failure);
  connection_ = std::make_shared<client_connection>(std::move(socket));
  if (request_.url.tls)
    shake_hands();
  else
    send();
}

void client_exchange::shake_hands() {
  stage_ = "agreeing on TLS";
  auto* ssl = connection_->add_tls(*request_.trust->context);
  if (!expect_host(ssl, request_.url.host)) {
    fail(delivery_errc::tls_failed, "OpenSSL does not take the host's name");
    return;
  }
  // The connection is kept until the operation has ended, here as below.
  connection_->async_handshake(
    [self = shared_from_this(), keep = connection_](error_code failure) {
      self->on_handshake(failure);
    });
}

void client_exchange::on_handshake(error_code failure) {
  if (ended_)
    return;
  if (failure) {
    auto [code, text] = explain_handshake(connection_->tls_handle(),
                                          failure.message());
    fail(code, std::move(text));
    return;
  }
  send();
}

// -- to a response ------------------------------------------------------------

void client_exchange::send() {
  stage_ = "waiting for the answer";
  auto sent = connection_->try_write(request_.bytes);
  if (sent < request_.bytes.size()) {
    writing_ = true;
    auto rest = std::string_view{request_.bytes}.substr(sent);
    connection_->async_write(rest, [self = shared_from_this(),
                                    to = connection_](error_code failure,
                                                      std::size_t) {
      if (!failure && to == self->connection_)
        self->writing_ = false;
    });
  }
  read();
}

void client_exchange::read() {
  connection_->async_read([self = shared_from_this(), from = connection_](
                            error_code failure, std::size_t count) {
    self->on_read(from, failure, count);
  });
}

void client_exchange::on_read(const connection_ptr& from, error_code failure,
                              std::size_t count) {
  if (ended_ || from != connection_)
    return;
  if (failure) {
    on_broken(failure);
    return;
  }
  got_bytes_ = true;
  connection_->commit(count);
  connection_->consume(reader_.feed(connection_->unread()));
  switch (reader_.now()) {
    case response_reader::state::body:
      await_body();
      read();
      return;
    case response_reader::state::head:
      read();
      return;
    case response_reader::state::done:
      succeed();
      return;
    case response_reader::state::malformed:
      fail(delivery_errc::malformed_response, reader_.complaint());
      return;
  }
}

/// The outcome is decided. Nobody waits long for what a refusal says besides.
void client_exchange::await_body() {
  auto is_success = reader_.status() / 100 == 2;
  if (std::exchange(awaits_body_, true) || is_success || !position_)
    return;
  lane_->hasten(*position_,
                net_clock::now() + lane_->shared().options.refusal_body_wait);
}

void client_exchange::on_broken(error_code failure) {
  if (reader_.now() == response_reader::state::body) {
    succeed();
  } else if (reused_ && !got_bytes_) {
    // It died while it was idle, or as we wrote. A fresh one, this once.
    reused_ = false;
    writing_ = false;
    connection_->close();
    connection_ = nullptr;
    open();
  } else if (is_end_of_stream(failure)) {
    fail(delivery_errc::connection_reset,
         "the connection was closed before an answer came");
  } else if (failure.category() == asio::error::get_ssl_category()) {
    fail(delivery_errc::tls_failed, "TLS failed: " + failure.message());
  } else {
    fail(delivery_errc::connection_reset,
         "the connection broke before an answer came: " + failure.message());
  }
}

// -- to the end ---------------------------------------------------------------

void client_exchange::cut_short(delivery_errc code, const std::string& why) {
  if (!ended_ && reader_.now() == response_reader::state::body)
    succeed();
  else
    fail(code, why);
}

void client_exchange::fail(delivery_errc code, std::string why) {
  delivery_reply reply;
  reply.error_code = code;
  reply.error = std::move(why);
  finish(std::move(reply));
}

void client_exchange::succeed() {
  delivery_reply reply;
  reader_.move_to(reply);
  if (reader_.reusable() && !writing_ && connection_->unread().empty())
    lane_->give_back(request_.url.origin, std::exchange(connection_, nullptr));
  finish(std::move(reply));
}

void client_exchange::finish(delivery_reply reply) {
  if (ended_.exchange(true))
    return;
  ticket_ = nullptr;
  if (connector_)
    connector_->cancel();
  connector_ = nullptr;
  // Operations that are under way own the connection until they end.
  if (connection_)
    connection_->close();
  connection_ = nullptr;
  auto self = shared_from_this();
  if (position_)
    lane_->remove(*position_);
  reply.took =
    std::chrono::duration_cast<duration>(net_clock::now() - request_.started);
  std::exchange(done_, nullptr)(std::move(reply));
}

} // namespace tidegate::http
