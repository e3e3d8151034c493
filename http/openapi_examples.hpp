// Examples that several routes share, as JSON. Internal to the description of
// the API.

#pragma once

#include <string_view>

namespace tidegate::http::examples {

inline constexpr std::string_view queue = R"json({"name": "emails",
"webhookUrl": "https://example.com/hooks/emails", "mode": "standard",
"concurrency": 5, "rateLimitMax": 100, "rateLimitWindow": 1, "maxAttempts": 3,
"maxDefers": 50, "backoff": {"type": "exponential", "delay": 1, "factor": 2,
"maxDelay": 3600, "jitter": 0.2}, "timeout": 15, "ackTimeout": 300,
"ackTimeoutAction": "retry", "lifetime": 86400, "retention": 259200,
"deadLetter": true, "headers": {}, "permanentFailureStatuses": [],
"keyConcurrency": null, "keyRateLimitMax": null, "backpressureScope": "queue",
"recovery": {"mode": "full"}, "minHold": null, "maxHold": null,
"maxDepth": null, "tlsCa": null, "tlsInsecure": false, "paused": false,
"gate": {"state": "open", "releaseAt": null, "since": null, "cause": null,
"reason": null, "causedByJob": null, "webhookStatusCode": null,
"failedProbes": 0, "ramp": null, "lastProbe": null}, "blockedBy": [],
"counts": {"pending": 0, "processing": 0, "awaitingAck": 0, "completed": 0,
"dead": 0, "scheduled": 0, "held": 0, "inFlight": 0},
"oldestAgeSeconds": null, "createdAt": "2026-01-01T12:00:00.000Z",
"updatedAt": "2026-01-01T12:00:00.000Z"})json";

inline constexpr std::string_view queue_with_secret = R"json({"name": "emails",
"webhookUrl": "https://example.com/hooks/emails", "mode": "standard",
"concurrency": 5, "rateLimitMax": 100, "rateLimitWindow": 1, "maxAttempts": 3,
"maxDefers": 50, "backoff": {"type": "exponential", "delay": 1, "factor": 2,
"maxDelay": 3600, "jitter": 0.2}, "timeout": 15, "ackTimeout": 300,
"ackTimeoutAction": "retry", "lifetime": 86400, "retention": 259200,
"deadLetter": true, "headers": {}, "permanentFailureStatuses": [],
"keyConcurrency": null, "keyRateLimitMax": null, "backpressureScope": "queue",
"recovery": {"mode": "full"}, "minHold": null, "maxHold": null,
"maxDepth": null, "tlsCa": null, "tlsInsecure": false, "paused": false,
"signingSecret": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
"previousSecretUntil": "2026-01-02T12:00:00.000Z", "gate": {"state": "open",
"releaseAt": null, "since": null, "cause": null, "reason": null,
"causedByJob": null, "webhookStatusCode": null, "failedProbes": 0,
"ramp": null, "lastProbe": null}, "blockedBy": [], "counts": {"pending": 0,
"processing": 0, "awaitingAck": 0, "completed": 0, "dead": 0, "scheduled": 0,
"held": 0, "inFlight": 0}, "oldestAgeSeconds": null,
"createdAt": "2026-01-01T12:00:00.000Z",
"updatedAt": "2026-01-01T12:00:00.000Z"})json";

inline constexpr std::string_view job = R"json({
"id": "job_000000200000000ajy3wx9rxxj", "queue": "emails", "status": "pending",
"attempts": 0, "maxAttempts": 3, "deferCount": 0, "maxDefers": 50,
"deliveries": 0, "idempotencyKey": "order-1", "limitKey": "tenant-7",
"priority": 5, "headers": {}, "payload": {"to": "a@b.com"},
"scheduledFor": "2026-01-01T12:01:00.000Z", "ackDeadline": null,
"expiresAt": "2026-01-02T12:01:00.000Z", "blockedBy": [{"gate": "delay",
"since": "2026-01-01T12:00:00.000Z", "until": "2026-01-01T12:01:00.000Z",
"reason": "the publisher asked for a delay", "causedByJob": null}],
"deadReason": null, "lastError": null, "history": [], "historyDropped": 0,
"replayCount": 0, "createdAt": "2026-01-01T12:00:00.000Z",
"completedAt": null, "deadAt": null})json";

