#include "http/keys.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "tidegate/messages.hpp"

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

/// Returns where a digest is looked up.
std::uint64_t place_of(const key_digest& digest) {
  std::uint64_t result = 0;
  std::memcpy(&result, digest.data(), sizeof(result));
  return result;
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

void key_set::add(const key_digest& digest, scope_set scopes) {
  add({digest, {api_key_id{}, default_project, scopes}});
}

void key_set::add(const api_key_record& record) {
  entry result;
  if (record.digest.size() != result.digest.size())
    return;
  std::copy(record.digest.begin(), record.digest.end(), result.digest.begin());
  result.who = {record.id, record.project, scope_set::from_bits(record.scopes)};
  result.expires_at = record.expires_at;
  add(std::move(result));
}

void key_set::add(entry what) {
  auto place = place_of(what.digest);
  ends_[what.who.key] = what.expires_at;
  entries_.emplace(place, std::move(what));
}

bool key_set::has(api_key_id id, wall_time now) const {
  auto i = ends_.find(id);
  return i != ends_.end() && (!i->second || now < *i->second);
}

void key_set::count_on(const key_set& before) {
  // Expired or not.
  constexpr auto ever = wall_time::min();
  for (auto& [place, entry] : entries_)
    if (auto same = before.find(entry.digest, ever))
      entry.meter = same->meter;
}

const key_set::entry* key_set::find(const key_digest& digest,
                                    wall_time now) const {
  const entry* result = nullptr;
  auto [first, last] = entries_.equal_range(place_of(digest));
  for (auto i = first; i != last; ++i) {
    const auto& entry = i->second;
    auto same = CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size())
                == 0;
    if (same && (!entry.expires_at || now < *entry.expires_at))
      result = &entry;
  }
  return result;
}

key_ring::key_ring(key_set own, std::uint32_t rate_max)
  : own_(std::move(own)), rate_max_(rate_max),
    keys_(std::make_shared<const key_set>(own_)) {
  // nop
}

void key_ring::replace(const std::vector<api_key_record>& records) {
  auto keys = own_;
  for (const auto& record : records)
    keys.add(record);
  std::lock_guard guard{mutex_};
  keys.count_on(*keys_);
  keys_ = std::make_shared<const key_set>(std::move(keys));
}

std::variant<caller, problem>
key_ring::authenticate(std::optional<std::string_view> authorization,
                       moment now) const {
  auto token = authorization ? bearer_token(*authorization) : std::nullopt;
  if (!token)
    return problem::unauthenticated;
  auto keys = current();
  auto found = keys->find(digest_of(*token), now.wall);
  if (!found)
    return problem::unauthenticated;
  if (rate_max_ > 0 && !found->meter->take(rate_max_, now.steady))
    return problem::rate_limited;
  return found->who;
}

bool key_ring::still_opens(api_key_id key, wall_time now) const {
  return current()->has(key, now);
}

std::shared_ptr<const key_set> key_ring::current() const {
  std::lock_guard guard{mutex_};
  return keys_;
}

} // namespace tidegate::http
