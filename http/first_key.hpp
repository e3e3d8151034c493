// The API key that a server has from its first start.

#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "http/keys.hpp"
#include "tidegate/error.hpp"

namespace tidegate::http {

/// Returns the digest of the admin key: `given` if there is one, else the one
/// in `file`, else a new one that is written to `file` (mode 0600). `out` is
/// told where that is, and the key itself where `shows_it`: to somebody at a
/// terminal, not to what keeps a log.
///
/// Fails where a key has fewer than 24 or more than 200 characters or other
/// than `A-Z a-z 0-9 _ -`, and where `file` cannot be read or written.
result<key_digest> first_key(const std::optional<std::string>& given,
                             const std::filesystem::path& file,
                             std::ostream& out, bool shows_it);

} // namespace tidegate::http
