// Certificates as PEM text.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/x509.h>

#include "tidegate/error.hpp"

namespace tidegate::http {

struct x509_deleter {
  void operator()(X509* what) const {
    X509_free(what);
  }
};

using x509_ptr = std::unique_ptr<X509, x509_deleter>;

/// Reads the certificates of `pem` (RFC 7468), at least one; text around them
/// is passed over. The error's message is a sentence without a subject, such as
/// `must be PEM text of one or more certificates, found none`, and never shows
/// what was read: it may be a private key.
result<std::vector<x509_ptr>> read_certificates(std::string_view pem);

/// Returns what is wrong with `pem` as a list of authorities, as
/// `read_certificates` has it, nothing where all is well.
std::optional<std::string> complaint_about_authorities(std::string_view pem);

/// Returns the newest reason that OpenSSL has noted on this thread, and forgets
/// all of them.
std::string take_openssl_reason();

} // namespace tidegate::http
