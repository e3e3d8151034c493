// Whom deliveries trust, queue by queue.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "tidegate/error.hpp"
#include "tidegate/transport.hpp"

namespace tidegate::http {

/// A TLS context, and what keeps its connections apart from those of others.
struct tls_trust {
  std::shared_ptr<boost::asio::ssl::context> context;

  /// Goes behind the origin where connections are kept: one that was verified
  /// in another way, or not at all, is none for this delivery. Empty: the
  /// server's own trust.
  std::string mark;
};

/// The contexts of a client. Making one costs far more than a handshake's share
/// of a delivery, so those of queues with authorities of their own are kept,
/// the ones that were used last. All functions may be called from any thread.
class client_trust {
public:
  using trust_ptr = std::shared_ptr<const tls_trust>;

  /// Most contexts of queues that are kept.
  static constexpr std::size_t kept_max = 64;

  /// The server's own trust is as `make_tls_context` has it, and so is the
  /// error.
  static result<std::shared_ptr<client_trust>>
  make(const std::string& trusted_ca_file);

  /// Returns what holds for `what`. The error says what is wrong with its
  /// `tls_ca`.
  result<trust_ptr> of(const delivery& what);

  /// Returns how many contexts of queues are kept.
  std::size_t kept() const;

private:
  struct kept_trust {
    trust_ptr trust;
    std::uint64_t last_use;
  };

  client_trust(trust_ptr own, trust_ptr none);

  void drop_oldest();

  const trust_ptr own_;
  const trust_ptr none_;
  mutable std::mutex mutex_;
  std::uint64_t uses_ = 0;

  // By digest of the authorities' PEM text.
  std::map<std::string, kept_trust> kept_;
};

} // namespace tidegate::http
