// The schemas of queues and their settings.

#include "http/openapi_parts.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view settings = R"json(
"webhookUrl": {"type": "string", "format": "uri", "maxLength": 2048,
  "description": "Absolute http or https URL that every job is POSTed to"},
"mode": {"type": "string", "enum": ["standard", "ack"], "default": "standard",
  "description":
  "ack: the webhook's 2xx only takes the job, the outcome comes by callback"},
"concurrency": {"type": "integer", "minimum": 1, "maximum": 10000, "default":
10,
  "description":
  "Deliveries in flight at once, jobs that await their ack included"},
"rateLimitMax": {"type": ["integer", "null"], "minimum": 1, "maximum": 100000,
"default": null,
  "description": "Deliveries that start in any rateLimitWindow"},
"rateLimitWindow": {"type": "number", "minimum": 1, "maximum": 86400,
"default": 1},
"maxAttempts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 3},
"maxDefers": {"type": "integer", "minimum": 0, "maximum": 1000000, "default":
50},
"backoff": {"$ref": "#/components/schemas/Backoff"},
"timeout": {"type": "number", "minimum": 0.1, "maximum": 900, "default": 15,
  "description": "Seconds for the whole of a delivery"},
"ackTimeout": {"type": "number", "minimum": 1, "maximum": 604800, "default":
300},
"ackTimeoutAction": {"type": "string", "enum": ["retry", "dead"], "default":
"retry"},
"lifetime": {"type": "number", "minimum": 1, "maximum": 2592000, "default":
86400,
  "description": "Seconds from the moment that a job is first eligible"},
"retention": {"type": "number", "minimum": 0, "maximum": 2592000, "default":
259200,
  "description": "Seconds for which jobs that have ended are kept"},
"deadLetter": {"type": "boolean", "default": true},
"headers": {"$ref": "#/components/schemas/Headers"},
"permanentFailureStatuses": {"type": "array", "maxItems": 64, "uniqueItems":
true, "default": [],
  "items": {"type": "integer", "minimum": 300, "maximum": 599, "not": {"enum":
  [429, 503, 529]}},
  "description": "Statuses that give a job up at once"},
"keyConcurrency": {"type": ["integer", "null"], "minimum": 1, "maximum": 10000,
"default": null},
"keyRateLimitMax": {"type": ["integer", "null"], "minimum": 1, "maximum":
100000, "default": null},
"backpressureScope": {"type": "string", "enum": ["queue", "key"], "default":
"queue",
  "description": "What a 429, 503 or 529 holds"},
"recovery": {"$ref": "#/components/schemas/Recovery"},
"minHold": {"type": ["number", "null"], "minimum": 0, "maximum": 2592000,
"default": null},
"maxHold": {"type": ["number", "null"], "minimum": 0, "maximum": 2592000,
"default": null},
"maxDepth": {"type": ["integer", "null"], "minimum": 1, "maximum":
9007199254740991, "default": null,
  "description": "Live jobs; publishing beyond it is 429 queue_full"},
"tlsCa": {"type": ["string", "null"], "maxLength": 65536, "default": null,
  "description":
  "PEM certificates: the only authorities that the webhook's may come from"},
"tlsInsecure": {"type": "boolean", "default": false,
  "description":
  "The webhook's certificate is not verified; needs the scope admin"}
)json";

constexpr std::string_view state = R"json(
"paused": {"type": "boolean"},
"signingSecret": {"type": "string", "description":
"Only where it was made or asked for"},
"previousSecretUntil": {"type": ["string", "null"], "format": "date-time",
  "description": "Until then the secret of before signs as well"},
"gate": {"$ref": "#/components/schemas/Gate"},
"blockedBy": {"$ref": "#/components/schemas/BlockedBy"},
"counts": {"type": "object",
  "description": "Each job is in one of the first five; the others are subsets",
  "required": ["pending", "processing", "awaitingAck", "completed", "dead",
  "scheduled", "held", "inFlight"],
  "properties": {
    "pending": {"type": "integer"}, "processing": {"type": "integer"},
    "awaitingAck": {"type": "integer"}, "completed": {"type": "integer"},
    "dead": {"type": "integer"}, "scheduled": {"type": "integer"},
    "held": {"type": "integer"}, "inFlight": {"type": "integer"}}},
"oldestAgeSeconds": {"type": ["number", "null"]},
"createdAt": {"type": "string", "format": "date-time"},
"updatedAt": {"type": "string", "format": "date-time"}
)json";

constexpr std::string_view required_when_shown = R"json(["name", "webhookUrl",
"mode", "concurrency", "rateLimitMax", "rateLimitWindow", "maxAttempts",
"maxDefers", "backoff", "timeout", "ackTimeout", "ackTimeoutAction", "lifetime",
"retention", "deadLetter", "headers", "permanentFailureStatuses",
"keyConcurrency", "keyRateLimitMax", "backpressureScope", "recovery", "minHold",
"maxHold", "maxDepth", "tlsCa", "tlsInsecure", "paused", "gate", "blockedBy",
"counts", "oldestAgeSeconds", "createdAt", "updatedAt"])json";

constexpr std::string_view name = R"json("name":
{"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}$"})json";

