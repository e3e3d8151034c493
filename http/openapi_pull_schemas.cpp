// The schemas of pull queues, their messages and discovery.

#include "http/openapi_parts.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view settings = R"json(
"dead_letter_queue": {"type": "string", "pattern":
  "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}$", "description":
  "Where messages go that are given up on; <name>.dlq where it is missing"},
"max_receive_count": {"type": "integer", "minimum": 0, "maximum": 1000,
  "default": 3, "description":
  "Receives until a message is dead-lettered; 0: never"},
"max_retries": {"type": "integer", "minimum": 0, "maximum": 999,
  "description": "Instead of max_receive_count, and one less"},
"message_retention_days": {"type": "integer", "minimum": 1, "maximum": 30,
  "default": 4},
"visibility_timeout_default": {"type": "integer", "minimum": 1, "maximum":
  43200, "default": 300, "description":
  "Seconds that a receiver has where it names none"},
"delay_seconds_default": {"type": "integer", "minimum": 0, "maximum": 604800,
  "default": 0},
"enable_priority": {"type": "boolean", "default": false}
)json";

constexpr std::string_view creation = R"json(
"name": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}$"},
"type": {"type": "string", "enum": ["standard", "fifo"], "default":
  "standard"},
"idempotency_key": {"type": "string", "minLength": 1, "maxLength": 255,
  "description": "Taken and without effect: creating twice is harmless"}
)json";

constexpr std::string_view message_fields = R"json(
"payload": {"type": ["object", "array", "string", "number", "boolean"],
  "description": "Handed out byte for byte"},
"delay_seconds": {"type": "integer", "minimum": 0, "maximum": 604800,
  "description": "As the queue's delay_seconds_default where it is missing"},
"priority": {"type": "integer", "minimum": 0, "maximum": 9, "default": 0,
  "description": "Higher goes first; only on queues with enable_priority"},
"headers": {"$ref": "#/components/schemas/Headers"},
"idempotency_key": {"type": "string", "minLength": 1, "maxLength": 255,
  "description": "Repeats within 24 hours are answered with the first id"},
"message_group_id": {"type": "string", "minLength": 1, "maxLength": 128,
  "description": "Required on fifo queues, which keep the order of a group"},
"deduplication_id": {"type": "string", "minLength": 1, "maxLength": 128,
  "description": "Fifo queues: repeats within 5 minutes get the first id"}
)json";

constexpr std::string_view receipt_fields = R"json(
"message_id": {"type": "string"},
"receipt_handle": {"type": "string", "description":
  "Fences the call: that of an earlier lease changes nothing"}
)json";

constexpr std::string_view queue_field = R"json("queue": {"type": "string",
"pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}$"})json";

constexpr std::string_view delay_field = R"json("delay_seconds":
{"type": "integer", "minimum": 0, "maximum": 604800, "default": 0,
"description": "Until it is available again"})json";

constexpr std::string_view shown = R"json(
"PullQueue": {"type": "object", "required": ["name", "type",
"dead_letter_queue", "max_receive_count", "message_retention_days",
"visibility_timeout_default", "delay_seconds_default", "enable_priority",
"depth", "available", "delayed", "in_flight", "dlq_count", "created_at",
"updated_at"], "properties": {
  "name": {"type": "string"}, "type": {"enum": ["standard", "fifo"]},
  "dead_letter_queue": {"type": ["string", "null"]},
  "max_receive_count": {"type": "integer"},
  "message_retention_days": {"type": "integer"},
  "visibility_timeout_default": {"type": "integer"},
  "delay_seconds_default": {"type": "integer"},
  "enable_priority": {"type": "boolean"},
  "depth": {"type": "integer", "description": "available and delayed"},
  "available": {"type": "integer"}, "delayed": {"type": "integer"},
  "in_flight": {"type": "integer"}, "dlq_count": {"type": "integer"},
  "created_at": {"type": "string", "format": "date-time"},
  "updated_at": {"type": "string", "format": "date-time"}}},
