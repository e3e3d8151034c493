// What is to be said of the routes of pull queues, and of discovery.

#include <array>

#include "http/openapi_parts.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view queue_example = R"json({"name": "webhook-out",
"type": "standard", "dead_letter_queue": "webhook-out.dlq",
"max_receive_count": 3, "message_retention_days": 4,
"visibility_timeout_default": 300, "delay_seconds_default": 0,
"enable_priority": false, "depth": 0, "available": 0, "delayed": 0,
"in_flight": 0, "dlq_count": 0, "created_at": "2026-01-01T12:00:00.000000Z",
"updated_at": "2026-01-01T12:00:00.000000Z"})json";

constexpr std::string_view published_example = R"json({
"message_id": "qmsg_0000000000ajy3wx9rxxj000", "queue": "webhook-out",
"published_at": "2026-01-01T12:00:00.000000Z",
"visible_at": "2026-01-01T12:00:00.000000Z"})json";

constexpr std::string_view received_example = R"json({"items": [{
"message_id": "qmsg_0000000000ajy3wx9rxxj000", "queue": "webhook-out",
"payload": {"to": "a@b.com"}, "status": "in_flight", "delivery_count": 1,
"published_at": "2026-01-01T12:00:00.000000Z",
"receipt_handle": "rcpt_1_0123456789abcdef",
"visible_at": "2026-01-01T12:05:00.000000Z", "priority": 0, "redrive_count": 0,
"headers": {}, "dead_letter": null}], "next_cursor": null})json";

constexpr std::string_view shown_example = R"json({"items": [{
"message_id": "qmsg_0000000000ajy3wx9rxxj000", "queue": "webhook-out.dlq",
"payload": {"to": "a@b.com"}, "status": "available", "delivery_count": 0,
"published_at": "2026-01-01T12:00:00.000000Z",
"visible_at": "2026-01-01T12:15:00.000000Z", "priority": 0, "redrive_count": 0,
"headers": {}, "dead_letter": {"source_queue": "webhook-out",
"reason": "max_receive_count", "delivery_count": 3,
"dead_lettered_at": "2026-01-01T12:15:00.000000Z"}}], "next_cursor": null}
)json";

constexpr std::string_view stats_example = R"json({"queue": "webhook-out",
"depth": 2, "available": 2, "delayed": 0, "in_flight": 1, "dlq_count": 0,
"oldest_age_seconds": 1.5, "published_total": 4, "received_total": 2,
"acked_total": 1, "nacked_total": 0, "expired_total": 0,
"dead_lettered_total": 0, "redriven_total": 0, "retired_total": 0,
"max_receive_count": 3, "visibility_timeout": 300})json";

constexpr std::string_view settle_example = R"json({"queue": "webhook-out",
"message_id": "qmsg_0000000000ajy3wx9rxxj000",
"receipt_handle": "rcpt_1_0123456789abcdef"})json";

constexpr std::string_view settle_batch_example = R"json({
"queue": "webhook-out", "entries": [{"message_id":
"qmsg_0000000000ajy3wx9rxxj000"}]})json";

constexpr std::string_view settled_example = R"json({
"message_id": "qmsg_0000000000ajy3wx9rxxj000"})json";

constexpr std::string_view visible_example = R"json({
"message_id": "qmsg_0000000000ajy3wx9rxxj000",
"visible_at": "2026-01-01T12:05:00.000000Z"})json";

constexpr std::string_view results_example = R"json({"results": [{"ok": true,
"message_id": "qmsg_0000000000ajy3wx9rxxj000"}]})json";

constexpr std::string_view capability_example = R"json({"id": "queue.publish",
"method": "POST", "path": "/v1/queue/publish",
"summary": "Publish a message; makes the queue where there is none",
"available": true, "idempotent": false, "scope": "publish",
"billing": {"is_billable": true, "free": true, "unit": "per_request",
"price_usd": 0, "currency": "USD"}})json";

constexpr std::string_view subscription_example = R"json({
"queue": "webhook-out", "url": "https://example.com/hook", "concurrency": 4,
"rate_limit_max": null, "timeout": 15, "tls_ca": null, "tls_insecure": false,
"state": "open", "release_at": null, "in_flight": 0})json";

constexpr std::string_view wrong_kind = "WRONG_QUEUE_KIND";

constexpr std::string_view not_in_flight =
  "QUEUE_MESSAGE_NOT_IN_FLIGHT WRONG_QUEUE_KIND";

