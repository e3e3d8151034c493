// The POST that a delivery is, as bytes.

#pragma once

#include <string>

#include "http/webhook_url.hpp"
#include "tidegate/transport.hpp"

namespace tidegate::http {

/// Returns the request's body:
/// `{"id","queue","payload","attempt","maxAttempts","deferCount","createdAt"}`
/// in this order, without spaces, or a message as receivers see it, without a
/// receipt handle. The payload is spliced in byte for byte.
/// @pre the queue's name needs no escaping in JSON, as `validate_queue_name`
///      makes sure
std::string webhook_body(const delivery& what);

/// Returns the whole request, an HTTP/1.1 POST (RFC 9112) with signatures.
/// @pre headers have passed `validate` and the trace context `is_traceparent`
///      and `is_tracestate`, so that no value can end its line
/// @pre `what.secrets` is not empty; more than two sign only
///      `webhook-signature`
std::string webhook_request(const delivery& what, const webhook_url& url);

} // namespace tidegate::http
