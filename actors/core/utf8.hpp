// Making text of bytes that came from strangers.

#pragma once

#include <string>
#include <string_view>

namespace tidegate {

/// Returns `bytes` as valid UTF-8 without NUL of at most `bytes_max` bytes:
/// whatever is not valid becomes U+FFFD, and no character is cut in half. A
/// character that the end of `bytes` cuts in half is dropped.
std::string to_valid_utf8(std::string_view bytes, std::size_t bytes_max);

} // namespace tidegate