constexpr std::array docs = {
  route_doc{
    .what = operation::create_pull_queue,
    .id = "createPullQueue",
    .tag = "Pull queues",
    .request = "CreatePullQueue",
    .request_example = R"json({"name": "webhook-out", "type": "standard",
"max_receive_count": 3})json",
    .status = 201,
    .response = "PullQueue",
    .response_example = queue_example,
    .other_status = 200,
    .conflicts = "QUEUE_ALREADY_EXISTS WRONG_QUEUE_KIND",
  },
  route_doc{
    .what = operation::get_pull_queue,
    .id = "getPullQueue",
    .tag = "Pull queues",
    .response = "PullQueue",
    .response_example = queue_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::list_pull_queues,
    .id = "listPullQueues",
    .tag = "Pull queues",
    .query = "limit cursor",
    .response = "PullQueueList",
    .response_example = R"json({"items": [], "next_cursor": null})json",
  },
  route_doc{
    .what = operation::patch_pull_queue,
    .id = "updatePullQueue",
    .tag = "Pull queues",
    .request = "PullQueuePatch",
    .request_example = R"json({"max_receive_count": 5})json",
    .response = "PullQueue",
    .response_example = queue_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::delete_pull_queue,
    .id = "deletePullQueue",
    .tag = "Pull queues",
    .query = "force",
    .status = 204,
    .conflicts = "QUEUE_NOT_EMPTY WRONG_QUEUE_KIND",
  },
  route_doc{
    .what = operation::publish_message,
    .id = "publishMessage",
    .tag = "Messages",
    .request = "PublishMessage",
    .request_example = R"json({"queue": "webhook-out",
"payload": {"to": "a@b.com"}, "delay_seconds": 60,
"idempotency_key": "order-1"})json",
    .status = 201,
    .response = "PublishedMessage",
    .response_example = published_example,
    .other_status = 200,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::publish_messages,
    .id = "publishMessages",
    .tag = "Messages",
    .request = "PublishMessages",
    .request_example = R"json({"queue": "webhook-out", "messages": [
{"payload": {"to": "a@b.com"}}, {"payload": 2, "delay_seconds": 5}]})json",
    .response = "MessageResults",
    .response_example = results_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::consume_messages,
    .id = "consumeMessages",
    .tag = "Messages",
    .request = "Consume",
    .request_example = R"json({"queue": "webhook-out", "max_messages": 10,
"wait_seconds": 20})json",
    .response = "MessageList",
    .response_example = received_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::ack_message,
    .id = "ackMessage",
    .tag = "Messages",
    .request = "AckMessage",
    .request_example = settle_example,
    .response = "SettledMessage",
    .response_example = settled_example,
    .conflicts = not_in_flight,
  },
  route_doc{
    .what = operation::nack_message,
    .id = "nackMessage",
    .tag = "Messages",
    .request = "NackMessage",
    .request_example = settle_example,
    .response = "SettledMessage",
    .response_example = visible_example,
    .conflicts = not_in_flight,
  },
  route_doc{
    .what = operation::extend_message,
    .id = "extendMessage",
    .tag = "Messages",
    .request = "ExtendMessage",
    .request_example = R"json({"queue": "webhook-out",
"message_id": "qmsg_0000000000ajy3wx9rxxj000",
"visibility_timeout": 600})json",
    .response = "SettledMessage",
    .response_example = visible_example,
    .conflicts = not_in_flight,
  },
  route_doc{
    .what = operation::release_message,
    .id = "releaseMessage",
    .tag = "Messages",
    .request = "ReleaseMessage",
    .request_example = settle_example,
    .response = "SettledMessage",
    .response_example = visible_example,
    .conflicts = not_in_flight,
  },
  route_doc{
    .what = operation::ack_messages,
    .id = "ackMessages",
    .tag = "Messages",
    .request = "AckMessages",
    .request_example = settle_batch_example,
    .response = "MessageResults",
    .response_example = results_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::nack_messages,
    .id = "nackMessages",
    .tag = "Messages",
    .request = "NackMessages",
    .request_example = settle_batch_example,
    .response = "MessageResults",
    .response_example = results_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::peek_messages,
    .id = "peekMessages",
    .tag = "Messages",
    .query = "limit",
    .response = "MessageList",
    .response_example = shown_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::purge_pull_queue,
    .id = "purgePullQueue",
    .tag = "Pull queues",
    .response = "Count",
    .response_example = R"json({"count": 12})json",
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::get_pull_stats,
    .id = "getPullStats",
    .tag = "Pull queues",
    .response = "PullStats",
    .response_example = stats_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::list_dead_messages,
    .id = "listDeadMessages",
    .tag = "Messages",
    .query = "limit cursor deadMessageReason since until",
    .response = "MessageList",
    .response_example = shown_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::redrive_messages,
    .id = "redriveMessages",
    .tag = "Messages",
    .request = "Redrive",
    .request_example = R"json({"max_messages": 100, "dry_run": false})json",
    .body_is_optional = true,
    .response = "Redriven",
    .response_example = R"json({"redriven": 12})json",
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::subscribe_webhook,
    .id = "subscribeWebhook",
    .tag = "Pull queues",
    .request = "PushSubscribe",
    .request_example = R"json({"url": "https://example.com/hook",
"concurrency": 4, "timeout": 15})json",
    .response = "PushSubscription",
    .response_example = subscription_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::get_subscription,
    .id = "getSubscription",
    .tag = "Pull queues",
    .response = "PushSubscription",
    .response_example = subscription_example,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::unsubscribe_webhook,
    .id = "unsubscribeWebhook",
    .tag = "Pull queues",
    .status = 204,
    .conflicts = wrong_kind,
  },
  route_doc{
    .what = operation::discover,
    .id = "discover",
    .tag = "Server",
    .response = "Discovery",
    .response_example = R"json({"version": "v1",
"generated_at": "2026-01-01T12:00:00.000Z", "capabilities": []})json",
  },
  route_doc{
    .what = operation::discover_one,
    .id = "discoverOne",
    .tag = "Server",
    .response = "Capability",
    .response_example = capability_example,
  },
};

constexpr bool is_in_order() {
  constexpr auto first = static_cast<std::size_t>(operation::create_pull_queue);
  for (std::size_t i = 0; i < docs.size(); ++i)
    if (static_cast<std::size_t>(docs[i].what) != first + i)
      return false;
  return true;
}

static_assert(is_in_order());

} // namespace

std::span<const route_doc> message_route_docs() {
  return docs;
}

} // namespace tidegate::http
