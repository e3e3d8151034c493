#include "name_server.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <netinet/in.h>

namespace tidegate::http::testing {

namespace {

constexpr std::size_t header_size = 12;
constexpr unsigned type_a = 1;
constexpr unsigned type_aaaa = 28;

struct question {
  std::string name;
  unsigned type;
  /// Name, type and class as they came.
  std::string_view bytes;
};

/// Reads the one question of a message.
question read_question(std::string_view message) {
  question result{{}, 0, {}};
  auto at = header_size;
  while (auto length = static_cast<unsigned char>(message.at(at))) {
    if (!result.name.empty())
      result.name += '.';
    result.name += message.substr(at + 1, length);
    at += length + 1u;
  }
  result.type = static_cast<unsigned char>(message.at(at + 2));
  result.bytes = message.substr(header_size, at + 5 - header_size);
  return result;
}

/// Returns the bytes of an address of the type that is asked for.
std::optional<std::string> data_of(const std::string& address, unsigned type) {
  auto family = type == type_a ? AF_INET : AF_INET6;
  std::string result(type == type_a ? 4 : 16, '\0');
  if (inet_pton(family, address.c_str(), result.data()) != 1)
    return std::nullopt;
  return result;
}

std::string answer_to(std::string_view message, const name_answer& what) {
  auto id = message.substr(0, 2);
  if (what.garbage)
    return std::string{id} + *what.garbage;
  auto asked = read_question(message);
  std::string records;
  unsigned count = 0;
  for (const auto& each : what.addresses) {
    auto data = asked.type == type_a || asked.type == type_aaaa
                  ? data_of(each, asked.type)
                  : std::nullopt;
    if (!data)
      continue;
    ++count;
    // The name is the question's, the class IN, the time to live 0.
    records += {'\xc0', '\x0c', 0, static_cast<char>(asked.type), 0, 1};
    records += {0, 0, 0, 0, 0, static_cast<char>(data->size())};
    records += *data;
  }
  std::string result{id};
  // An answer, with recursion; NXDOMAIN where there is nothing.
  result += {'\x81', what.addresses.empty() ? '\x83' : '\x80', 0, 1};
  result += {static_cast<char>(count >> 8), static_cast<char>(count)};
  result += {0, 0, 0, 0};
  result += asked.bytes;
  return result + records;
}

} // namespace

class name_server::impl {
public:
  impl(script answers, const std::string& address, std::uint16_t port)
    : answers_(std::move(answers)), address_(address),
      socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &name.sin_addr);
    socklen_t size = sizeof(name);
    auto* raw = reinterpret_cast<sockaddr*>(&name);
    if (bind(socket_, raw, size) != 0 || getsockname(socket_, raw, &size) != 0)
      throw std::runtime_error{"the name server cannot listen"};
    port_ = ntohs(name.sin_port);
    thread_ = std::thread{[this] { run(); }};
  }

  ~impl() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }

  std::uint16_t port() const {
    return port_;
  }

  std::string where() const {
    return address_ + ':' + std::to_string(port_);
  }

private:
  void run() {
    std::array<char, 1500> buffer;
    sockaddr_in from{};
    for (;;) {
      socklen_t size = sizeof(from);
      auto* raw = reinterpret_cast<sockaddr*>(&from);
      auto count = recvfrom(socket_, buffer.data(), buffer.size(), 0, raw,
                            &size);
      if (count < static_cast<ssize_t>(header_size))
        return;
      std::string_view message{buffer.data(), static_cast<std::size_t>(count)};
      auto what = answers_(read_question(message).name);
      if (!what)
        continue;
      auto bytes = answer_to(message, *what);
      sendto(socket_, bytes.data(), bytes.size(), 0, raw, size);
    }
  }

  script answers_;
  std::string address_;
  int socket_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

name_server::name_server(script answers, const std::string& address,
                         std::uint16_t port)
  : impl_(std::make_unique<impl>(std::move(answers), address, port)) {
  // nop
}

name_server::~name_server() = default;

std::uint16_t name_server::port() const {
  return impl_->port();
}

std::string name_server::where() const {
  return impl_->where();
}

} // namespace tidegate::http::testing
