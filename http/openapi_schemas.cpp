// The schemas of everything but queues, and the parameters.

#include "http/openapi_parts.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view schemas = R"json(
"Error": {"type": "object", "required": ["error", "code"], "properties": {
  "error": {"type": "string", "description": "A sentence for people"},
  "code": {"type": "string"}}},
"ValidationError": {"type": "object", "required": ["error", "code"],
"properties": {
  "error": {"type": "object", "required": ["formErrors", "fieldErrors"],
  "properties": {
    "formErrors": {"type": "array", "items": {"type": "string"}},
    "fieldErrors": {"type": "object", "additionalProperties": {"type": "array",
    "items": {"type": "string"}}}}},
  "code": {"const": "validation_failed"}}},
"Wait": {"description": "A number of seconds, or a string like \"30s\"",
"oneOf": [
  {"type": "number", "minimum": 0}, {"type": "string", "pattern":
  "^[0-9]+(\\.[0-9]+)?s$"}]},
"Reason": {"type": "string", "maxLength": 500},
"Delivery": {"type": "integer", "minimum": 1, "maximum": 9007199254740991,
  "description":
  "Number of the delivery that the report is about, from x-tidegate-delivery"},
"JobStatus": {"type": "string", "enum": ["pending", "processing",
"awaiting_ack", "completed", "dead"]},
"DeadReason": {"type": "string", "enum": ["attempts_exhausted",
"nack_not_retryable", "defer_cap_exhausted", "retry_after_exceeds_lifetime",
"lifetime_exceeded", "ack_timeout", "cancelled"]},
"Hold": {"type": "object", "required": ["retryAfter"], "additionalProperties":
false, "properties": {
  "retryAfter": {"$ref": "#/components/schemas/Wait"}, "reason": {"$ref":
  "#/components/schemas/Reason"}}},
"Purge": {"type": "object", "additionalProperties": false, "properties": {
  "status": {"type": "string", "enum": ["pending", "processing"]}}},
"Rotate": {"type": "object", "additionalProperties": false, "properties": {
  "overlap": {"type": "number", "minimum": 0, "maximum": 2592000, "default":
  86400}}},
"Publish": {"type": "object", "required": ["payload"], "additionalProperties":
false, "properties": {
  "payload": {"description": "Any JSON value; delivered byte for byte"},
  "idempotencyKey": {"type": "string", "minLength": 1, "maxLength": 255},
  "delay": {"type": "number", "minimum": 0, "maximum": 2592000, "default": 0},
  "runAt": {"type": "string", "format": "date-time", "description":
  "Instead of delay"},
  "priority": {"type": "integer", "minimum": 0, "maximum": 9, "default": 0},
  "limitKey": {"type": "string", "minLength": 1, "maxLength": 128},
  "headers": {"$ref": "#/components/schemas/Headers"}}},
"PublishBatch": {"type": "object", "required": ["jobs"],
"additionalProperties": false, "properties": {
  "jobs": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref":
  "#/components/schemas/Publish"}}}},
"Published": {"type": "object", "required": ["id", "status", "createdAt"],
"properties": {
  "id": {"type": "string"}, "status": {"$ref":
  "#/components/schemas/JobStatus"},
  "createdAt": {"type": "string", "format": "date-time"},
  "duplicate": {"const": true, "description":
  "The idempotency key is that of this job"},
  "payloadMismatch": {"const": true, "description": "It has another payload"}}},
"PublishedBatch": {"type": "object", "required": ["results"], "properties": {
  "results": {"type": "array", "description": "One for each job, in order",
  "items": {"oneOf": [
    {"allOf": [{"type": "object", "required": ["ok"], "properties": {"ok":
    {"const": true}}}, {"$ref": "#/components/schemas/Published"}]},
    {"allOf": [{"type": "object", "required": ["ok"], "properties": {"ok":
    {"const": false}}}, {"oneOf": [{"$ref": "#/components/schemas/Error"},
    {"$ref": "#/components/schemas/ValidationError"}]}]}]}}}},
