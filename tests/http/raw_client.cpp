#include "raw_client.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr int patience_ms = 10'000;

bool is_readable(int socket, int wait_ms) {
  pollfd what{socket, POLLIN, 0};
  return poll(&what, 1, wait_ms) == 1;
}

raw_response parse_head(std::string_view head) {
  raw_response result;
  auto line_end = head.find("\r\n");
  result.status = std::atoi(std::string{head.substr(9, 3)}.c_str());
  while (line_end != std::string_view::npos) {
    head.remove_prefix(line_end + 2);
    line_end = head.find("\r\n");
    auto line = head.substr(0, line_end);
    auto colon = line.find(": ");
    if (colon == std::string_view::npos)
      continue;
    std::string name{line.substr(0, colon)};
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    result.headers[name] = line.substr(colon + 2);
  }
  return result;
}

} // namespace

std::string raw_response::header(const std::string& name) const {
  auto i = headers.find(name);
  return i == headers.end() ? std::string{} : i->second;
}

raw_client::raw_client(std::uint16_t port)
  : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0)
    throw std::runtime_error{"cannot connect"};
  int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

raw_client::raw_client(raw_client&& other) noexcept
  : socket_(std::exchange(other.socket_, -1)),
    buffer_(std::move(other.buffer_)) {
  // nop
}

raw_client::~raw_client() {
  if (socket_ >= 0)
    ::close(socket_);
}

bool raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void raw_client::finish() {
  shutdown(socket_, SHUT_WR);
}

bool raw_client::fill() {
  char bytes[16 * 1024];
  if (!is_readable(socket_, patience_ms))
    return false;
  auto n = ::recv(socket_, bytes, sizeof(bytes), 0);
  if (n <= 0)
    return false;
  buffer_.append(bytes, static_cast<std::size_t>(n));
  return true;
}

std::optional<raw_response> raw_client::receive(bool to_head) {
  std::size_t head_end;
  while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!fill())
      return std::nullopt;
  auto result = parse_head(std::string_view{buffer_}.substr(0, head_end));
  buffer_.erase(0, head_end + 4);
  auto length = to_head ? 0
                        : std::atoi(result.header("content-length").c_str());
  while (buffer_.size() < static_cast<std::size_t>(length))
    if (!fill())
      return std::nullopt;
  result.body = buffer_.substr(0, static_cast<std::size_t>(length));
  buffer_.erase(0, static_cast<std::size_t>(length));
  return result;
}

std::optional<raw_response> raw_client::ask(std::string_view bytes) {
  send(bytes);
  return receive();
}

bool raw_client::is_closed() {
  char byte;
  return buffer_.empty() && is_readable(socket_, patience_ms)
         && ::recv(socket_, &byte, 1, 0) <= 0;
}

bool raw_client::is_silent(std::chrono::milliseconds span) {
  return buffer_.empty()
         && !is_readable(socket_, static_cast<int>(span.count()));
}
