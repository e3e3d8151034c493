#include "codec_testing.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/routes.hpp"

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
  view.record.job.expires_at = noon;
  view.queue_name = "emails";
  view.max_attempts = 3;
  view.max_defers = 50;
  return view;
}

operation_record some_operation() {
  operation_record result;
  result.id = {4};
  result.queue_name = "emails";
  result.total = 9;
  result.done = 3;
  result.started_at = noon;
  return result;
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
    "timeout": 15, "ackTimeout": 300, "ackTimeoutAction": "retry",
    "lifetime": 86400, "retention": 259200, "deadLetter": true,
    "headers": {"X-A": "1"}, "permanentFailureStatuses": [],
    "keyConcurrency": null, "keyRateLimitMax": null,
    "backpressureScope": "queue", "recovery": {"mode": "full"},
    "minHold": null, "maxHold": null, "maxDepth": null,
    "tlsCa": null, "tlsInsecure": false,
    "paused": false,
    "gate": {"state": "open", "releaseAt": null, "since": null, "cause": null,
             "reason": null, "causedByJob": null, "webhookStatusCode": null,
             "failedProbes": 0, "ramp": null, "lastProbe": null},
    "blockedBy": [],
    "counts": {"pending": 0, "processing": 0, "awaitingAck": 0, "completed": 0,
               "dead": 0, "scheduled": 0, "held": 0, "inFlight": 0},
    "oldestAgeSeconds": null,
    "createdAt": "2026-01-01T12:00:00.123Z",
    "updatedAt": "2026-01-01T12:00:00.123Z"})"));
}

TEST_CASE("the signing secret is shown only when asked for") {
  CHECK(encode(some_queue()).find("whsec_") == std::string::npos);
  CHECK(encode(queue_list{{some_queue()}, ""}, "").find("whsec_")
        == std::string::npos);
  auto view = some_queue();
  auto shown = json::parse(encode(view, true));
  CHECK(shown["signingSecret"] == "whsec_secret");
  CHECK(shown["previousSecretUntil"].is_null());
  view.queue.previous_secret = "whsec_before";
  view.queue.previous_secret_until = noon;
  auto rotated = encode(view, true);
  CHECK(rotated.find("whsec_before") == std::string::npos);
  CHECK(json::parse(rotated)["previousSecretUntil"]
        == "2026-01-01T12:00:00.123Z");
}

TEST_CASE("a held queue shows since when, until when and why") {
  auto view = some_queue();
  auto& gate = view.queue.gate;
  gate.state = gate_state::held;
  gate.since = noon;
  gate.release_at = noon + std::chrono::seconds{2};
  gate.cause = hold_cause::downstream;
  gate.reason = "too busy";
  gate.ramp = 2;
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
                 {"reason", "too busy"},
                 {"ramp", 2},
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

TEST_CASE("what is shown of all settings can be put again") {
  const std::string all = R"({"webhookUrl":"https://a.example/",
    "mode":"ack","concurrency":7,"rateLimitMax":8,"rateLimitWindow":1.5,
    "maxAttempts":9,"maxDefers":11,"timeout":0.25,"lifetime":12,
    "backoff":{"type":"fixed","delay":2,"jitter":0},
    "headers":{"X-B":"1","X-A":"2"},"ackTimeout":13.5,
    "ackTimeoutAction":"dead","retention":0,"deadLetter":false,
    "permanentFailureStatuses":[404,410],"keyConcurrency":2,
    "keyRateLimitMax":3,"backpressureScope":"key",
    "recovery":{"mode":"ramp","start":4,"factor":1.5},"minHold":0.5,
    "maxHold":60,"maxDepth":5,"tlsInsecure":true})";
  auto view = some_queue();
  view.queue.settings = std::get<queue_settings>(decode_settings(all, {}));
  auto shown = json::parse(encode(view));
  auto expected = json::parse(all);
  for (const auto& [name, value] : expected.items()) {
    CAPTURE(name);
    CHECK(shown[name] == value);
  }
}

TEST_CASE("jobs that await their ack are counted") {
  auto view = some_queue();
  view.counts.awaiting_ack = 4;
  CHECK(json::parse(encode(view))["counts"]["awaitingAck"] == 4);
}

