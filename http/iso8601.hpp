// Instants as text, the way JSON and people have them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

/// What `parse_iso8601` takes, for people.
inline constexpr char iso8601_form[] =
  "a time like 2026-01-01T00:00:00Z or 2026-01-01T00:00:00.5+02:00";

/// Reads an instant as RFC 3339 has it: date, time and `Z` or an offset.
/// Fractions finer than a microsecond are cut off. Nothing where `text` is
/// anything else, names a day or an hour that there is not, or lies outside of
/// the years 0 to 9999.
std::optional<wall_time> parse_iso8601(std::string_view text);

/// Reads a day, `2026-01-31`, as days since 1970-01-01.
std::optional<std::int64_t> parse_day(std::string_view text);

/// Prints a day as `parse_day` reads it.
std::string print_day(std::int64_t days_since_epoch);

} // namespace tidegate::http
