#include "http/keys.hpp"

#include <memory>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

namespace tidegate::http {

namespace {

constexpr std::string_view prefix = "sq_live_";

constexpr std::size_t random_characters = 40;

constexpr std::string_view alphabet =
  "0123456789"
  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  "abcdefghijklmnopqrstuvwxyz";

struct free_md {
  void operator()(EVP_MD* md) const {
    EVP_MD_free(md);
  }
};

struct free_context {
  void operator()(EVP_MD_CTX* context) const {
    EVP_MD_CTX_free(context);
  }
};

/// Returns the algorithm, looked up once: OpenSSL 3 takes longer to find it
/// than to digest a key.
const EVP_MD* sha256() {
  static const std::unique_ptr<EVP_MD, free_md> md{
    EVP_MD_fetch(nullptr, "SHA256", nullptr)};
  return md.get();
}

/// Returns the token of `Bearer <token>`; nothing where it is something else.
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer";
  auto text = authorization;
  for (auto expected : scheme) {
    if (text.empty() || (text.front() | 0x20) != expected)
      return std::nullopt;
    text.remove_prefix(1);
  }
  auto start = text.find_first_not_of(' ');
  if (start == 0 || start == std::string_view::npos)
    return std::nullopt;
  return text.substr(start);
}

} // namespace

key_digest digest_of(std::string_view key) {
  thread_local const std::unique_ptr<EVP_MD_CTX, free_context> context{
    EVP_MD_CTX_new()};
  key_digest result;
  if (!context || EVP_DigestInit_ex2(context.get(), sha256(), nullptr) != 1
      || EVP_DigestUpdate(context.get(), key.data(), key.size()) != 1
      || EVP_DigestFinal_ex(context.get(), result.data(), nullptr) != 1)
    throw std::runtime_error{"cannot compute SHA-256"};
  return result;
}

std::string make_api_key() {
  // The largest multiple of the alphabet's size that a byte can hold: bytes
  // from there on are drawn again.
  constexpr auto bound = 256 / alphabet.size() * alphabet.size();
  std::string key{prefix};
  while (key.size() < prefix.size() + random_characters) {
    unsigned char byte = 0;
    if (RAND_bytes(&byte, 1) != 1)
      throw std::runtime_error{"no randomness for an API key"};
    if (byte < bound)
      key += alphabet[byte % alphabet.size()];
  }
  return key;
}

void key_ring::add(const key_digest& digest, scope_set scopes) {
  entries_.push_back({digest, scopes});
}

std::optional<scope_set>
key_ring::authenticate(std::optional<std::string_view> authorization) const {
  auto token = authorization ? bearer_token(*authorization) : std::nullopt;
  if (!token)
    return std::nullopt;
  auto digest = digest_of(*token);
  std::optional<scope_set> result;
  for (const auto& entry : entries_)
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0)
      result = entry.scopes;
  return result;
}

} // namespace tidegate::http
