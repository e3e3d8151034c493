#include "codec_testing.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/cursor.hpp"

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

constexpr wall_time noon{duration{1'767'268'800'123'456}};

const job_id some_job{queue_id{1}, job_seq{2}, 3};

queue_view some_queue() {
  queue_view view;
  view.queue.name = "emails";
  view.queue.settings.webhook_url = "https://a.example/hook";
  view.queue.settings.headers = {{"X-A", "1"}};
  view.queue.secret = "whsec_secret";
  view.queue.created_at = noon;
  view.queue.updated_at = noon;
  return view;
}

job_view some_job_view() {
  job_view view;
  view.record.job.id = some_job;
  view.record.job.payload = payload{"{\"a\": 1E5}"};
  view.record.job.created_at = noon;
  view.queue_name = "emails";
  view.max_attempts = 3;
  view.max_defers = 50;
  return view;
}

} // namespace

TEST_CASE("a queue is shown with its settings, gate and counts") {
  auto shown = json::parse(encode(some_queue()));
  CHECK(shown == json::parse(R"({
    "name": "emails", "webhookUrl": "https://a.example/hook",
    "mode": "standard", "concurrency": 10, "rateLimitMax": null,
    "rateLimitWindow": 1, "maxAttempts": 3, "maxDefers": 50,
    "backoff": {"type": "exponential", "delay": 1, "factor": 2,
                "maxDelay": 3600, "jitter": 0.2},
    "timeout": 15, "lifetime": 86400, "headers": {"X-A": "1"},
    "paused": false,
    "gate": {"state": "open", "releaseAt": null, "since": null, "cause": null,
             "causedByJob": null, "webhookStatusCode": null, "failedProbes": 0,
             "lastProbe": null},
    "blockedBy": [],
    "counts": {"pending": 0, "processing": 0, "awaitingAck": 0, "completed": 0,
               "dead": 0, "scheduled": 0, "held": 0, "inFlight": 0},
    "oldestAgeSeconds": null,
    "createdAt": "2026-01-01T12:00:00.123Z",
    "updatedAt": "2026-01-01T12:00:00.123Z"})"));
}

TEST_CASE("the signing secret is shown only when asked for") {
  CHECK(encode(some_queue()).find("whsec_") == std::string::npos);
  CHECK(encode(queue_list{{some_queue()}, "last"}).find("whsec_")
        == std::string::npos);
  auto shown = json::parse(encode(some_queue(), true));
  CHECK(shown["signingSecret"] == "whsec_secret");
}

TEST_CASE("a held queue shows since when, until when and why") {
  auto view = some_queue();
  auto& gate = view.queue.gate;
  gate.state = gate_state::held;
  gate.since = noon;
  gate.release_at = noon + std::chrono::seconds{2};
  gate.cause = hold_cause::downstream;
  gate.caused_by = some_job;
  gate.http_status = 429;
  gate.failed_probes = 1;
  gate.last = last_probe{some_job, 4, probe_verdict::deferred, noon};
  view.blocked.push_back(
    {gate_kind::hold, noon, gate.release_at, "It said so.", some_job});
  view.oldest_age = std::chrono::milliseconds{1500};
  auto shown = json::parse(encode(view));
  auto job_name = to_string(some_job);
  CHECK(shown["gate"]
        == json({{"state", "held"},
                 {"releaseAt", "2026-01-01T12:00:02.123Z"},
                 {"since", "2026-01-01T12:00:00.123Z"},
                 {"cause", "downstream"},
                 {"causedByJob", job_name},
                 {"webhookStatusCode", 429},
                 {"failedProbes", 1},
                 {"lastProbe",
                  {{"job", job_name},
                   {"delivery", 4},
                   {"verdict", "deferred"},
                   {"at", "2026-01-01T12:00:00.123Z"}}}}));
  CHECK(shown["blockedBy"]
        == json::array({{{"gate", "hold"},
                         {"since", "2026-01-01T12:00:00.123Z"},
                         {"until", "2026-01-01T12:00:02.123Z"},
                         {"reason", "It said so."},
                         {"causedByJob", job_name}}}));
  CHECK(shown["oldestAgeSeconds"] == 1.5);
}

TEST_CASE("what is shown of a backoff can be put again") {
  const std::string fixed = R"({"type":"fixed","delay":30,"jitter":0})";
  const std::string ladder =
    R"({"type":"ladder","steps":[60,0.5],"jitter":0.5})";
  const std::string exponential = R"({"type":"exponential","delay":1,)"
                                  R"("factor":3,"maxDelay":7,"jitter":0})";
  for (const auto& backoff : {fixed, ladder, exponential}) {
    auto patch = std::get<queue_settings_patch>(
      decode_settings_patch("{\"backoff\":" + backoff + "}", {}));
    auto view = some_queue();
    view.queue.settings.backoff = *patch.backoff;
    CHECK(json::parse(encode(view))["backoff"] == json::parse(backoff));
  }
}

TEST_CASE("a list goes on with a cursor while there is more") {
  auto last = json::parse(encode(queue_list{{some_queue()}, ""}));
  CHECK(last["items"].size() == 1);
  CHECK(last["nextCursor"].is_null());
  auto first = json::parse(encode(queue_list{{some_queue()}, "last"}));
  CHECK(read_queue_cursor(first["nextCursor"].get<std::string>()) == "last");
  CHECK(encode(queue_list{}) == R"({"items":[],"nextCursor":null})");
}

TEST_CASE("a publish is answered with id, status and time") {
  publish_result result{some_job, job_status::pending, noon, false, false};
  CHECK(
    encode(result)
    == R"({"id":")" + to_string(some_job)
         + R"(","status":"pending","createdAt":"2026-01-01T12:00:00.123Z"})");
  result.duplicate = true;
  CHECK(json::parse(encode(result))["duplicate"] == true);
  CHECK_FALSE(json::parse(encode(result)).contains("payloadMismatch"));
  result.payload_mismatch = true;
  CHECK(json::parse(encode(result))["payloadMismatch"] == true);
}