inline constexpr std::string_view job_list = R"json({"items": [{
"id": "job_000000200000000ajy3wx9rxxj", "queue": "emails", "status": "dead",
"attempts": 3, "maxAttempts": 3, "deferCount": 0, "maxDefers": 50,
"deliveries": 3, "idempotencyKey": null, "limitKey": null, "priority": 0,
"headers": {}, "scheduledFor": null, "ackDeadline": null,
"expiresAt": null, "blockedBy": [],
"deadReason": "attempts_exhausted", "replayCount": 0,
"createdAt": "2026-01-01T12:00:00.000Z", "completedAt": null,
"deadAt": "2026-01-01T12:00:07.000Z"}], "nextCursor": null})json";

inline constexpr std::string_view limit_key = R"json({"key": "tenant-7",
"gate": {"state": "held", "releaseAt": "2026-01-01T12:00:30.000Z",
"since": "2026-01-01T12:00:00.000Z", "cause": "worker", "reason": "over quota",
"causedByJob": "job_000000200000000ajy3wx9rxxj", "webhookStatusCode": null,
"failedProbes": 0, "ramp": null, "lastProbe": null}, "ready": 3, "inFlight": 0,
"blockedBy": [{"gate": "key_hold", "since": "2026-01-01T12:00:00.000Z",
"until": "2026-01-01T12:00:30.000Z", "reason": "over quota",
"causedByJob": "job_000000200000000ajy3wx9rxxj"}]})json";

inline constexpr std::string_view limit_keys = R"json({"items": [],
"nextCursor": null})json";

inline constexpr std::string_view operation = R"json({"id": "op_1",
"kind": "dlq_replay", "queue": "emails", "state": "running", "total": 2500,
"done": 1000, "error": null, "startedAt": "2026-01-01T12:00:00.000Z",
"finishedAt": null})json";

inline constexpr std::string_view accepted = R"json({
"id": "job_000000200000000ajy3wx9rxxj", "accepted": true})json";

inline constexpr std::string_view key = R"json({"id": "key_1",
"key": "sq_live_0000000000000000000000000000000000000000", "project": "acme",
"scopes": ["publish", "read"], "name": "checkout",
"createdAt": "2026-01-01T12:00:00.000Z",
"expiresAt": "2099-01-01T00:00:00.000Z"})json";

inline constexpr std::string_view keys = R"json({"items": [{"id": "key_1",
"project": "acme", "scopes": ["publish", "read"], "name": "checkout",
"createdAt": "2026-01-01T12:00:00.000Z",
"expiresAt": "2099-01-01T00:00:00.000Z"}], "nextCursor": null})json";

inline constexpr std::string_view usage = R"json({"from": "2026-01-01",
"to": "2026-01-30", "by": "queue", "items": [{"queue": "emails",
"publishes": 1200, "deliveries": 1210, "receives": 0, "bytes": 96000}],
"nextCursor": null})json";

inline constexpr std::string_view events =
  R"json("id: 1767268800000000-42\nevent: queue.held\ndata: )json"
  R"json({\"id\":\"1767268800000000-42\",)json"
  R"json(\"time\":\"2026-01-01T12:00:00.000Z\",\"project\":\"default\",)json"
  R"json(\"queue\":\"emails\",\"type\":\"queue.held\",\"data\":{)json"
  R"json(\"limitKey\":null,\"cause\":\"downstream\",\"reason\":null,)json"
  R"json(\"releaseAt\":\"2026-01-01T12:00:30.000Z\",)json"
  R"json(\"job\":\"job_000000200000000ajy3wx9rxxj\",)json"
  R"json(\"webhookStatusCode\":429,\"verdict\":null}}\n\n")json";

inline constexpr std::string_view batch_result = R"json({"results": [
{"ok": true, "id": "job_000000200000000ajy3wx9rxxj", "status": "pending",
"createdAt": "2026-01-01T12:00:00.000Z"}, {"ok": true,
"id": "job_000000200000000arvfh2d17hn", "status": "pending",
"createdAt": "2026-01-01T12:00:00.000Z"}]})json";

inline constexpr std::string_view plan =
  R"json({"count": 0, "sample": []})json";

} // namespace tidegate::http::examples
