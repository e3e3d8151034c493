// How the settings of two pull queues differ, for people.

#pragma once

#include <string>

#include "tidegate/pull_settings.hpp"

namespace tidegate {

/// Lists the settings that are not the same, by the names and in the units of
/// the HTTP API: `max_receive_count (3, not 5), type (fifo, not standard)`.
/// Empty where there are none.
std::string differences(const pull_settings& there, const pull_settings& asked);

} // namespace tidegate
