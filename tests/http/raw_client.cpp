#include "raw_client.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>

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
  // TLS reads more than there is to hand on.
  timeval patience{patience_ms / 1000, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

void raw_client::tls_deleter::operator()(ssl_st* what) const {
  SSL_free(what);
}

bool raw_client::secure(const std::string& authority,
                        const std::string& protocols) {
  // OpenSSL writes without MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  auto* context = SSL_CTX_new(TLS_client_method());
  auto* bytes = BIO_new_mem_buf(authority.data(),
                                static_cast<int>(authority.size()));
  auto* trusted = PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), trusted);
  X509_free(trusted);
  BIO_free(bytes);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  tls_.reset(SSL_new(context));
  SSL_CTX_free(context);
  if (!protocols.empty())
    SSL_set_alpn_protos(
      tls_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
      static_cast<unsigned>(protocols.size()));
  SSL_set_fd(tls_.get(), socket_);
  return SSL_connect(tls_.get()) == 1;
}

std::string raw_client::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool raw_client::was_told() const {
  return (SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool raw_client::has_bytes(int wait_ms) {
  return (tls_ && SSL_has_pending(tls_.get()) == 1)
         || is_readable(socket_, wait_ms);
}

long raw_client::read(char* bytes, std::size_t size) {
  return tls_ ? SSL_read(tls_.get(), bytes, static_cast<int>(size))
              : ::recv(socket_, bytes, size, 0);
}

raw_client::raw_client(raw_client&& other) noexcept
  : socket_(std::exchange(other.socket_, -1)), tls_(std::move(other.tls_)),
    buffer_(std::move(other.buffer_)) {
  // nop
}

raw_client::~raw_client() {
  if (socket_ >= 0)
    ::close(socket_);
}

bool raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = tls_ ? SSL_write(tls_.get(), bytes.data(),
                              static_cast<int>(bytes.size()))
                  : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void raw_client::finish() {
  if (tls_)
    SSL_shutdown(tls_.get());
  else
    shutdown(socket_, SHUT_WR);
}

bool raw_client::fill() {
  char bytes[16 * 1024];
  if (!has_bytes(patience_ms))
    return false;
  auto n = read(bytes, sizeof(bytes));
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
  // RFC 9112, section 6.3: without a length the body ends with the connection.
  if (result.status == 200 && !to_head
      && result.header("content-length").empty()) {
    while (fill()) {
      // nop
    }
    result.body = std::exchange(buffer_, {});
    return result;
  }
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
  return buffer_.empty() && has_bytes(patience_ms) && read(&byte, 1) <= 0;
}

bool raw_client::is_silent(std::chrono::milliseconds span) {
  return buffer_.empty()
         && !is_readable(socket_, static_cast<int>(span.count()));
}
