// The certificate that the server shows.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tidegate/error.hpp"

namespace boost::asio::ssl {

class context;

} // namespace boost::asio::ssl

namespace tidegate::http {

/// A certificate with its chain and its key, read from two PEM files that may
/// be one and the same. They can be read again while the server runs: new
/// connections get the new ones, those that are there keep what they have. All
/// functions may be called from any thread.
class server_tls {
public:
  using context_ptr = std::shared_ptr<boost::asio::ssl::context>;

  /// The error is one sentence that names the file.
  static result<std::shared_ptr<server_tls>> load(std::string certificate_file,
                                                  std::string key_file);

  /// Reads the files again. Where they cannot be used, returns why, and all
  /// stays as it was.
  std::optional<error> reload();

  /// Returns what the next connection is to use: TLS 1.2 or later (RFC 8446),
  /// of the protocols of ALPN (RFC 7301) `http/1.1`.
  context_ptr context() const;

private:
  server_tls(std::string certificate_file, std::string key_file,
             context_ptr context);

  const std::string certificate_file_;
  const std::string key_file_;
  mutable std::mutex mutex_;
  context_ptr context_;
};

} // namespace tidegate::http
