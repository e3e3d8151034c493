// Reads how a queue goes on after a hold. Part of the codec.

#pragma once

#include <optional>
#include <string_view>

#include "http/codec_backoff.hpp"
#include "http/problem.hpp"
#include "tidegate/queue_settings.hpp"

namespace tidegate::http {

/// Returns the recovery in `token`, a JSON text, or adds to `out` what is wrong
/// with it; ranges are not looked at. Adds the numbers to `sent`.
std::optional<recovery_settings>
read_recovery(std::string_view token, sent_numbers& sent, complaints& out);

} // namespace tidegate::http