"PullQueueList": {"type": "object", "required": ["items", "next_cursor"],
"properties": {
  "items": {"type": "array", "items":
  {"$ref": "#/components/schemas/PullQueue"}},
  "next_cursor": {"type": ["string", "null"]}}},
"PullStats": {"type": "object", "required": ["queue", "depth", "available",
"delayed", "in_flight", "dlq_count", "oldest_age_seconds", "published_total",
"received_total", "acked_total", "nacked_total", "expired_total",
"dead_lettered_total", "redriven_total", "retired_total", "max_receive_count",
"visibility_timeout"], "properties": {
  "queue": {"type": "string"}, "depth": {"type": "integer"},
  "available": {"type": "integer"}, "delayed": {"type": "integer"},
  "in_flight": {"type": "integer"}, "dlq_count": {"type": "integer"},
  "oldest_age_seconds": {"type": ["number", "null"]},
  "published_total": {"type": "integer"},
  "received_total": {"type": "integer"}, "acked_total": {"type": "integer"},
  "nacked_total": {"type": "integer"}, "expired_total": {"type": "integer"},
  "dead_lettered_total": {"type": "integer"},
  "redriven_total": {"type": "integer"}, "retired_total": {"type": "integer"},
  "max_receive_count": {"type": "integer"},
  "visibility_timeout": {"type": "integer"}}},
"Message": {"type": "object", "required": ["message_id", "queue", "payload",
"status", "delivery_count", "published_at", "visible_at", "priority",
"redrive_count", "headers", "dead_letter"], "properties": {
  "message_id": {"type": "string"}, "queue": {"type": "string"},
  "payload": {"description": "Byte for byte what was published"},
  "status": {"enum": ["available", "delayed", "in_flight"]},
  "delivery_count": {"type": "integer"},
  "published_at": {"type": "string", "format": "date-time"},
  "receipt_handle": {"type": "string", "description":
  "Only where it was received"},
  "visible_at": {"type": "string", "format": "date-time"},
  "priority": {"type": "integer"}, "redrive_count": {"type": "integer"},
  "headers": {"$ref": "#/components/schemas/Headers"},
  "dead_letter": {"type": ["object", "null"], "required": ["source_queue",
  "reason", "delivery_count", "dead_lettered_at"], "properties": {
    "source_queue": {"type": "string"},
    "reason": {"enum": ["max_receive_count"]},
    "delivery_count": {"type": "integer"},
    "dead_lettered_at": {"type": "string", "format": "date-time"}}}}},
"MessageList": {"type": "object", "required": ["items", "next_cursor"],
"properties": {
  "items": {"type": "array", "items": {"$ref": "#/components/schemas/Message"}},
  "next_cursor": {"type": ["string", "null"]}}},
"PublishedMessage": {"type": "object", "required": ["message_id", "queue",
"published_at", "visible_at"], "properties": {
  "message_id": {"type": "string"}, "queue": {"type": "string"},
  "published_at": {"type": "string", "format": "date-time"},
  "visible_at": {"type": "string", "format": "date-time"},
  "duplicate": {"const": true}}},
"SettledMessage": {"type": "object", "required": ["message_id"],
"properties": {
  "message_id": {"type": "string"},
  "visible_at": {"type": "string", "format": "date-time", "description":
  "Of nack, release and extend"},
  "duplicate": {"const": true},
  "published": {"$ref": "#/components/schemas/PublishedMessage"}}},
"MessageResults": {"type": "object", "required": ["results"], "properties": {
  "results": {"type": "array", "description": "One for each entry, in order",
  "items": {"type": "object", "required": ["ok"], "properties": {
    "ok": {"type": "boolean"}, "message_id": {"type": "string"},
    "error": {"$ref": "#/components/schemas/MessageErrorBody"}}}}}},
