#include "scripted_server.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <set>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace tidegate::http::testing {

namespace asio = boost::asio;

using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds pause{20};

// What a connection can do, in clear or with TLS.
struct stream {
  std::function<bool(std::string&)> read_some;
  std::function<bool(const std::string&)> write;
};

template <class AsyncStream>
stream make_stream(AsyncStream& socket) {
  stream result;
  result.read_some = [&socket](std::string& into) {
    char bytes[4096];
    error_code failure;
    auto count = socket.read_some(asio::buffer(bytes), failure);
    into.append(bytes, count);
    return !failure;
  };
  result.write = [&socket](const std::string& bytes) {
    error_code failure;
    asio::write(socket, asio::buffer(bytes), failure);
    return !failure;
  };
  return result;
}

// Returns how long the request at the front of `bytes` is, 0 if incomplete.
std::size_t request_size(const std::string& bytes) {
  auto end = bytes.find("\r\n\r\n");
  if (end == std::string::npos)
    return 0;
  std::string name = "\r\ncontent-length: ";
  auto field = bytes.find(name);
  auto length = field < end ? std::strtoull(bytes.c_str() + field + name.size(),
                                            nullptr, 10)
                            : 0;
  auto size = end + 4 + length;
  return bytes.size() >= size ? size : 0;
}

std::unique_ptr<asio::ssl::context> make_tls(const server_identity& identity) {
  auto result =
    std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  result->use_certificate_chain(asio::buffer(identity.certificate));
  result->use_private_key(asio::buffer(identity.key), asio::ssl::context::pem);
  return result;
}

// Goes on as `other`, an SSL_CTX, where the client asks for `localhost`.
int choose_by_name(SSL* ssl, int*, void* other) {
  auto name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (name && std::string_view{name} == "localhost")
    SSL_set_SSL_CTX(ssl, static_cast<SSL_CTX*>(other));
  return SSL_TLSEXT_ERR_OK;
}

} // namespace

