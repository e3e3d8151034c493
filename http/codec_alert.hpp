// Alerts as their receiver gets them. Part of the codec.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tidegate/alert.hpp"
#include "tidegate/time.hpp"

namespace tidegate::http {

/// Prints an alert as JSON: the payload of the job that delivers it.
std::string encode(const alert& what);

/// Reads since when what it tells was so out of what `encode` printed, to the
/// millisecond; nothing where it is not there.
std::optional<wall_time> read_since(std::string_view encoded);

/// Says an alert in one sentence, without its times.
std::string describe(const alert& what);

} // namespace tidegate::http
