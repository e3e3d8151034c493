// What every file keeps to.

#pragma once

#include "tests/tidy/source.hpp"

namespace tidegate::tidy {

/// Longest line of C++. Unit: characters.
inline constexpr std::size_t line_length_max = 80;

/// Longest function of the product. A ratchet: it only ever goes down.
/// Unit: lines, from its first to its closing brace.
inline constexpr std::size_t function_length_max = 70;

/// No tab, no line of C++ beyond `line_length_max`.
findings check_lines(const source& file);

/// Every header has `#pragma once`.
findings check_headers(const source& file);

/// What is left to do has the number of an issue beside it, or is not there.
findings check_left_to_do(const source& file);

/// No function beyond `function_length_max`.
findings check_function_length(const source& file);

/// Tests wait in virtual time; only those over real sockets may sleep.
findings check_sleeps(const source& file);

/// Every .cpp is named in the CMakeLists.txt of its folder or of one above, so
/// that no test silently stays out.
findings check_linked(const std::vector<source>& tree);

} // namespace tidegate::tidy
