// Who may call: API keys and what they may do.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/routes.hpp"

namespace tidegate::http {

/// SHA-256 of an API key: all that is ever kept of it.
using key_digest = std::array<std::uint8_t, 32>;

/// Returns the digest of `key`.
/// @throws std::runtime_error where OpenSSL cannot compute it
key_digest digest_of(std::string_view key);

/// Returns a new key: `sq_live_` and 40 characters of `0-9 A-Z a-z`, each drawn
/// from OpenSSL's generator without bias.
/// @throws std::runtime_error where there is no randomness
std::string make_api_key();

/// The keys that open the API. Reading is safe from several threads; `add` is
/// for the time before the server starts.
class key_ring {
public:
  /// Lets whoever knows the key with this digest do what `scopes` says.
  void add(const key_digest& digest, scope_set scopes);

  /// Returns what the sender of an `Authorization` header may do, nothing where
  /// it holds no key of this ring. Takes the same time wherever the key differs
  /// from those of the ring. RFC 6750, section 2.1.
  std::optional<scope_set>
  authenticate(std::optional<std::string_view> authorization) const;

private:
  struct entry {
    key_digest digest;
    scope_set scopes;
  };

  std::vector<entry> entries_;
};

} // namespace tidegate::http
