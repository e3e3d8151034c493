// Where a list goes on, as text that means nothing to its reader.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidegate::http {

/// Returns the cursor of a list of queues whose last item was `name`. It is the
/// same on every server, and stays valid when that queue is gone.
std::string make_queue_cursor(std::string_view name);

/// Returns the name in `cursor`, nothing where `make_queue_cursor` did not make
/// it. That guards against mistakes; it keeps nothing secret.
std::optional<std::string> read_queue_cursor(std::string_view cursor);

} // namespace tidegate::http
