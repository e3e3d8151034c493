// Certificates that are made while the tests run.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "scripted_server.hpp"

namespace tidegate::http::testing {

/// What a certificate is to say.
struct certificate_plan {
  /// Alternative names as OpenSSL spells them, e.g. `DNS:localhost`.
  std::string names = "DNS:localhost,IP:127.0.0.1";

  /// Validity, counted from now.
  std::chrono::seconds from = -std::chrono::hours{1};
  std::chrono::seconds until = std::chrono::hours{1};
};

/// A certificate authority that nobody has heard of.
class test_authority {
public:
  explicit test_authority(const std::string& name = "Tidegate test authority");

  test_authority(const test_authority&) = delete;

  test_authority& operator=(const test_authority&) = delete;

  ~test_authority();

  /// PEM text of the authority's own certificate.
  std::string certificate() const;

  /// Returns an authority whose own certificate this one has signed.
  test_authority make_intermediate() const;

  /// Returns a certificate that this authority has signed, without its own.
  server_identity issue(const certificate_plan& plan) const;

private:
  struct state;

  explicit test_authority(std::unique_ptr<state> content);

  std::unique_ptr<state> state_;
};

/// Returns a certificate that nobody but itself has signed.
server_identity self_signed(const certificate_plan& plan);

} // namespace tidegate::http::testing
