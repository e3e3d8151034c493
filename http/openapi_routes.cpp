// What is to be said of every route beside what the table of routes says.

#include <array>

#include "http/openapi_examples.hpp"
#include "http/openapi_parts.hpp"

namespace tidegate::http {

namespace {

constexpr std::array docs = {
  route_doc{
    .what = operation::create_queue,
    .id = "createQueue",
    .tag = "Queues",
    .request = "CreateQueue",
    .request_example = R"json({"name": "emails", "webhookUrl":
"https://example.com/hooks/emails", "concurrency": 5,
"rateLimitMax": 100})json",
    .status = 201,
    .response = "Queue",
    .response_example = examples::queue_with_secret,
    .conflicts = "queue_exists wrong_queue_kind",
  },
  route_doc{
    .what = operation::list_queues,
    .id = "listQueues",
    .tag = "Queues",
    .query = "limit cursor",
    .response = "QueueList",
    .response_example = R"json({"items": [], "nextCursor": null})json",
  },
  route_doc{
    .what = operation::get_queue,
    .id = "getQueue",
    .tag = "Queues",
    .response = "Queue",
    .response_example = examples::queue,
  },
  route_doc{
    .what = operation::put_queue,
    .id = "putQueue",
    .tag = "Queues",
    .request = "QueueSettings",
    .request_example = R"json({"webhookUrl": "https://example.com/hooks/emails",
"concurrency": 5, "backoff": {"type": "ladder", "steps": [60,
300, 1800]}})json",
    .response = "Queue",
    .response_example = examples::queue,
    .other_status = 201,
  },
  route_doc{
    .what = operation::patch_queue,
    .id = "patchQueue",
    .tag = "Queues",
    .request = "QueuePatch",
    .request_example =
      R"json({"rateLimitMax": 100, "recovery": {"mode": "ramp", "start": 1,
"factor": 2}, "maxDepth": null})json",
    .response = "Queue",
    .response_example = examples::queue,
  },
  route_doc{
    .what = operation::delete_queue,
    .id = "deleteQueue",
    .tag = "Queues",
    .query = "force",
    .status = 204,
    .conflicts = "queue_not_empty",
  },
  route_doc{
    .what = operation::pause_queue,
    .id = "pauseQueue",
    .tag = "Queues",
    .response = "Queue",
    .response_example = examples::queue,
  },
  route_doc{
    .what = operation::resume_queue,
    .id = "resumeQueue",
    .tag = "Queues",
    .response = "Queue",
    .response_example = examples::queue,
  },
  route_doc{
    .what = operation::hold_queue,
    .id = "holdQueue",
    .tag = "Queues",
    .request = "Hold",
    .request_example = R"json({"retryAfter": 30, "reason":
"the mail provider is being upgraded"})json",
    .response = "Queue",
    .response_example = examples::queue,
  },
  route_doc{
    .what = operation::release_queue,
    .id = "releaseQueue",
    .tag = "Queues",
    .response = "Queue",
    .response_example = examples::queue,
  },
  route_doc{
    .what = operation::purge_queue,
    .id = "purgeQueue",
    .tag = "Queues",
    .request = "Purge",
    .request_example = R"json({"status": "pending"})json",
    .body_is_optional = true,
    .response = "Count",
    .response_example = R"json({"count": 12})json",
  },
  route_doc{
    .what = operation::get_secret,
    .id = "getSigningSecret",
    .tag = "Queues",
    .response = "Queue",
    .response_example = examples::queue_with_secret,
  },
  route_doc{
    .what = operation::rotate_secret,
    .id = "rotateSigningSecret",
    .tag = "Queues",
    .request = "Rotate",
    .request_example = R"json({"overlap": 3600})json",
    .body_is_optional = true,
    .response = "Queue",
    .response_example = examples::queue_with_secret,
  },
  route_doc{
    .what = operation::publish,
    .id = "publishJob",
    .tag = "Jobs",
    .request = "Publish",
    .request_example =
      R"json({"payload": {"to": "a@b.com"}, "idempotencyKey": "order-1",
"delay": 60, "priority": 5, "limitKey": "tenant-7"})json",
    .status = 201,
    .response = "Published",
    .response_example =
      R"json({"id": "job_000000200000000ajy3wx9rxxj", "status": "pending",