TEST_CASE("a new job is shown with its payload as it came") {
  auto text = encode(some_job_view());
  CHECK(text.find("\"payload\":{\"a\": 1E5},") != std::string::npos);
  auto shown = json::parse(text);
  shown.erase("payload");
  auto expected = json::parse(R"({
    "queue": "emails", "status": "pending", "attempts": 0, "maxAttempts": 3,
    "deferCount": 0, "maxDefers": 50, "deliveries": 0, "idempotencyKey": null,
    "scheduledFor": null, "blockedBy": [], "deadReason": null,
    "lastError": null, "history": [], "historyDropped": 0,
    "createdAt": "2026-01-01T12:00:00.123Z", "completedAt": null,
    "deadAt": null})");
  expected["id"] = to_string(some_job);
  CHECK(shown == expected);
}

TEST_CASE("a job that waits shows when it is due") {
  auto view = some_job_view();
  view.record.job.waits_for = wait_kind::backoff;
  view.record.job.due = noon;
  CHECK(json::parse(encode(view))["scheduledFor"]
        == "2026-01-01T12:00:00.123Z");
}

TEST_CASE("a job that has ended shows when and why") {
  auto view = some_job_view();
  view.record.job.status = job_status::completed;
  view.record.job.ended_at = noon;
  auto completed = json::parse(encode(view));
  CHECK(completed["completedAt"] == "2026-01-01T12:00:00.123Z");
  CHECK(completed["deadAt"].is_null());
  view.record.job.status = job_status::dead;
  view.record.job.dead_reason = dead_reason::lifetime_exceeded;
  auto dead = json::parse(encode(view));
  CHECK(dead["deadReason"] == "lifetime_exceeded");
  CHECK(dead["completedAt"].is_null());
  CHECK(dead["deadAt"] == "2026-01-01T12:00:00.123Z");
}

TEST_CASE("the history is shown oldest first, odd bytes and all") {
  auto view = some_job_view();
  history_entry failed;
  failed.attempt = 1;
  failed.delivery = 1;
  failed.status = delivery_status::failed;
  failed.error = "no \xff answer";
  failed.error_code = delivery_errc::timeout;
  failed.took = duration{1'500'250};
  failed.at = noon;
  history_entry deferred;
  deferred.delivery = 2;
  deferred.attempt = 2;
  deferred.status = delivery_status::deferred;
  deferred.http_status = 429;
  deferred.response_excerpt = "slow \"down\"";
  deferred.retry_after = std::chrono::milliseconds{2500};
  deferred.at = noon;
  view.record.history = {failed, deferred};
  view.record.history_dropped = 5;
  auto shown = json::parse(encode(view));
  CHECK(shown["historyDropped"] == 5);
  CHECK(shown["lastError"] == "no \xef\xbf\xbd answer");
  CHECK(shown["history"] == json::parse(R"([
    {"attempt": 1, "delivery": 1, "status": "failed",
     "error": "no � answer", "errorCode": "timeout",
     "webhookStatusCode": null, "durationMs": 1500.25, "responseExcerpt": null,
     "retryAfter": null, "timestamp": "2026-01-01T12:00:00.123Z"},
    {"attempt": 2, "delivery": 2, "status": "deferred", "error": null,
     "errorCode": null, "webhookStatusCode": 429, "durationMs": 0,
     "responseExcerpt": "slow \"down\"", "retryAfter": 2.5,
     "timestamp": "2026-01-01T12:00:00.123Z"}])"));
}
