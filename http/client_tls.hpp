// Whom the client trusts, and what it means when it does not.

#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

#include "tidegate/error.hpp"
#include "tidegate/job.hpp"

namespace tidegate::http {

/// Returns a context for clients: TLS 1.2 or later, the peer's certificate is
/// always verified against the system's CAs and, where the name is not empty,
/// those in `trusted_ca_file` (PEM). The error says why the file cannot be
/// used.
result<std::shared_ptr<boost::asio::ssl::context>>
make_tls_context(const std::string& trusted_ca_file);

/// The same, but `authorities` (PEM) are the only ones that are trusted, each
/// of them in its own right: also one that is no root. The error says why the
/// text cannot be used.
result<std::shared_ptr<boost::asio::ssl::context>>
make_private_context(const std::string& authorities);

/// The same, but no certificate is looked at.
std::shared_ptr<boost::asio::ssl::context> make_insecure_context();

/// Makes the handshake of `ssl` send `host` as the server's name (RFC 6066) and
/// insist that the certificate is for it. `host` is a name, or an address
/// without brackets: then the certificate has to list the address itself.
/// Returns false where OpenSSL refuses the name.
bool expect_host(SSL* ssl, const std::string& host);

/// How a handshake failed.
struct tls_failure {
  delivery_errc code;
  std::string text;
};

/// Says what a failed handshake of `ssl` came to, where Asio reported
/// `reason`.
tls_failure explain_handshake(SSL* ssl, const std::string& reason);

} // namespace tidegate::http
