#include "http/client_tls.hpp"

#include <openssl/x509v3.h>

#include "http/certificates.hpp"
#include "http/ip_address.hpp"

namespace tidegate::http {

namespace ssl = boost::asio::ssl;

namespace {

/// Returns a context that trusts nobody.
std::shared_ptr<ssl::context> make_blank_context() {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  auto* native = context->native_handle();
  context->set_verify_mode(ssl::verify_peer);
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  // Idle connections keep no buffers.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  return context;
}

delivery_errc code_of(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return delivery_errc::tls_certificate_expired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return delivery_errc::tls_certificate_not_yet_valid;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return delivery_errc::tls_certificate_name_mismatch;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return delivery_errc::tls_certificate_self_signed;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return delivery_errc::tls_certificate_issuer_unknown;
    default:
      return delivery_errc::tls_certificate_untrusted;
  }
}

} // namespace

result<std::shared_ptr<ssl::context>>
make_tls_context(const std::string& trusted_ca_file) {
  boost::system::error_code failure;
  auto context = make_blank_context();
  auto* native = context->native_handle();
  // A machine without CAs is no reason not to start: http still works, and
  // https says what is wrong.
  SSL_CTX_set_default_verify_paths(native);
  if (!trusted_ca_file.empty())
    context->load_verify_file(trusted_ca_file, failure);
  if (failure)
    return error{errc::validation_failed,
                 "the trusted CA file \"" + trusted_ca_file
                   + "\" cannot be used: " + failure.message()};
  return context;
}

result<std::shared_ptr<ssl::context>>
make_private_context(const std::string& authorities) {
  auto certificates = read_certificates(authorities);
  if (!certificates)
    return certificates.reason();
  auto context = make_blank_context();
  auto* store = SSL_CTX_get_cert_store(context->native_handle());
  for (const auto& certificate : *certificates)
    if (X509_STORE_add_cert(store, certificate.get()) != 1)
      return error{errc::validation_failed,
                   "cannot be used: " + take_openssl_reason()};
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return context;
}

std::shared_ptr<ssl::context> make_insecure_context() {
  auto context = make_blank_context();
  context->set_verify_mode(ssl::verify_none);
  return context;
}

bool expect_host(SSL* ssl, const std::string& host) {
  if (auto address = parse_literal_host(host)) {
    auto* parameters = SSL_get0_param(ssl);
    return X509_VERIFY_PARAM_set1_ip(parameters, address->bytes.data(),
                                     address->is_v4 ? 4 : 16)
           == 1;
  }
  auto name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, name.c_str()) == 1
         && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

tls_failure explain_handshake(SSL* ssl, const std::string& reason) {
  auto verdict = SSL_get_verify_result(ssl);
  // Where nothing is verified, it is no certificate that a handshake fails for.
  if (verdict == X509_V_OK || SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE)
    return {delivery_errc::tls_failed, "the TLS handshake failed: " + reason};
  return {code_of(verdict),
          "the server's certificate is not accepted: "
            + std::string{X509_verify_cert_error_string(verdict)}};
}

} // namespace tidegate::http