"HistoryEntry": {"type": "object",
  "required": ["attempt", "delivery", "status", "error", "errorCode",
  "webhookStatusCode", "durationMs", "responseExcerpt", "retryAfter",
  "timestamp"],
  "properties": {
    "attempt": {"type": "integer"}, "delivery": {"type": "integer"},
    "status": {"enum": ["success", "failed", "nacked", "deferred",
    "interrupted", "replayed"]},
    "error": {"type": ["string", "null"]}, "errorCode": {"type": ["string",
    "null"]},
    "webhookStatusCode": {"type": ["integer", "null"]}, "durationMs": {"type":
    "number"},
    "responseExcerpt": {"type": ["string", "null"]}, "retryAfter": {"type":
    ["number", "null"]},
    "timestamp": {"type": "string", "format": "date-time"},
    "payload": {"description":
    "Of a replay: the payload that was replaced, or null"}}},
"JobItem": {"type": "object",
  "required": ["id", "queue", "status", "attempts", "maxAttempts",
  "deferCount", "maxDefers", "deliveries", "idempotencyKey", "limitKey",
  "priority", "headers", "scheduledFor", "ackDeadline", "expiresAt",
  "blockedBy", "deadReason",
  "replayCount", "createdAt", "completedAt", "deadAt"],
  "properties": {
    "id": {"type": "string"}, "queue": {"type": "string"}, "status": {"$ref":
    "#/components/schemas/JobStatus"},
    "attempts": {"type": "integer"}, "maxAttempts": {"type": "integer"},
    "deferCount": {"type": "integer"}, "maxDefers": {"type": "integer"},
    "deliveries": {"type": "integer"},
    "idempotencyKey": {"type": ["string", "null"]}, "limitKey": {"type":
    ["string", "null"]},
    "priority": {"type": "integer"}, "headers": {"$ref":
    "#/components/schemas/Headers"},
    "payload": {"description": "In a list only where it was asked for"},
    "scheduledFor": {"type": ["string", "null"], "format": "date-time"},
    "ackDeadline": {"type": ["string", "null"], "format": "date-time"},
    "expiresAt": {"type": ["string", "null"], "format": "date-time"},
    "blockedBy": {"$ref": "#/components/schemas/BlockedBy"},
    "deadReason": {"oneOf": [{"$ref": "#/components/schemas/DeadReason"},
    {"type": "null"}]},
    "replayCount": {"type": "integer"},
    "createdAt": {"type": "string", "format": "date-time"},
    "completedAt": {"type": ["string", "null"], "format": "date-time"},
    "deadAt": {"type": ["string", "null"], "format": "date-time"}}},
"Job": {"allOf": [{"$ref": "#/components/schemas/JobItem"}, {"type": "object",
  "required": ["payload", "lastError", "history", "historyDropped"],
  "properties": {
    "lastError": {"type": ["string", "null"]},
    "history": {"type": "array", "items": {"$ref":
    "#/components/schemas/HistoryEntry"}},
    "historyDropped": {"type": "integer"}}}]},
"Replay": {"type": "object", "additionalProperties": false, "properties": {
  "payload": {"description":
  "Any JSON value instead of the payload of before"}}},
"Ack": {"type": "object", "additionalProperties": false, "properties": {
  "delivery": {"$ref": "#/components/schemas/Delivery"}}},
"Nack": {"type": "object", "additionalProperties": false, "properties": {
  "delivery": {"$ref": "#/components/schemas/Delivery"},
  "retryable": {"type": "boolean", "default": true}, "reason": {"$ref":
  "#/components/schemas/Reason"}}},
"Defer": {"type": "object", "required": ["retryAfter"], "additionalProperties":
false, "properties": {
  "delivery": {"$ref": "#/components/schemas/Delivery"},
  "retryAfter": {"$ref": "#/components/schemas/Wait"},
  "scope": {"type": "string", "enum": ["queue", "job", "key"]}, "reason":
  {"$ref": "#/components/schemas/Reason"}}},
"Touch": {"type": "object", "required": ["extend"], "additionalProperties":
false, "properties": {
  "delivery": {"$ref": "#/components/schemas/Delivery"},
  "extend": {"type": "number", "minimum": 1, "maximum": 604800}}},
"Accepted": {"type": "object", "required": ["id", "accepted"], "properties": {
  "id": {"type": "string"}, "accepted": {"const": true}}},
"Count": {"type": "object", "required": ["count"], "properties": {"count":
{"type": "integer"}}},
"DlqReplay": {"type": "object", "additionalProperties": false, "properties": {
  "reason": {"$ref": "#/components/schemas/DeadReason"},
  "since": {"type": "string", "format": "date-time"}, "until": {"type":
  "string", "format": "date-time"},
  "limitKey": {"type": "string", "minLength": 1, "maxLength": 128},
  "ids": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type":
  "string"}},
  "limit": {"type": "integer", "minimum": 1, "maximum": 9007199254740991},
  "dryRun": {"type": "boolean", "default": false},
  "perSecond": {"type": "number", "minimum": 0.1, "maximum": 10000, "default":
  1000}}},
