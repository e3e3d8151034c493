#include "http/client_connector.hpp"

#include <utility>

namespace tidegate::http {

namespace {

constexpr std::chrono::milliseconds attempt_delay{250};

} // namespace

client_connector::client_connector(
  net_executor executor, std::vector<asio::ip::tcp::endpoint> endpoints,
  callback done)
  : stagger_(executor), endpoints_(std::move(endpoints)),
    done_(std::move(done)) {
  // Sockets must not move while an operation of theirs is under way.
  sockets_.reserve(endpoints_.size());
}

void client_connector::start() {
  start_next();
}

void client_connector::cancel() {
  done_ = nullptr;
  stagger_.cancel();
  error_code ignored;
  for (auto& socket : sockets_)
    socket.close(ignored);
}

void client_connector::start_next() {
  auto index = sockets_.size();
  auto& socket = sockets_.emplace_back(stagger_.get_executor());
  socket.async_connect(endpoints_[index],
                       [self = shared_from_this(), index](error_code failure) {
                         self->on_connected(index, failure);
                       });
  if (sockets_.size() == endpoints_.size())
    return;
  stagger_.expires_after(attempt_delay);
  stagger_.async_wait([self = shared_from_this(), index](error_code failure) {
    // A failure that came first has started the next one already.
    if (!failure && self->done_ && self->sockets_.size() == index + 1)
      self->start_next();
  });
}

void client_connector::on_connected(std::size_t index, error_code failure) {
  if (!done_)
    return;
  if (!failure) {
    finish({}, std::move(sockets_[index]));
    return;
  }
  ++failed_;
  if (failed_ == endpoints_.size())
    finish(failure, net_socket{stagger_.get_executor()});
  else if (failed_ == sockets_.size())
    start_next();
}

void client_connector::finish(error_code failure, net_socket socket) {
  auto done = std::exchange(done_, nullptr);
  cancel();
  done(failure, std::move(socket));
}

std::vector<ip_address> interleave(const std::vector<ip_address>& addresses) {
  std::vector<ip_address> first;
  std::vector<ip_address> second;
  for (const auto& x : addresses)
    (x.is_v4 == addresses.front().is_v4 ? first : second).push_back(x);
  std::vector<ip_address> result;
  for (std::size_t i = 0; result.size() < addresses.size(); ++i) {
    if (i < first.size())
      result.push_back(first[i]);
    if (i < second.size())
      result.push_back(second[i]);
  }
  return result;
}

} // namespace tidegate::http
