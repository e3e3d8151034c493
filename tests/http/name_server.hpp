// A DNS server on loopback that says what a test wants it to say.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::http::testing {

/// What the server says to a question.
struct name_answer {
  /// Literal addresses; those of the family that was asked for are told. None
  /// at all: there is no such name.
  std::vector<std::string> addresses;

  /// Sent as the whole message after the id, instead of an answer.
  std::optional<std::string> garbage = std::nullopt;
};

/// Answers over UDP (RFC 1035), on a thread of its own, until it is destroyed.
class name_server {
public:
  /// Called on the server's thread for each question; nothing: it is silent.
  using script =
    std::function<std::optional<name_answer>(const std::string& name)>;

  /// Listens on `address`, an IPv4 one of loopback; port 0: any free one.
  explicit name_server(script answers, const std::string& address = "127.0.0.1",
                       std::uint16_t port = 0);

  name_server(const name_server&) = delete;

  name_server& operator=(const name_server&) = delete;

  ~name_server();

  std::uint16_t port() const;

  /// As `dns_options` has it.
  std::string where() const;

private:
  class impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tidegate::http::testing
