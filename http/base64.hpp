// Base64 with the standard alphabet and padding (RFC 4648 section 4).

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidegate::http {

std::string to_base64(std::string_view bytes);

/// Returns the bytes that `text` stands for, or nothing where it is not
/// exactly what `to_base64` prints: spaces, missing padding and stray bits in
/// the last character are all refused.
std::optional<std::string> from_base64(std::string_view text);

} // namespace tidegate::http