"ReplayPlan": {"oneOf": [
  {"title": "dry run", "type": "object", "required": ["count", "sample"],
  "properties": {
    "count": {"type": "integer"}, "sample": {"type": "array", "items": {"$ref":
    "#/components/schemas/JobItem"}}}},
  {"$ref": "#/components/schemas/Operation"}]},
"Operation": {"type": "object", "required": ["id", "kind", "queue", "state",
"total", "done", "error", "startedAt", "finishedAt"], "properties": {
  "id": {"type": "string"}, "kind": {"enum": ["dlq_replay", "redrive"]},
  "queue": {"type": "string", "description":
  "Of a redrive: where the dead letters are"},
  "state": {"enum": ["running", "done", "cancelled", "failed"]},
  "total": {"type": "integer"}, "done": {"type": "integer"}, "error": {"type":
  ["string", "null"]},
  "startedAt": {"type": "string", "format": "date-time"}, "finishedAt":
  {"type": ["string", "null"], "format": "date-time"}}},
"Scopes": {"type": "array", "minItems": 1, "uniqueItems": true, "items":
{"enum": ["publish", "work", "read", "manage", "admin"]}},
"CreateKey": {"type": "object", "required": ["project", "scopes"],
"additionalProperties": false, "properties": {
  "project": {"type": "string", "pattern":
  "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}$"}, "scopes": {"$ref":
  "#/components/schemas/Scopes"},
  "name": {"type": "string", "maxLength": 120},
  "expiresAt": {"type": ["string", "null"], "format": "date-time"}}},
"Key": {"type": "object", "required": ["id", "project", "scopes", "name",
"createdAt", "expiresAt"], "properties": {
  "id": {"type": "string"}, "project": {"type": "string"}, "scopes": {"$ref":
  "#/components/schemas/Scopes"},
  "name": {"type": ["string", "null"]}, "createdAt": {"type": "string",
  "format": "date-time"},
  "expiresAt": {"type": ["string", "null"], "format": "date-time"}}},
"NewKey": {"allOf": [{"$ref": "#/components/schemas/Key"}, {"type": "object",
"required": ["key"], "properties": {
  "key": {"type": "string", "description": "Shown this once"}}}]},
"EventStream": {"type": "string", "description":
"Server-sent events; one of the type gap says that some are missing"},
"Metrics": {"type": "string", "description":
"Without admin only the project's queues; without a key only from loopback"},
"Usage": {"type": "object", "required": ["from", "to", "by", "items",
"nextCursor"], "properties": {
  "from": {"type": "string", "format": "date"}, "to": {"type": "string",
  "format": "date"},
  "by": {"enum": ["queue", "key", "day"]}, "nextCursor": {"type": "null"},
  "items": {"type": "array", "items": {"type": "object", "required":
  ["publishes", "deliveries", "receives", "bytes"], "properties": {
    "queue": {"type": ["string", "null"]}, "key": {"type": ["string", "null"]},
    "day": {"type": "string", "format": "date"},
    "publishes": {"type": "integer"}, "deliveries": {"type": "integer"},
    "receives": {"type": "integer"}, "bytes": {"type": "integer"}}}}}},
"Status": {"type": "object", "required": ["status"], "properties": {"status":
{"type": "string"}}},
"Document": {"type": "object", "required": ["openapi", "info", "paths"],
"properties": {
  "openapi": {"type": "string"}, "info": {"type": "object"}, "paths": {"type":
  "object"}}},
"QueueList": {"type": "object", "required": ["items", "nextCursor"],
"properties": {
  "items": {"type": "array", "items": {"$ref": "#/components/schemas/Queue"}},
  "nextCursor": {"type": ["string", "null"]}}},
"JobList": {"type": "object", "required": ["items", "nextCursor"],
"properties": {
  "items": {"type": "array", "items": {"$ref":
  "#/components/schemas/JobItem"}}, "nextCursor": {"type": ["string",
  "null"]}}},
"LimitKeyList": {"type": "object", "required": ["items", "nextCursor"],
"properties": {
  "items": {"type": "array", "items": {"$ref":
  "#/components/schemas/LimitKey"}}, "nextCursor": {"type": ["string",
  "null"]}}},
