#include "http/signature.hpp"

#include <memory>
#include <stdexcept>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "http/base64.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view secret_prefix = "whsec_";

struct mac_deleter {
  void operator()(EVP_MAC_CTX* context) const {
    EVP_MAC_CTX_free(context);
  }
};

using mac_context = std::unique_ptr<EVP_MAC_CTX, mac_deleter>;

// Looking algorithms up by name is the dear part of an HMAC in OpenSSL 3, so
// each thread does it once and keys the same context again and again.
mac_context make_context() {
  auto algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  mac_context context{EVP_MAC_CTX_new(algorithm)};
  EVP_MAC_free(algorithm);
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
    OSSL_PARAM_construct_end()};
  if (!context || EVP_MAC_CTX_set_params(context.get(), parameters) != 1)
    throw std::runtime_error{"OpenSSL has no HMAC-SHA256"};
  return context;
}

std::string_view bytes_of(const sha256_digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string standard_key(std::string_view secret) {
  if (secret.starts_with(secret_prefix))
    secret.remove_prefix(secret_prefix.size());
  auto decoded = from_base64(secret);
  return decoded && !decoded->empty() ? *decoded : std::string{secret};
}

} // namespace

sha256_digest hmac_sha256(std::string_view key,
                          std::initializer_list<std::string_view> parts) {
  thread_local auto context = make_context();
  // An empty key is a key, but a null pointer means "the key from before".
  auto bytes = key.empty() ? "" : key.data();
  auto ok = EVP_MAC_init(context.get(),
                         reinterpret_cast<const unsigned char*>(bytes),
                         key.size(), nullptr);
  for (auto part : parts)
    ok &= EVP_MAC_update(context.get(),
                         reinterpret_cast<const unsigned char*>(part.data()),
                         part.size());
  sha256_digest result;
  std::size_t size = 0;
  ok &= EVP_MAC_final(context.get(), result.data(), &size, result.size());
  if (ok != 1 || size != result.size())
    throw std::runtime_error{"OpenSSL could not compute an HMAC-SHA256"};
  return result;
}

std::string body_signature(std::string_view secret, std::string_view body) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "sha256=";
  for (auto byte : hmac_sha256(secret, {body})) {
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

std::string standard_signature(std::string_view secret, std::string_view id,
                               std::string_view timestamp,
                               std::string_view body) {
  auto digest = hmac_sha256(standard_key(secret),
                            {id, ".", timestamp, ".", body});
  return "v1," + to_base64(bytes_of(digest));
}

signing_secret make_signing_secret() {
  std::array<std::uint8_t, 32> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error{"the system's random source failed"};
  return std::string{secret_prefix} + to_base64(bytes_of(bytes));
}

} // namespace tidegate::http