constexpr std::string_view parts = R"json(
"Backoff": {"description": "How long a job waits after a real failure",
"oneOf": [
  {"title": "exponential", "type": "object", "required": ["type"],
  "additionalProperties": false, "properties": {
    "type": {"const": "exponential"},
    "delay": {"type": "number", "minimum": 0, "maximum": 2592000, "default": 1},
    "factor": {"type": "number", "minimum": 1, "maximum": 100, "default": 2},
    "maxDelay": {"type": "number", "minimum": 0, "maximum": 2592000, "default":
    3600},
    "jitter": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.2}}},
  {"title": "fixed", "type": "object", "required": ["type", "delay"],
  "additionalProperties": false, "properties": {
    "type": {"const": "fixed"},
    "delay": {"type": "number", "minimum": 0, "maximum": 2592000},
    "jitter": {"type": "number", "minimum": 0, "maximum": 1, "default": 0}}},
  {"title": "ladder", "type": "object", "required": ["type", "steps"],
  "additionalProperties": false, "properties": {
    "type": {"const": "ladder"},
    "steps": {"type": "array", "minItems": 1, "maxItems": 100,
      "items": {"type": "number", "minimum": 0, "maximum": 2592000}},
    "jitter": {"type": "number", "minimum": 0, "maximum": 1, "default": 0}}}]},
"Recovery": {"description": "How a queue goes on after a hold", "oneOf": [
  {"title": "full", "type": "object", "required": ["mode"],
  "additionalProperties": false, "properties": {
    "mode": {"const": "full"}}},
  {"title": "ramp", "type": "object", "required": ["mode"],
  "additionalProperties": false, "properties": {
    "mode": {"const": "ramp"},
    "start": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1},
    "factor": {"type": "number", "minimum": 1.1, "maximum": 100, "default":
    2}}}]},
"Headers": {"type": "object", "maxProperties": 32,
  "additionalProperties": {"type": "string", "maxLength": 4096}},
"Gate": {"type": "object",
  "required": ["state", "releaseAt", "since", "cause", "reason", "causedByJob",
  "webhookStatusCode", "failedProbes", "ramp", "lastProbe"],
  "properties": {
    "state": {"type": "string", "enum": ["open", "held", "probing"]},
    "releaseAt": {"type": ["string", "null"], "format": "date-time"},
    "since": {"type": ["string", "null"], "format": "date-time"},
    "cause": {"enum": ["downstream", "probe_failed", "worker", "operator",
    null]},
    "reason": {"type": ["string", "null"]},
    "causedByJob": {"type": ["string", "null"]},
    "webhookStatusCode": {"type": ["integer", "null"]},
    "failedProbes": {"type": "integer"},
    "ramp": {"type": ["integer", "null"], "description":
    "Deliveries in flight at most while coming back from a hold"},
    "lastProbe": {"type": ["object", "null"], "required": ["job", "delivery",
    "verdict", "at"], "properties": {
      "job": {"type": "string"}, "delivery": {"type": "integer"},
      "verdict": {"enum": ["success", "refused", "deferred", "no_verdict"]},
      "at": {"type": "string", "format": "date-time"}}}}},
"BlockedBy": {"type": "array", "items": {"type": "object",
  "required": ["gate", "since", "until", "reason", "causedByJob"],
  "properties": {
    "gate": {"enum": ["hold", "probe", "paused", "concurrency", "rate",
    "delay", "backoff", "defer", "key_hold", "key_probe", "key_concurrency",
    "key_rate", "global_concurrency", "ramp"]},
    "since": {"type": ["string", "null"], "format": "date-time"},
    "until": {"type": ["string", "null"], "format": "date-time"},
    "reason": {"type": "string"},
    "causedByJob": {"type": ["string", "null"]}}}},
"LimitKey": {"type": "object", "required": ["key", "gate", "ready", "inFlight",
"blockedBy"], "properties": {
  "key": {"type": "string"}, "gate": {"$ref": "#/components/schemas/Gate"},
  "ready": {"type": "integer"}, "inFlight": {"type": "integer"},
  "blockedBy": {"$ref": "#/components/schemas/BlockedBy"}}}
)json";

/// Prints the schema of an object whose properties are the settings and `more`.
std::string object_with_settings(std::string_view title,
                                 std::string_view required,
                                 std::string_view more, bool closed) {
  std::string out = "\"";
  out.append(title).append(R"(":{"type":"object","required":)");
  out.append(required);
  if (closed)
    out += R"(,"additionalProperties":false)";
  out.append(",\"properties\":{").append(settings);
  if (!more.empty())
    out.append(",").append(more);
  return out.append("}}");
}

} // namespace

std::string queue_schemas() {
  auto shown = std::string{name}.append(",").append(state);
  std::string out{parts};
  for (const auto& each :
       {object_with_settings("CreateQueue", R"(["name","webhookUrl"])", name,
                             true),
        object_with_settings("QueueSettings", R"(["webhookUrl"])", {}, true),
        object_with_settings("QueuePatch", "[]", {}, true),
        object_with_settings("Queue", required_when_shown, shown, false)})
    out.append(",").append(each);
  return out;
}

} // namespace tidegate::http