"OperationList": {"type": "object", "required": ["items", "nextCursor"],
"properties": {
  "items": {"type": "array", "items": {"$ref":
  "#/components/schemas/Operation"}}, "nextCursor": {"type": ["string",
  "null"]}}},
"KeyList": {"type": "object", "required": ["items", "nextCursor"],
"properties": {
  "items": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}},
  "nextCursor": {"type": ["string", "null"]}}}
)json";

constexpr std::string_view all_parameters = R"json(
"name": {"name": "name", "in": "path", "required": true, "description":
"Name of a queue",
  "schema": {"type": "string"}, "example": "emails"},
"queue": {"name": "queue", "in": "path", "required": true, "description":
"Name of a pull queue",
  "schema": {"type": "string"}, "example": "webhook-out"},
"capabilityId": {"name": "id", "in": "path", "required": true, "description":
"Id of a capability",
  "schema": {"type": "string"}, "example": "queue.publish"},
"deadMessageReason": {"name": "reason", "in": "query", "description":
"Only messages that were moved there",
  "schema": {"type": "string", "enum": ["max_receive_count"]}},
"key": {"name": "key", "in": "path", "required": true, "description":
"A limit key, percent-encoded",
  "schema": {"type": "string"}, "example": "tenant-7"},
"file": {"name": "file", "in": "path", "required": true, "description":
"Name of a file of the dashboard",
  "schema": {"type": "string"}, "example": "style.css"},
"jobId": {"name": "id", "in": "path", "required": true, "description":
"Id of a job",
  "schema": {"type": "string"}, "example": "job_000000200000000ajy3wx9rxxj"},
"operationId": {"name": "id", "in": "path", "required": true, "description":
"Id of an operation",
  "schema": {"type": "string"}, "example": "op_1"},
"keyId": {"name": "id", "in": "path", "required": true, "description":
"Id of an API key",
  "schema": {"type": "string"}, "example": "key_1"},
"limit": {"name": "limit", "in": "query", "schema": {"type": "integer",
"minimum": 1, "maximum": 1000, "default": 100}},
"cursor": {"name": "cursor", "in": "query", "description":
"The nextCursor of an earlier page of the same list",
  "schema": {"type": "string"}},
"force": {"name": "force", "in": "query", "description":
"Delete live jobs as well",
  "schema": {"type": "boolean", "default": false}},
"status": {"name": "status", "in": "query", "schema": {"$ref":
"#/components/schemas/JobStatus"}},
"limitKey": {"name": "limitKey", "in": "query", "schema": {"type": "string",
"minLength": 1, "maxLength": 128}},
"idempotencyKey": {"name": "idempotencyKey", "in": "query", "description":
"With it the other filters do not count",
  "schema": {"type": "string", "minLength": 1, "maxLength": 255}},
"reason": {"name": "reason", "in": "query", "schema": {"$ref":
"#/components/schemas/DeadReason"}},
"since": {"name": "since", "in": "query", "description":
"Created, or for dead letters ended, from then on",
  "schema": {"type": "string", "format": "date-time"}},
"until": {"name": "until", "in": "query", "description":
"Created, or for dead letters ended, before then",
  "schema": {"type": "string", "format": "date-time"}},
"include": {"name": "include", "in": "query", "schema": {"type": "string",
"enum": ["payload"]}},
"eventQueue": {"name": "queue", "in": "query", "description":
"Only events of this queue", "schema": {"type": "string"}},
"types": {"name": "types", "in": "query", "description":
"Only these types, with commas between them, such as queue.held,queue.opened",
  "schema": {"type": "string"}},
"lastEventId": {"name": "lastEventId", "in": "query", "description":
"Begin after this event; the header Last-Event-ID goes before it",
  "schema": {"type": "string"}},
"from": {"name": "from", "in": "query", "description":
"First day; 30 days before the last one if it is missing",
  "schema": {"type": "string", "format": "date"}},
"to": {"name": "to", "in": "query", "description":
"Last day; today if it is missing",
  "schema": {"type": "string", "format": "date"}},
"by": {"name": "by", "in": "query", "schema": {"type": "string", "enum":
["queue", "key", "day"], "default": "queue"}}
)json";

} // namespace

std::string_view job_schemas() {
  return schemas;
}

std::string_view parameters() {
  return all_parameters;
}

} // namespace tidegate::http
