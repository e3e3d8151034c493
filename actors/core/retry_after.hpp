// Reading how long a downstream asks to be left alone.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidegate/time.hpp"

namespace tidegate {

/// Returns the wait that `Retry-After` asks for, taken exactly: no minimum, no
/// maximum but `longest_wait`, no jitter.
///
/// Understood are a number of seconds (fractions allowed, rounded up to the
/// next millisecond), the same with an `s` behind it, and an HTTP-date in any
/// of the three forms of RFC 9110, section 5.6.7. A date is measured against
/// `date`, the response's own `Date`, where that can be read, so that a skewed
/// clock does no harm, else against `now`; a date in the past means now.
///
/// Nothing where there is no value, where it is negative or cannot be read, and
/// where there are several that differ.
std::optional<duration> read_retry_after(const std::vector<std::string>& values,
                                         std::string_view date, wall_time now);

/// Reads an HTTP-date in any of its three forms. `now` settles the century of
/// the two-digit year of the RFC 850 form: never more than 50 years ahead.
std::optional<wall_time> read_http_date(std::string_view text, wall_time now);

} // namespace tidegate