std::string response(int status, const std::string& body,
                     const std::string& more_headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Something\r\n" + more_headers
         + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct scripted_server::state {
  std::vector<connection_script> scripts;
  std::unique_ptr<asio::ssl::context> tls;
  std::unique_ptr<asio::ssl::context> tls_for_localhost;
  asio::io_context context;
  tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  std::thread accepting;
  std::list<std::thread> serving;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::size_t accepted = 0;
  std::size_t received = 0;
  std::vector<std::string> requests;
  std::set<std::size_t> closed;
  std::set<tcp::socket*> open;
  bool stopping = false;

  void accept_loop();

  void serve(tcp::socket socket, std::size_t n);

  void play(const connection_script& script, stream io, tcp::socket& socket);

  bool read_request(stream& io, std::string& bytes);

  bool play_entry(const connection_script::entry& entry, stream& io,
                  std::string& bytes, tcp::socket& socket);
};

void scripted_server::state::accept_loop() {
  for (;;) {
    error_code failure;
    tcp::socket socket{context};
    acceptor.accept(socket, failure);
    std::unique_lock guard{mutex};
    if (failure || stopping)
      return;
    auto n = accepted++;
    serving.emplace_back([this, n, moved = std::move(socket)]() mutable {
      serve(std::move(moved), n);
    });
    changed.notify_all();
  }
}

void scripted_server::state::serve(tcp::socket socket, std::size_t n) {
  {
    std::unique_lock guard{mutex};
    if (stopping)
      return;
    open.insert(&socket);
  }
  const auto& script = scripts[std::min(n, scripts.size() - 1)];
  auto first = script.entries().empty() ? connection_script::step::wait
                                        : script.entries().front().what;
  // A stall as the very first step stalls the handshake too.
  if (tls && first != connection_script::step::stall) {
    asio::ssl::stream<tcp::socket&> secured{socket, *tls};
    error_code failure;
    secured.handshake(asio::ssl::stream_base::server, failure);
    if (!failure)
      play(script, make_stream(secured), socket);
  } else {
    play(script, make_stream(socket), socket);
  }
  std::unique_lock guard{mutex};
  open.erase(&socket);
  error_code ignored;
  socket.close(ignored);
  closed.insert(n);
  changed.notify_all();
}

void scripted_server::state::play(const connection_script& script, stream io,
                                  tcp::socket& socket) {
  std::string bytes;
  for (const auto& entry : script.entries())
    if (!play_entry(entry, io, bytes, socket))
      return;
}

bool scripted_server::state::read_request(stream& io, std::string& bytes) {
  for (;;) {
    if (auto size = request_size(bytes); size > 0) {
      std::unique_lock guard{mutex};
      requests.push_back(bytes.substr(0, size));
      bytes.erase(0, size);
      return true;
    }
    auto before = bytes.size();
    auto ok = io.read_some(bytes);
    std::unique_lock guard{mutex};
    received += bytes.size() - before;
    if (!ok)
      return false;
  }
}

bool scripted_server::state::play_entry(const connection_script::entry& entry,
                                        stream& io, std::string& bytes,
                                        tcp::socket& socket) {
  using step = connection_script::step;
  switch (entry.what) {
    case step::read_request:
      return read_request(io, bytes);
    case step::send:
      return io.write(entry.bytes);
    case step::wait:
      std::this_thread::sleep_for(pause);
      return true;
    case step::stall:
      while (io.read_some(bytes))
        bytes.clear();
      return false;
    case step::drip:
      while (io.write(entry.bytes))
        std::this_thread::sleep_for(pause);
      return false;
    case step::flood:
      while (io.write(entry.bytes)) {
        // nop
      }
      return false;
    case step::reset:
      socket.set_option(asio::socket_base::linger{true, 0});
      return false;
  }
  return false;
}

scripted_server::scripted_server(std::vector<connection_script> scripts)
  : scripted_server(std::move(scripts), {}) {
  // nop
}

scripted_server::scripted_server(std::vector<connection_script> scripts,
                                 const server_identity& identity,
                                 const server_identity& localhost)
  : state_(std::make_unique<state>()) {
  state_->scripts = std::move(scripts);
  if (!identity.key.empty())
    state_->tls = make_tls(identity);
  if (!localhost.key.empty()) {
    state_->tls_for_localhost = make_tls(localhost);
    auto native = state_->tls->native_handle();
    SSL_CTX_set_tlsext_servername_callback(native, choose_by_name);
    SSL_CTX_set_tlsext_servername_arg(
      native, state_->tls_for_localhost->native_handle());
  }
  state_->accepting = std::thread{[this] { state_->accept_loop(); }};
}

scripted_server::~scripted_server() {
  {
    std::unique_lock guard{state_->mutex};
    state_->stopping = true;
    error_code ignored;
    for (auto* socket : state_->open)
      socket->shutdown(tcp::socket::shutdown_both, ignored);
  }
  // Wakes a blocking accept, which closing the acceptor would not.
  ::shutdown(state_->acceptor.native_handle(), SHUT_RDWR);
  state_->accepting.join();
  for (auto& thread : state_->serving)
    thread.join();
}

std::uint16_t scripted_server::port() const {
  return state_->acceptor.local_endpoint().port();
}

std::string scripted_server::url(const std::string& host) const {
  return (state_->tls ? "https://" : "http://") + host + ':'
         + std::to_string(port()) + "/hook";
}

std::size_t scripted_server::connections() const {
  std::unique_lock guard{state_->mutex};
  return state_->accepted;
}

std::size_t scripted_server::received() const {
  std::unique_lock guard{state_->mutex};
  return state_->received;
}

std::vector<std::string> scripted_server::requests() const {
  std::unique_lock guard{state_->mutex};
  return state_->requests;
}

void scripted_server::wait_until_closed(std::size_t n) {
  std::unique_lock guard{state_->mutex};
  state_->changed.wait(guard, [&] { return state_->closed.contains(n); });
}

} // namespace tidegate::http::testing
