// Reads how a queue backs off. Part of the codec.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "http/problem.hpp"
#include "tidegate/queue_settings.hpp"

namespace tidegate::http {

/// Numbers as they were sent, by the name of their field.
using sent_numbers = std::map<std::string, std::string_view, std::less<>>;

/// Returns the backoff in `token`, a JSON text, or adds to `out` what is wrong
/// with it; ranges are not looked at. Adds the numbers to `sent`.
std::optional<backoff_settings>
read_backoff(std::string_view token, sent_numbers& sent, complaints& out);

} // namespace tidegate::http
