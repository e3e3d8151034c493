// W3C Trace Context: where in somebody's trace a request belongs.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace tidegate::http {

/// Whether `text` is a `traceparent` (W3C Trace Context, section 3.2): version,
/// trace and parent in lower-case hexadecimal, none of them invalid. Versions
/// beyond 00 may say more behind the flags.
bool is_traceparent(std::string_view text);

/// Whether `text` is a `tracestate` (section 3.3): at most 32 members of
/// `key=value`, none of them twice, 512 characters at most.
bool is_tracestate(std::string_view text);

/// Returns the trace context among `headers`. What is malformed, or stands
/// there twice, counts as absent, and so does a state without its parent.
/// Several `tracestate` are one list (RFC 9110, section 5.3).
trace_context read_trace_context(std::span<const field_view> headers);

} // namespace tidegate::http
