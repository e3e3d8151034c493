// Who may call: API keys and what they may do.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/request_meter.hpp"
#include "http/routes.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

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

/// Keys that open the API. Reading is safe from several threads.
class key_set {
public:
  /// Lets whoever knows the key with this digest do what `scopes` says, in the
  /// default project.
  void add(const key_digest& digest, scope_set scopes);

  /// Lets whoever knows the key of `record` do what that says. One whose digest
  /// is no SHA-256 is passed over.
  void add(const api_key_record& record);

  std::size_t size() const {
    return entries_.size();
  }

  /// Whether the stored key of that number is one of them, valid at `now`.
  bool has(api_key_id id, wall_time now) const;

  /// A key that opens the API, and how it is used.
  struct entry {
    key_digest digest;
    caller who;
    std::optional<wall_time> expires_at = std::nullopt;

    /// Counts on where a key is kept in one set after another.
    std::shared_ptr<request_meter> meter = std::make_shared<request_meter>();
  };

  /// Goes on counting the requests of the keys that `before` has, too.
  void count_on(const key_set& before);

  /// Returns the key that has this digest and is valid at `now`, null where
  /// there is none.
  ///
  /// Digests are looked up by their first bytes and compared in constant time.
  /// What the first bytes tell by the time that it takes says nothing of the
  /// key: it would have to be found by its SHA-256.
  const entry* find(const key_digest& digest, wall_time now) const;

private:
  void add(entry what);

  std::unordered_multimap<std::uint64_t, entry> entries_;

  /// Until when stored keys are valid.
  std::map<api_key_id, std::optional<wall_time>> ends_;
};

/// The keys that open the API now. All functions may be called from any thread.
class key_ring {
public:
  /// `own` is what the server was started with. `rate_max` is how many requests
  /// a second each key may make, up to 1,000,000; 0: no limit.
  explicit key_ring(key_set own = {}, std::uint32_t rate_max = 0);

  /// Lets in the keys of `records`, beside those from the start, and no others:
  /// whoever asks after this has returned meets the new keys.
  void replace(const std::vector<api_key_record>& records);

  /// Returns who sent an `Authorization` header (RFC 6750, section 2.1), or why
  /// the request is refused: `unauthenticated` where it holds no key that is
  /// valid at `now`, `rate_limited` where that key makes too many requests.
  std::variant<caller, problem>
  authenticate(std::optional<std::string_view> authorization, moment now) const;

  /// Whether who was let in with a key would still be: false where that has
  /// been revoked or has expired.
  bool still_opens(api_key_id key, wall_time now) const;

private:
  std::shared_ptr<const key_set> current() const;

  const key_set own_;
  const std::uint32_t rate_max_;
  mutable std::mutex mutex_;
  std::shared_ptr<const key_set> keys_;
};

} // namespace tidegate::http
