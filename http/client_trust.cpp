#include "http/client_trust.hpp"

#include <algorithm>

#include <openssl/sha.h>

#include "http/client_tls.hpp"

namespace tidegate::http {

namespace {

/// No origin has a blank in it, so no mark can be taken for a part of one.
constexpr char insecure_mark[] = " insecure";
constexpr char authorities_mark[] = " ca ";

std::string digest_of(const std::string& text) {
  std::string result(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(result.data()));
  return result;
}

} // namespace

result<std::shared_ptr<client_trust>>
client_trust::make(const std::string& trusted_ca_file) {
  auto own = make_tls_context(trusted_ca_file);
  if (!own)
    return own.reason();
  return std::shared_ptr<client_trust>{new client_trust(
    std::make_shared<tls_trust>(tls_trust{std::move(*own), {}}),
    std::make_shared<tls_trust>(
      tls_trust{make_insecure_context(), insecure_mark}))};
}

client_trust::client_trust(trust_ptr own, trust_ptr none)
  : own_(std::move(own)), none_(std::move(none)) {
  // nop
}

result<client_trust::trust_ptr> client_trust::of(const delivery& what) {
  if (what.tls_insecure)
    return none_;
  if (what.tls_ca.empty())
    return own_;
  auto digest = digest_of(what.tls_ca);
  std::lock_guard guard{mutex_};
  auto i = kept_.find(digest);
  if (i == kept_.end()) {
    auto context = make_private_context(what.tls_ca);
    if (!context)
      return context.reason();
    if (kept_.size() >= kept_max)
      drop_oldest();
    auto made = std::make_shared<tls_trust>(
      tls_trust{std::move(*context), authorities_mark + digest});
    i = kept_.emplace(std::move(digest), kept_trust{std::move(made), 0}).first;
  }
  i->second.last_use = ++uses_;
  return i->second.trust;
}

std::size_t client_trust::kept() const {
  std::lock_guard guard{mutex_};
  return kept_.size();
}

/// Connections that use its context keep that alive.
void client_trust::drop_oldest() {
  kept_.erase(
    std::min_element(kept_.begin(), kept_.end(), [](auto& x, auto& y) {
      return x.second.last_use < y.second.last_use;
    }));
}

} // namespace tidegate::http