"createdAt": "2026-01-01T12:00:00.000Z"})json",
    .other_status = 200,
  },
  route_doc{
    .what = operation::publish_batch,
    .id = "publishJobs",
    .tag = "Jobs",
    .request = "PublishBatch",
    .request_example =
      R"json({"jobs": [{"payload": {"to": "a@b.com"}}, {"payload": {"to":
"c@d.com"}, "delay": 5}]})json",
    .response = "PublishedBatch",
    .response_example = examples::batch_result,
  },
  route_doc{
    .what = operation::list_jobs,
    .id = "listJobs",
    .tag = "Jobs",
    .query = "status limitKey idempotencyKey reason since until "
             "limit cursor include",
    .response = "JobList",
    .response_example = examples::job_list,
  },
  route_doc{
    .what = operation::list_limit_keys,
    .id = "listLimitKeys",
    .tag = "Limit keys",
    .query = "limit cursor",
    .response = "LimitKeyList",
    .response_example = examples::limit_keys,
  },
  route_doc{
    .what = operation::release_limit_key,
    .id = "releaseLimitKey",
    .tag = "Limit keys",
    .response = "LimitKey",
    .response_example = examples::limit_key,
  },
  route_doc{
    .what = operation::list_dead_letters,
    .id = "listDeadLetters",
    .tag = "Dead letters",
    .query = "status limitKey idempotencyKey reason since until "
             "limit cursor include",
    .response = "JobList",
    .response_example = examples::job_list,
  },
  route_doc{
    .what = operation::replay_dead_letters,
    .id = "replayDeadLetters",
    .tag = "Dead letters",
    .request = "DlqReplay",
    .request_example = R"json({"reason": "attempts_exhausted", "since":
"2026-01-01T00:00:00Z", "limit": 1000, "dryRun": true})json",
    .body_is_optional = true,
    .response = "ReplayPlan",
    .response_example = examples::plan,
  },
  route_doc{
    .what = operation::delete_dead_letters,
    .id = "deleteDeadLetters",
    .tag = "Dead letters",
    .query = "status limitKey reason since until",
    .response = "Count",
    .response_example = R"json({"count": 12})json",
  },
  route_doc{
    .what = operation::get_job,
    .id = "getJob",
    .tag = "Jobs",
    .response = "Job",
    .response_example = examples::job,
  },
  route_doc{
    .what = operation::cancel_job,
    .id = "cancelJob",
    .tag = "Jobs",
    .response = "Job",
    .response_example = examples::job,
    .conflicts = "job_completed job_dead",
  },
  route_doc{
    .what = operation::run_job_now,
    .id = "runJobNow",
    .tag = "Jobs",
    .response = "Job",
    .response_example = examples::job,
    .conflicts = "job_completed job_dead",
  },
  route_doc{
    .what = operation::replay_job,
    .id = "replayJob",
    .tag = "Dead letters",
    .request = "Replay",
    .request_example = R"json({"payload": {"to": "a@b.com"}})json",
    .body_is_optional = true,
    .response = "Job",
    .response_example = examples::job,
    .conflicts = "not_dead",
  },
  route_doc{
    .what = operation::ack_job,
    .id = "ackJob",
    .tag = "Callbacks",
    .request = "Ack",
    .request_example = R"json({"delivery": 1})json",
    .body_is_optional = true,
    .response = "Accepted",
    .response_example = examples::accepted,
    .conflicts = "not_ack_mode not_awaiting_outcome "
                 "stale_delivery job_dead",
  },
  route_doc{
    .what = operation::nack_job,
    .id = "nackJob",
    .tag = "Callbacks",
    .request = "Nack",
    .request_example = R"json({"delivery": 1, "retryable": true, "reason":
"no such recipient"})json",
    .body_is_optional = true,
    .response = "Accepted",
    .response_example = examples::accepted,
    .conflicts = "not_ack_mode not_awaiting_outcome "
                 "stale_delivery job_completed job_dead",
  },
  route_doc{
    .what = operation::defer_job,
    .id = "deferJob",
    .tag = "Callbacks",
    .request = "Defer",
    .request_example =
      R"json({"retryAfter": 30, "scope": "queue", "reason": "over quota"})json",
    .response = "Accepted",
    .response_example = examples::accepted,
    .conflicts = "not_ack_mode",
  },
  route_doc{
    .what = operation::touch_job,
    .id = "touchJob",
    .tag = "Callbacks",
    .request = "Touch",
    .request_example = R"json({"extend": 600})json",
    .response = "Accepted",
    .response_example = examples::accepted,
    .conflicts = "not_ack_mode not_awaiting_outcome "
                 "stale_delivery job_completed job_dead",
  },
  route_doc{
    .what = operation::list_operations,
    .id = "listOperations",
    .tag = "Operations",
    .query = "limit cursor",
    .response = "OperationList",
    .response_example = R"json({"items": [], "nextCursor": null})json",
  },
  route_doc{
    .what = operation::get_operation,
    .id = "getOperation",
    .tag = "Operations",
    .response = "Operation",
    .response_example = examples::operation,
  },
  route_doc{
    .what = operation::cancel_operation,
    .id = "cancelOperation",
    .tag = "Operations",
    .response = "Operation",
    .response_example = examples::operation,
  },
  route_doc{
    .what = operation::create_api_key,
    .id = "createKey",
    .tag = "API keys",
    .request = "CreateKey",
    .request_example =
      R"json({"project": "acme", "scopes": ["publish", "read"], "name":
"checkout", "expiresAt": "2099-01-01T00:00:00Z"})json",
    .status = 201,
    .response = "NewKey",
    .response_example = examples::key,
  },
  route_doc{
    .what = operation::list_api_keys,
    .id = "listKeys",
    .tag = "API keys",
    .query = "limit cursor",
    .response = "KeyList",
    .response_example = examples::keys,
  },
  route_doc{
    .what = operation::revoke_api_key,
    .id = "revokeKey",
    .tag = "API keys",
    .status = 204,
  },
  route_doc{
    .what = operation::get_usage,
    .id = "getUsage",
    .tag = "Usage",
    .query = "from to by",
    .response = "Usage",
    .response_example = examples::usage,
  },
  route_doc{
    .what = operation::stream_events,
    .id = "streamEvents",
    .tag = "Events",
    .query = "eventQueue types lastEventId",
    .response = "EventStream",
    .response_example = examples::events,
    .media_type = "text/event-stream",
  },
};

