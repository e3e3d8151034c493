// What strangers wrote, for eyes.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidegate::http {

/// Returns `text` such that a terminal shows it, in its order and on one line,
/// and does nothing else: what only controls (ECMA-48: C0, DEL, C1; Unicode's
/// ends of lines and paragraphs, and its marks of direction, UAX #9) and bytes
/// that are not UTF-8 become `?`.
std::string printable(std::string_view text);

/// The same, at most `characters` long; what was cut off is shown as `...`.
std::string printable(std::string_view text, std::size_t characters);

/// Whether `printable` leaves `text` as it is.
bool is_printable(std::string_view text);

} // namespace tidegate::http
