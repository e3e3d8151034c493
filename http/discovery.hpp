// What can be done here, for programs that look for it. Comes from the table of
// routes.

#pragma once

#include <string>
#include <string_view>

#include "http/api.hpp"

namespace tidegate::http {

/// Returns the list of capabilities, as JSON.
std::string discovery_document(const api_options& options);

/// Returns all that is to be said of one of them, as JSON; empty where there is
/// none of that name.
std::string describe_capability(std::string_view id,
                                const api_options& options);

} // namespace tidegate::http