"Redriven": {"oneOf": [
  {"title": "moved", "type": "object", "required": ["redriven"], "properties":
  {"redriven": {"type": "integer"}}},
  {"title": "under way", "type": "object", "required": ["operation_id"],
  "properties": {"operation_id": {"type": "string", "description":
  "For /v1/operations/{id}"}}},
  {"title": "dry run", "type": "object", "required": ["count", "sample"],
  "properties": {"count": {"type": "integer"}, "sample": {"type": "array",
  "items": {"$ref": "#/components/schemas/Message"}}}}]},
"Metadata": {"type": "object", "required": ["request_id", "latency_ms"],
"properties": {"request_id": {"type": "string"},
  "latency_ms": {"type": "number"}}},
"MessageErrorBody": {"type": "object", "required": ["code", "message",
"details"], "properties": {
  "code": {"type": "string"},
  "message": {"type": "string", "description": "A sentence for people"},
  "details": {"type": "object", "properties": {"fieldErrors": {"type":
  "object", "additionalProperties": {"type": "array", "items": {"type":
  "string"}}}}}}},
"MessageError": {"type": "object", "required": ["ok", "error"], "properties": {
  "ok": {"const": false},
  "error": {"$ref": "#/components/schemas/MessageErrorBody"},
  "metadata": {"$ref": "#/components/schemas/Metadata"}}},
"Capability": {"type": "object", "required": ["id", "method", "path", "summary",
"available", "idempotent", "scope", "billing"], "properties": {
  "id": {"type": "string"}, "method": {"type": "string"},
  "path": {"type": "string"}, "summary": {"type": "string"},
  "available": {"type": "boolean"}, "idempotent": {"type": "boolean"},
  "scope": {"type": ["string", "null"], "description": "null: open to all"},
  "billing": {"type": "object", "required": ["is_billable", "free", "unit",
  "price_usd", "currency"], "properties": {
    "is_billable": {"type": "boolean"}, "free": {"type": "boolean"},
    "unit": {"const": "per_request"}, "price_usd": {"type": "number"},
    "currency": {"const": "USD"}}},
  "params": {"type": "array", "items": {"type": "object", "required": ["name",
  "in", "required", "schema"]}},
  "errors": {"type": "array", "items": {"type": "object", "required":
  ["status", "code", "retryable"]}},
  "example": {"type": "object"}}},
"Discovery": {"type": "object", "required": ["version", "generated_at",
"capabilities"], "properties": {
  "version": {"const": "v1"},
  "generated_at": {"type": "string", "format": "date-time"},
  "capabilities": {"type": "array", "items":
  {"$ref": "#/components/schemas/Capability"}}}},
"Consume": {"type": "object", "required": ["queue"], "additionalProperties":
false, "properties": {
  "queue": {"type": "string"},
  "max_messages": {"type": "integer", "minimum": 1, "maximum": 10, "default":
  1},
  "visibility_timeout": {"type": "integer", "minimum": 1, "maximum": 43200,
  "description": "As the queue's visibility_timeout_default"},
  "wait_seconds": {"type": "integer", "minimum": 0, "maximum": 20, "default":
  0}}},
"Redrive": {"type": "object", "additionalProperties": false, "properties": {
  "max_messages": {"type": "integer", "minimum": 1, "maximum": 1000000000,
  "description": "More than 1000 of them are moved by an operation"},
  "message_ids": {"type": "array", "minItems": 1, "maxItems": 1000, "items":
  {"type": "string"}},
  "since": {"type": "string", "format": "date-time"},
  "until": {"type": "string", "format": "date-time"},
  "reason": {"type": "string", "enum": ["max_receive_count"]},
  "dry_run": {"type": "boolean", "default": false},
  "per_second": {"type": "number", "minimum": 0.1, "maximum": 10000,
  "description": "Moved by an operation, at this pace; not with message_ids"}}},