TEST_CASE("a list goes on with a cursor while there is more") {
  auto last = json::parse(encode(queue_list{{some_queue()}, ""}, ""));
  CHECK(last["items"].size() == 1);
  CHECK(last["nextCursor"].is_null());
  auto first = json::parse(encode(queue_list{{some_queue()}, "q"}, "abc"));
  CHECK(first["nextCursor"] == "abc");
  CHECK(encode(queue_list{}, "") == R"({"items":[],"nextCursor":null})");
}

TEST_CASE("a limit key is shown with its gate") {
  limit_key_view view;
  view.key = "tenant/7";
  view.gate.state = gate_state::probing;
  view.ready = 3;
  view.in_flight = 1;
  auto shown = json::parse(encode(view));
  CHECK(shown["key"] == "tenant/7");
  CHECK(shown["gate"]["state"] == "probing");
  CHECK(shown["ready"] == 3);
  CHECK(shown["inFlight"] == 1);
  CHECK(shown["blockedBy"].empty());
  auto page = json::parse(encode(limit_key_list{{view}, ""}, "c"));
  CHECK(page["items"][0] == shown);
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
    "limitKey": null, "priority": 0, "headers": {}, "replayCount": 0,
    "scheduledFor": null, "ackDeadline": null, "blockedBy": [],
    "expiresAt": "2026-01-01T12:00:00.123Z", "deadReason": null,
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

TEST_CASE("a job that waits for no time of its own shows none") {
  auto view = some_job_view();
  view.record.job.due = noon;
  for (auto status : {job_status::awaiting_ack, job_status::completed,
                      job_status::dead, job_status::pending}) {
    view.record.job.status = status;
    view.record.job.waits_for =
      status == job_status::pending ? wait_kind::none : wait_kind::defer;
    CHECK(json::parse(encode(view))["scheduledFor"].is_null());
  }
}

TEST_CASE("a job whose ack is awaited shows until when") {
  auto view = some_job_view();
  view.record.job.due = noon;
  view.record.job.status = job_status::awaiting_ack;
  CHECK(json::parse(encode(view))["ackDeadline"] == "2026-01-01T12:00:00.123Z");
}

TEST_CASE("a job is shown with all that was published") {
  auto view = some_job_view();
  view.record.job.limit_key = "tenant";
  view.record.job.priority = 9;
  view.record.job.replays = 2;
  view.record.job.context = job_context{{{{"X-A", "1"}}, "", ""}};
  auto shown = json::parse(encode(view));
  CHECK(shown["limitKey"] == "tenant");
  CHECK(shown["priority"] == 9);
  CHECK(shown["replayCount"] == 2);
  CHECK(shown["headers"] == json{{"X-A", "1"}});
}

TEST_CASE("jobs in a list leave out history, and payload unless asked for") {
  job_list list{{some_job_view()}, job_seq{2}};
  auto bare = json::parse(encode(list, false, "c"));
  CHECK(bare["nextCursor"] == "c");
  for (auto name : {"payload", "history", "historyDropped", "lastError"})
    CHECK_FALSE(bare["items"][0].contains(name));
  CHECK(bare["items"][0]["id"] == to_string(some_job));
  auto with = encode(list, true, "");
  CHECK(with.find("\"payload\":{\"a\": 1E5},") != std::string::npos);
  CHECK_FALSE(json::parse(with)["items"][0].contains("history"));
}

TEST_CASE("a replay in the history shows what payload it replaced") {
  auto view = some_job_view();
  history_entry entry;
  entry.status = delivery_status::replayed;
  view.record.history.push_back(entry);
  entry.replaced = payload{"{\"b\": 2E5}"};
  view.record.history.push_back(entry);
  entry.status = delivery_status::nacked;
  entry.error = "no";
  view.record.history.push_back(entry);
  auto text = encode(view);
  CHECK(text.find("\"payload\":{\"b\": 2E5}") != std::string::npos);
  auto history = json::parse(text)["history"];
  CHECK(history[0]["status"] == "replayed");
  CHECK(history[0]["payload"].is_null());
  CHECK(history[2]["status"] == "nacked");
  CHECK_FALSE(history[2].contains("payload"));
}

TEST_CASE("results of a batch stand in the order of its jobs") {
  publish_result good{some_job, job_status::pending, noon, true, true};
  publish_batch_result results{{good, error{errc::queue_full, "Full."}}};
  auto shown = json::parse(
    encode(results, {"", R"({"ok":false,"code":"x"})", ""}))["results"];
  REQUIRE(shown.size() == 3);
  CHECK(shown[0]
        == json({{"ok", true},
                 {"id", to_string(some_job)},
                 {"status", "pending"},
                 {"createdAt", "2026-01-01T12:00:00.123Z"},
                 {"duplicate", true},
                 {"payloadMismatch", true}}));
  CHECK(shown[1]["code"] == "x");
  CHECK(shown[2]
        == json({{"ok", false}, {"error", "Full."}, {"code", "queue_full"}}));
}

TEST_CASE("reports and removals are answered with what was done") {
  CHECK(encode(report_taken{some_job})
        == R"({"id":")" + to_string(some_job) + R"(","accepted":true})");
  CHECK(encode(jobs_removed{7}) == R"({"count":7})");
}

TEST_CASE("a replay of dead letters shows its plan or its operation") {
  replay_plan plan;
  plan.count = 2;
  plan.sample = {some_job_view()};
  auto dry = json::parse(encode(plan));
  CHECK(dry["count"] == 2);
  CHECK(dry["sample"][0]["id"] == to_string(some_job));
  CHECK_FALSE(dry["sample"][0].contains("payload"));
  plan.operation = some_operation();
  CHECK(json::parse(encode(plan)) == json::parse(R"({"id": "op_4",
    "kind": "dlq_replay", "queue": "emails", "state": "running", "total": 9,
    "done": 3, "error": null, "startedAt": "2026-01-01T12:00:00.123Z",
    "finishedAt": null})"));
}

TEST_CASE("a key is shown with its text only where it was made") {
  api_key_record record;
  record.id = {7};
  record.project = "acme";
  record.scopes = scope_set{scope::read, scope::publish}.bits();
  record.created_at = noon;
  record.digest = "secret";
  CHECK(encode(record, "sq_live_x")
        == R"({"id":"key_7","key":"sq_live_x","project":"acme",)"
           R"("scopes":["publish","read"],"name":null,)"
           R"("createdAt":"2026-01-01T12:00:00.123Z","expiresAt":null})");
  record.name = "CI";
  record.expires_at = noon;
  auto page = encode(std::span<const api_key_record>{&record, 1}, "c");
  CHECK(page
        == R"({"items":[{"id":"key_7","project":"acme",)"
           R"("scopes":["publish","read"],"name":"CI",)"
           R"("createdAt":"2026-01-01T12:00:00.123Z",)"
           R"("expiresAt":"2026-01-01T12:00:00.123Z"}],"nextCursor":"c"})");
}

TEST_CASE("usage is summed up by queue, key or day") {
  auto row = [](std::string queue, std::uint32_t key, std::int64_t day,
                std::uint64_t publishes) {
    usage_record result;
    result.queue_name = std::move(queue);
    result.key = {key};
    result.day = day;
    result.publishes = publishes;
    result.deliveries = 1;
    result.bytes = 10;
    return result;
  };
  usage_list usage{{row("a", 1, 0, 1), row("a", 0, 1, 2), row("", 1, 1, 4)}};
  auto sums = [&](usage_by by) {
    return json::parse(encode(usage, by, 0, 1))["items"];
  };
  CHECK(sums(usage_by::queue) == json::parse(R"([
    {"queue": null, "publishes": 4, "deliveries": 1, "receives": 0,
     "bytes": 10},
    {"queue": "a", "publishes": 3, "deliveries": 2, "receives": 0,
     "bytes": 20}])"));
  CHECK(sums(usage_by::key)[0]["key"].is_null());
  CHECK(sums(usage_by::key)[1]["key"] == "key_1");
  CHECK(sums(usage_by::key)[1]["publishes"] == 5);
  CHECK(sums(usage_by::day)[1]["day"] == "1970-01-02");
  CHECK(sums(usage_by::day)[1]["publishes"] == 6);
  CHECK(encode(usage_list{}, usage_by::day, 0, 1)
        == R"({"from":"1970-01-01","to":"1970-01-02","by":"day","items":[],)"
           R"("nextCursor":null})");
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