constexpr std::array open_docs = {
  route_doc{
    .what = operation::openapi,
    .id = "getDescription",
    .tag = "Server",
    .response = "Document",
    .response_example =
      R"json({"openapi": "3.1.0", "info": {}, "paths": {}})json",
  },
  route_doc{
    .what = operation::dashboard,
    .id = "getDashboard",
    .tag = "Server",
  },
  route_doc{
    .what = operation::dashboard_file,
    .id = "getDashboardFile",
    .tag = "Server",
  },
  route_doc{
    .what = operation::health,
    .id = "getHealth",
    .tag = "Server",
    .response = "Status",
    .response_example = R"json({"status": "ok"})json",
  },
  route_doc{
    .what = operation::readiness,
    .id = "getReadiness",
    .tag = "Server",
    .response = "Status",
    .response_example = R"json({"status": "ready"})json",
  },
  route_doc{
    .what = operation::metrics,
    .id = "getMetrics",
    .tag = "Server",
    .response = "Metrics",
    .response_example = R"json("# TYPE tidegate_actors gauge\n)json"
                        R"json(tidegate_actors 14\n")json",
    .media_type = "text/plain",
  },
};

template <std::size_t N>
constexpr bool
is_in_order(const std::array<route_doc, N>& part, operation first) {
  for (std::size_t i = 0; i < N; ++i)
    if (static_cast<std::size_t>(part[i].what)
        != static_cast<std::size_t>(first) + i)
      return false;
  return true;
}

static_assert(is_in_order(docs, operation::create_queue));
static_assert(is_in_order(open_docs, operation::openapi));

} // namespace

const route_doc& doc_of(operation what) {
  auto index = static_cast<std::size_t>(what);
  if (index < docs.size())
    return docs[index];
  if (what >= operation::openapi)
    return open_docs[index - static_cast<std::size_t>(operation::openapi)];
  return message_route_docs()[index - docs.size()];
}

} // namespace tidegate::http