"PushSubscribe": {"type": "object", "required": ["url"], "additionalProperties":
false, "properties": {
  "url": {"type": "string", "format": "uri", "maxLength": 2048},
  "secret": {"type": "string", "minLength": 8, "maxLength": 256, "description":
  "Signs what is pushed; as it was, or a new one where it is missing"},
  "concurrency": {"type": "integer", "minimum": 1, "maximum": 10000,
  "default": 10},
  "rate_limit_max": {"type": ["integer", "null"], "minimum": 1, "maximum":
  100000, "default": null, "description": "Deliveries a second"},
  "timeout": {"type": "number", "minimum": 0.1, "maximum": 900, "default":
  15},
  "tls_ca": {"type": ["string", "null"], "maxLength": 65536, "default": null,
  "description": "PEM certificates: the only authorities that are trusted"},
  "tls_insecure": {"type": "boolean", "default": false, "description":
  "The certificate is not verified; needs the scope admin"}}},
"PushSubscription": {"type": "object", "required": ["queue", "url",
"concurrency", "rate_limit_max", "timeout", "tls_ca", "tls_insecure", "state",
"release_at", "in_flight"], "properties": {
  "queue": {"type": "string"}, "url": {"type": "string"},
  "secret": {"type": "string", "description":
  "Only in the answer to a subscription"},
  "concurrency": {"type": "integer"},
  "rate_limit_max": {"type": ["integer", "null"]},
  "timeout": {"type": "number"},
  "tls_ca": {"type": ["string", "null"]}, "tls_insecure": {"type": "boolean"},
  "state": {"enum": ["open", "held", "probing"]},
  "release_at": {"type": ["string", "null"], "format": "date-time"},
  "in_flight": {"type": "integer"}}}
)json";

/// Prints the schema of an object that has these members and no others.
std::string object(std::string_view title, std::string_view required,
                   std::initializer_list<std::string_view> members) {
  std::string out = ",\"";
  out.append(title).append(R"(":{"type":"object","required":)");
  out.append(required).append(
    R"(,"additionalProperties":false,"properties":{)");
  auto first = true;
  for (auto member : members) {
    out.append(first ? "" : ",").append(member);
    first = false;
  }
  return out.append("}}");
}

/// Prints the member of an object that is a list of such entries.
std::string list_of_entries(std::string_view name, std::string_view schema) {
  std::string out = "\"";
  out.append(name);
  out.append(R"(":{"type":"array","minItems":1,"maxItems":1000,"items":)");
  out.append(R"({"$ref":"#/components/schemas/)").append(schema);
  return out.append("\"}}");
}

} // namespace

std::string message_schemas() {
  constexpr std::string_view id = R"(["message_id"])";
  constexpr std::string_view id_in_queue = R"(["queue","message_id"])";
  constexpr std::string_view entries = R"(["queue","entries"])";
  constexpr std::string_view successor =
    R"("publish":{"$ref":"#/components/schemas/Successor"})";
  constexpr std::string_view timeout =
    R"("visibility_timeout":{"type":"integer","minimum":1,"maximum":43200})";
  std::string out{shown};
  out += object("CreatePullQueue", R"(["name"])", {creation, settings});
  out += object("PullQueuePatch", "[]", {settings});
  out += object("PublishMessage", R"(["queue","payload"])",
                {queue_field, message_fields});
  out += object("Successor", R"(["payload"])", {queue_field, message_fields});
  out += object("NewMessage", R"(["payload"])", {message_fields});
  out += object("PublishMessages", R"(["queue","messages"])",
                {queue_field, list_of_entries("messages", "NewMessage")});
  out += object("AckMessage", id_in_queue,
                {queue_field, receipt_fields, successor});
  out += object("NackMessage", id_in_queue,
                {queue_field, receipt_fields, delay_field});
  out += object("ExtendMessage",
                R"(["queue","message_id","visibility_timeout"])",
                {queue_field, receipt_fields, timeout});
  out += object("ReleaseMessage", id_in_queue, {queue_field, receipt_fields});
  out += object("AckEntry", id, {receipt_fields});
  out += object("NackEntry", id, {receipt_fields, delay_field});
  out += object("AckMessages", entries,
                {queue_field, list_of_entries("entries", "AckEntry")});
  out += object("NackMessages", entries,
                {queue_field, list_of_entries("entries", "NackEntry")});
  return out;
}

} // namespace tidegate::http
