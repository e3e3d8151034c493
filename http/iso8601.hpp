// Instants as text, the way JSON and people have them.

#pragma once

#include <string>

#include "tidegate/time.hpp"

namespace tidegate::http {

/// Digits behind the second of a printed instant.
enum class precision { milliseconds, microseconds };

/// Prints `at` in UTC as RFC 3339 has it, always with the same width:
/// `2026-01-01T00:00:00.000Z`. What is finer than `digits` is cut off, not
/// rounded, so that no instant is printed as a later one. Instants outside of
/// the years 0 to 9999 are printed as the nearest inside.
std::string to_iso8601(wall_time at,
                       precision digits = precision::milliseconds);

} // namespace tidegate::http
