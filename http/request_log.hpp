// A line of the log for each request.

#pragma once

#include "http/log.hpp"
#include "http/message.hpp"

namespace tidegate::http {

/// Returns a right to answer in place of `answer` that writes to `out` what
/// came of the request. Only where such lines are written is it worth its cost.
/// @pre `out` outlives it
responder with_line(log& out, const request& what, responder answer);

/// Writes that a request was refused before its body was read.
void write_refusal(log& out, const request_head& head, const response& why);

} // namespace tidegate::http
