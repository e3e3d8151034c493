#include "http/client_connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace tidegate::http {

namespace {

// Room for one read: most responses to webhooks are smaller.
constexpr std::size_t read_size = 4096;

} // namespace

std::size_t client_connection::try_write(const std::string& bytes) {
  if (tls_)
    return 0;
  auto count = ::send(socket_.native_handle(), bytes.data(), bytes.size(),
                      MSG_DONTWAIT | MSG_NOSIGNAL);
  // What went wrong is for whoever reads from the socket to find out.
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

asio::mutable_buffer client_connection::prepare() {
  if (first_ == size_)
    first_ = size_ = 0;
  if (buffer_.size() < size_ + read_size) {
    buffer_.erase(0, first_);
    size_ -= first_;
    first_ = 0;
    buffer_.resize(size_ + read_size);
  }
  return {buffer_.data() + size_, buffer_.size() - size_};
}

void client_connection::consume(std::size_t count) {
  first_ += count;
}

void client_connection::shrink() {
  first_ = size_ = 0;
  if (buffer_.size() > read_size)
    buffer_ = std::string{};
}

bool client_connection::is_fresh() {
  char byte;
  auto count = ::recv(socket_.native_handle(), &byte, 1,
                      MSG_PEEK | MSG_DONTWAIT);
  if (count < 0)
    return errno == EAGAIN || errno == EWOULDBLOCK;
  // TLS has messages of its own, such as session tickets.
  return count > 0 && tls_;
}

void client_connection::close() {
  error_code ignored;
  socket_.close(ignored);
}

} // namespace tidegate::http
