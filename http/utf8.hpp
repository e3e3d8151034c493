// Which bytes are UTF-8.

#pragma once

#include <cstddef>
#include <string_view>

namespace tidegate::http {

/// Returns how many bytes the character at `text[at]` has, 1 to 4, or 0 where
/// no well-formed one starts there (RFC 3629: no overlong forms, no surrogates,
/// nothing above U+10FFFF).
/// @pre `at < text.size()`
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Returns how many characters `text` has. Bytes that are no part of one are
/// passed over.
std::size_t utf8_characters(std::string_view text);

/// Whether all of `text` is UTF-8.
bool is_utf8(std::string_view text);

} // namespace tidegate::http
