// How a webhook can tell that a delivery is ours.

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tidegate/store.hpp"

namespace tidegate::http {

using sha256_digest = std::array<std::uint8_t, 32>;

/// Returns the HMAC-SHA256 (RFC 2104) of the concatenated `parts`.
sha256_digest hmac_sha256(std::string_view key,
                          std::initializer_list<std::string_view> parts);

/// Returns `sha256=` and the HMAC of `body` in lower-case hex, the value of
/// `x-simpleq-signature`. The key is the whole secret as printed.
std::string body_signature(std::string_view secret, std::string_view body);

/// Returns `v1,` and the HMAC of `id.timestamp.body` in base64, one entry of
/// `webhook-signature` (Standard Webhooks 1.0). `timestamp` is in seconds since
/// the Unix epoch, in decimal.
///
/// The key is what the secret's part behind `whsec_` is the base64 of. A secret
/// that Tidegate did not make may be no base64: then the key is that part as
/// it stands, which is also what the Standard Webhooks libraries make of a
/// secret that they are given as raw bytes.
std::string standard_signature(std::string_view secret, std::string_view id,
                               std::string_view timestamp,
                               std::string_view body);

/// Returns a new secret: `whsec_` and the base64 of 32 bytes from the system's
/// random source. Throws `std::runtime_error` where that source fails.
signing_secret make_signing_secret();

} // namespace tidegate::http
