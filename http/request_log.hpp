// A line of the log for each request.

#pragma once

#include "http/log.hpp"
#include "http/message.hpp"
#include "http/server.hpp"

namespace tidegate::http {

/// Returns a right to answer in place of `answer` that writes to `out` what
/// came of the request. Only where such lines are written is it worth its cost.
/// @pre `out` outlives it
responder with_line(log& out, const request& what, responder answer);

/// Writes that a request was refused before it was handed to a route.
void write_refusal(log& out, const refused_request& what);

} // namespace tidegate::http
