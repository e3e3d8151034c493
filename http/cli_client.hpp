// Calls a Tidegate server and waits for its answer: the client of the command
// line. Deliveries have another one, which never waits.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tidegate/error.hpp"

namespace tidegate::http {

/// Which server is called, and how.
struct cli_target {
  /// `http` or `https`, without query. A path goes before that of each call.
  std::string url;

  /// The API key.
  std::string key;

  /// PEM file of authorities to trust besides the system's; empty: the
  /// system's only.
  std::string tls_ca;

  /// Longest time for a connection, and for an answer once that is there.
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds answer_timeout{120'000};

  /// Longest silence of a stream.
  std::chrono::milliseconds silence_timeout{60'000};
};

/// What a server answered.
struct cli_answer {
  unsigned status = 0;
  std::string body;
};

/// Longest body of an answer that is taken. Unit: bytes.
inline constexpr std::size_t cli_answer_max = 64 * 1024 * 1024;

/// A client with a connection for each call. Blocks the calling thread; used by
/// one thread at a time.
class cli_client {
public:
  /// Returns a client, or why the address or the file of authorities cannot be
  /// used. Connects to nobody.
  static result<cli_client> make(cli_target target);

  cli_client(cli_client&& other) noexcept;
  cli_client& operator=(cli_client&& other) noexcept;
  ~cli_client();

  /// Makes one call. `path` is what stands behind the server's address, with
  /// its query. Where `body` is empty none is sent. An error says why there is
  /// no answer: nobody knows whether the call was carried out.
  result<cli_answer> call(std::string_view method, std::string_view path,
                          std::string_view body = {});

  /// Reads an answer that goes on and on: `take` is given each piece of a body
  /// that was answered 200, as it comes. Returns when the server has ended it;
  /// any other answer is returned with its body. The fields of `headers` go
  /// along, as `name: value` lines that end with CR LF.
  result<cli_answer> follow(std::string_view path, std::string_view headers,
                            const std::function<void(std::string_view)>& take);

private:
  struct parts;

  explicit cli_client(std::unique_ptr<parts> content);

  std::unique_ptr<parts> parts_;
};

} // namespace tidegate::http
