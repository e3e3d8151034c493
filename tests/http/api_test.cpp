#include "http/api.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/cursor.hpp"

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

const std::string parent =
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const std::string some_key = "sq_live_0123";

constexpr wall_time noon{duration{1'767'268'800'000'000}};

/// One key, of the project acme.
key_ring ring_with(scope_set scopes) {
  api_key_record record;
  record.id = {7};
  record.project = "acme";
  auto digest = digest_of(some_key);
  record.digest.assign(digest.begin(), digest.end());
  record.scopes = scopes.bits();
  key_set keys;
  keys.add(record);
  return key_ring{keys};
}

std::variant<admission, refusal>
let_in(std::string_view method, std::string_view target,
       scope_set scopes = scope_set::all(),
       std::string authorization = "Bearer " + some_key) {
  std::vector<field_view> fields{{"Authorization", authorization},
                                 {"traceparent", parent}};
  return admit({method, target, fields}, ring_with(scopes), {{}, noon});
}

/// Lets a request in and reads it.
std::variant<call, response>
read(std::string_view method, std::string_view target, std::string body = {},
     api_options options = {}, scope_set scopes = scope_set::all()) {
  options.now = [] { return noon; };
  auto verdict = let_in(method, target, scopes);
  if (auto refused = std::get_if<refusal>(&verdict))
    return std::move(refused->answer);
  auto& in = std::get<admission>(verdict);
  request what{std::move(in.route),
               std::move(in.who),
               std::move(in.trace),
               std::move(body),
               "id",
               std::make_shared<const std::string>("::1")};
  return read_call(what, options);
}

template <class T>
T called(std::variant<call, response> what) {
  return std::get<T>(std::move(std::get<call>(what)));
}

template <class T>
T asked_of(std::variant<call, response> what, std::string_view queue) {
  auto made = called<queue_call>(std::move(what));
  CHECK(made.project == "acme");
  CHECK(made.queue == queue);
  return std::get<T>(std::move(made.what));
}

const job_id some_job{queue_id{1}, job_seq{2}, 3};

template <class T>
T asked_of_job(std::variant<call, response> what) {
  auto made = called<job_call>(std::move(what));
  CHECK(made.project == "acme");
  CHECK(made.id == some_job);
  auto message = std::get<T>(std::move(made.what));
  CHECK(message.id == some_job);
  return message;
}

std::string job_path(const std::string& rest = {}) {
  return "/v1/jobs/" + to_string(some_job) + rest;
}

unsigned status_of(const std::variant<call, response>& what) {
  auto refusal = std::get_if<response>(&what);
  return refusal ? refusal->status : 0;
}

std::string code_in(const std::variant<call, response>& what) {
  return json::parse(std::get<response>(what).body)["code"];
}

const std::string settings = R"({"webhookUrl":"https://a.example/"})";

} // namespace

TEST_CASE("each request becomes its call") {
  auto created = called<create_queue>(read(
    "POST", "/v1/queues", R"({"name":"q","webhookUrl":"https://a.example/"})"));
  CHECK(created.name == "q");
  CHECK(created.project == "acme");
  CHECK(called<put_queue>(read("PUT", "/v1/queues/q", settings)).name == "q");
  CHECK(called<list_queues>(read("GET", "/v1/queues")).limit == 100);
  asked_of<get_queue>(read("GET", "/v1/queues/q"), "q");
  asked_of<pause_queue>(read("POST", "/v1/queues/q/pause", "{}"), "q");
  asked_of<resume_queue>(read("POST", "/v1/queues/q/resume"), "q");
  auto patched = asked_of<patch_queue>(
    read("PATCH", "/v1/queues/q", R"({"concurrency":2})"), "q");
  CHECK(patched.patch.concurrency == 2);
  auto published = asked_of<publish>(
    read("POST", "/v1/queues/q/jobs", R"({"payload":[1]})"), "q");
  CHECK(published.payload.bytes() == "[1]");
  asked_of_job<get_job>(read("GET", job_path()));
  called<health_check>(read("GET", "/healthz"));
  called<ready_check>(read("HEAD", "/readyz?probe=7"));
}

TEST_CASE("each request to a queue becomes its call") {
  auto hold = asked_of<hold_queue>(
    read("POST", "/v1/queues/q/hold", R"({"retryAfter":5})"), "q");
  CHECK(hold.wait == std::chrono::seconds{5});
  asked_of<release_queue>(read("POST", "/v1/queues/q/release"), "q");
  asked_of<purge_queue>(read("POST", "/v1/queues/q/purge"), "q");
  asked_of<rotate_secret>(read("POST", "/v1/queues/q/signing-secret/rotate"),
                          "q");
  asked_of<get_queue>(read("GET", "/v1/queues/q/signing-secret"), "q");
  asked_of<list_limit_keys>(read("GET", "/v1/queues/q/keys"), "q");
  auto release = asked_of<release_limit_key>(
    read("POST", "/v1/queues/q/keys/a%2Fb/release"), "q");
  CHECK(release.key == "a/b");
  CHECK_FALSE(
    asked_of<list_jobs>(read("GET", "/v1/queues/q/jobs"), "q").dead_letters);
  CHECK(asked_of<list_jobs>(read("GET", "/v1/queues/q/dlq"), "q").dead_letters);
  asked_of<replay_dead_letters>(read("POST", "/v1/queues/q/dlq/replay"), "q");
  auto removal = asked_of<delete_dead_letters>(
    read("DELETE", "/v1/queues/q/dlq?reason=ack_timeout"), "q");
  CHECK(removal.filter.reason == dead_reason::ack_timeout);
}

TEST_CASE("each request to a job becomes its call") {
  asked_of_job<cancel_job>(read("DELETE", job_path()));
  asked_of_job<run_job_now>(read("POST", job_path("/run-now")));
  auto replay = asked_of_job<replay_job>(
    read("POST", job_path("/replay"), R"({"payload":7})"));
  CHECK(replay.payload->bytes() == "7");
  CHECK(
    asked_of_job<ack_job>(read("POST", job_path("/ack"), R"({"delivery":3})"))
      .delivery
    == 3);
  asked_of_job<nack_job>(read("POST", job_path("/nack")));
  asked_of_job<defer_job>(
    read("POST", job_path("/defer"), R"({"retryAfter":1})"));
  asked_of_job<touch_job>(read("POST", job_path("/touch"), R"({"extend":1})"));
}

TEST_CASE("operations, keys and usage are asked for within a project") {
  auto list = called<operations_page>(read("GET", "/v1/operations?limit=5"));
  CHECK(list.what.project == "acme");
  CHECK(list.limit == 5);
  auto one = called<get_operation>(read("GET", "/v1/operations/op_7"));
  CHECK(one.project == "acme");
  CHECK(one.id == operation_id{7});
  CHECK(called<cancel_operation>(read("DELETE", "/v1/operations/op_7")).id
        == operation_id{7});
  called<api_keys_page>(read("GET", "/v1/keys"));
  CHECK(called<revoke_api_key>(read("DELETE", "/v1/keys/key_9")).id
        == api_key_id{9});
  for (auto path : {"/v1/operations/7", "/v1/operations/op_x"})
    CHECK(code_in(read("GET", path)) == "not_found");
  CHECK(code_in(read("DELETE", "/v1/keys/9")) == "not_found");
}

TEST_CASE("a new key is made here and only its digest goes on") {
  auto made = called<new_api_key>(
    read("POST", "/v1/keys", R"({"project":"other","scopes":["read"]})"));
  CHECK(made.key.starts_with("sq_live_"));
  auto digest = digest_of(made.key);
  CHECK(made.what.key.digest == std::string(digest.begin(), digest.end()));
  CHECK(made.what.key.project == "other");
  CHECK(made.what.key.created_at == noon);
}

TEST_CASE("usage is of the last 30 days unless it says otherwise") {
  auto usage = [](const std::string& query) {
    return called<usage_call>(read("GET", "/v1/usage" + query));
  };
  // The first of January 2026.
  constexpr auto today = 20'454;
  auto plain = usage("");
  CHECK(plain.what.project == "acme");
  CHECK(plain.what.to_day == today);
  CHECK(plain.what.from_day == today - 29);
  CHECK(plain.by == usage_by::queue);
  auto some = usage("?from=2025-12-01&to=2025-12-31&by=day");
  CHECK(some.what.from_day == today - 31);
  CHECK(some.what.to_day == today - 1);
  CHECK(some.by == usage_by::day);
  CHECK(usage("?to=2025-12-31").what.from_day == today - 30);
  CHECK(usage("?from=2027-01-01").what.to_day == today + 365);
  for (auto query : {"?from=2025-12-31&to=2025-12-30", "?from=x", "?by=hour",
                     "?to=2025-02-30", "?limit=1"})
    CHECK(status_of(read("GET", std::string{"/v1/usage"} + query)) == 400);
}

TEST_CASE("who publishes, and in which trace, goes along with a job") {
  auto job = asked_of<publish>(read("POST", "/v1/queues/q/jobs",
                                    R"({"payload":1,"headers":{"a":"b"}})"),
                               "q");
  CHECK(job.by == api_key_id{7});
  CHECK(job.context->traceparent == parent);
  CHECK(job.context->headers.size() == 1);
  auto batch = asked_of<publish_batch>(read("POST", "/v1/queues/q/jobs/batch",
                                            R"({"jobs":[{"payload":1}]})"),
                                       "q");
  CHECK(batch.jobs.at(0).by == api_key_id{7});
  CHECK(batch.jobs.at(0).context->traceparent == parent);
}

TEST_CASE("a batch without a valid job only asks for the queue") {
  auto made = called<queue_call>(
    read("POST", "/v1/queues/q/jobs/batch", R"({"jobs":[1]})"));
  CHECK(std::holds_alternative<get_queue>(made.what));
  CHECK(made.refusals.size() == 1);
  auto shown = answer(call{made}, queue_view{});
  CHECK(shown.status == 200);
  CHECK(json::parse(shown.body)["results"].size() == 1);
}

TEST_CASE("the filters of a list arrive where they belong") {
  auto list = asked_of<list_jobs>(
    read("GET",
         "/v1/queues/q/jobs?status=awaiting_ack&limitKey=a%20b"
         "&idempotencyKey=i&reason=ack_timeout"
         "&since=2026-01-01T12:00:00Z&until=2026-01-01T13:00:00%2B01:00"
         "&limit=7&include=payload&cursor="
           + make_cursor({list_kind::jobs, "acme", "q"}, 42)),
    "q");
  CHECK(list.filter.status == job_status::awaiting_ack);
  CHECK(list.filter.limit_key == "a b");
  CHECK(list.idempotency_key == "i");
  CHECK(list.filter.reason == dead_reason::ack_timeout);
  CHECK(list.filter.since == noon);
  CHECK(list.filter.until == noon);
  CHECK(list.limit == 7);
  CHECK(list.before == job_seq{42});
  CHECK(list.payloads);
  auto plain = asked_of<list_jobs>(read("GET", "/v1/queues/q/dlq"), "q");
  CHECK(plain.filter == job_filter{});
  CHECK(plain.limit == 100);
  CHECK_FALSE(plain.payloads);
}

TEST_CASE("filters that are wrong are refused and named") {
  for (std::string query :
       {"status=Dead", "limitKey=", "limitKey=%FF", "idempotencyKey=",
        "reason=none", "since=now", "until=2026-01-01", "include=history",
        "limit=0", "cursor=x", "stauts=dead", "status=dead&status=dead"}) {
    CAPTURE(query);
    for (auto path : {"/v1/queues/q/jobs?", "/v1/queues/q/dlq?"}) {
      auto wrong = read("GET", path + query);
      REQUIRE(status_of(wrong) == 400);
      CHECK(json::parse(std::get<response>(wrong).body)["error"]["fieldErrors"]
              .contains(query.substr(0, query.find('='))));
    }
  }
  for (auto query : {"limit=1", "cursor=x", "include=payload"})
    CHECK(status_of(read("DELETE", std::string{"/v1/queues/q/dlq?"} + query))
          == 400);
}

TEST_CASE("a cursor of another queue, project or list is 400") {
  for (auto list : {list_name{list_kind::jobs, "acme", "r"},
                    list_name{list_kind::jobs, "other", "q"},
                    list_name{list_kind::dead_letters, "acme", "q"}})
    CHECK(status_of(
            read("GET", "/v1/queues/q/jobs?cursor=" + make_cursor(list, 42)))
          == 400);
}

TEST_CASE("a limit key that cannot be is not found") {
  for (auto key : {std::string{"%FF"}, std::string(129, 'k')})
    CHECK(code_in(read("POST", "/v1/queues/q/keys/" + key + "/release"))
          == "not_found");
}

TEST_CASE("a queue is deleted by force only when it says so") {
  auto force_of = [](const std::string& query) {
    return called<delete_queue>(read("DELETE", "/v1/queues/q" + query)).force;
  };
  CHECK_FALSE(force_of(""));
  CHECK_FALSE(force_of("?force=false"));
  CHECK(force_of("?force=true"));
  for (auto query : {"?force", "?force=1", "?force=TRUE", "?froce=true",
                     "?force=true&force=true"})
    CHECK(status_of(read("DELETE", std::string{"/v1/queues/q"} + query))
          == 400);
}

TEST_CASE("a list has a limit from 1 to 1000 and a cursor of ours") {
  auto list = [](const std::string& query) {
    return read("GET", "/v1/queues?" + query);
  };
  CHECK(called<list_queues>(list("limit=1")).limit == 1);
  CHECK(called<list_queues>(list("limit=1000")).limit == 1000);
  for (auto limit : {"0", "1001", "-1", "", "1.5", "5x", "+5", "%205",
                     "99999999999999999999"})
    CHECK(status_of(list("limit=" + std::string{limit})) == 400);
  CHECK(called<list_queues>(
          list("cursor=" + make_cursor({list_kind::queues, "acme"}, "q")))
          .after
        == "q");
  CHECK(status_of(list("cursor=q")) == 400);
  auto wrong = std::get<response>(list("limit=0&cursor=q&x=1"));
  CHECK(json::parse(wrong.body)["error"]["fieldErrors"]
        == json::parse(R"({"limit": ["must be 1 to 1000, got '0'"],
             "cursor": ["must be the nextCursor of an earlier page, got 'q'"],
             "x": ["is not a known parameter"]})"));
}

TEST_CASE("a name that no queue can have is not found, and cannot be put") {
  for (auto path : {"/v1/queues/.a", "/v1/queues/a%2Fb", "/v1/queues/%FF"}) {
    CHECK(code_in(read("GET", path)) == "queue_not_found");
    CHECK(code_in(read("DELETE", path)) == "queue_not_found");
    CHECK(code_in(read("PUT", path, settings)) == "validation_failed");
  }
  auto miss = std::get<response>(read("GET", "/v1/queues/a%20b"));
  CHECK(miss.status == 404);
  CHECK(json::parse(miss.body)["error"] == "Queue 'a b' not found");
}

TEST_CASE("an id that no job can have is not found") {
  for (auto id : {"x", "job_", "job_00000000000000000000000000x", "%00"}) {
    auto miss = read("GET", std::string{"/v1/jobs/"} + id);
    CHECK(status_of(miss) == 404);
    CHECK(code_in(miss) == "job_not_found");
  }
}

TEST_CASE("a body where none belongs is refused") {
  for (auto [method, path] : {std::pair{"GET", "/v1/queues/q"},
                              {"POST", "/v1/queues/q/pause"},
                              {"DELETE", "/v1/queues/q"}}) {
    CHECK(code_in(read(method, path, R"({"a":1})")) == "validation_failed");
    CHECK(code_in(read(method, path, "{")) == "malformed_json");
  }
}

TEST_CASE("what is wrong with a body is said in the shape of its kind") {
  auto wrong = read("POST", "/v1/queues/q/jobs", R"({"delay":90000000})");
  CHECK(status_of(wrong) == 400);
  CHECK(json::parse(std::get<response>(wrong).body)
        == json::parse(R"({"error": {"formErrors": [], "fieldErrors": {
             "payload": ["is required"],
             "delay": ["must be 0 to 2592000, got 90000000"]}},
             "code": "validation_failed"})"));
  CHECK(code_in(read("POST", "/v1/queues/q/jobs", "")) == "malformed_json");
  CHECK(code_in(read("PUT", "/v1/queues/q", "nope")) == "malformed_json");
}

TEST_CASE("a webhook URL that may not be called is 400") {
  api_options options;
  options.complaint_about_target = [](const std::string&) {
    return std::optional<std::string>{"is blocked"};
  };
  for (auto [method, path] :
       {std::pair{"PUT", "/v1/queues/q"}, {"PATCH", "/v1/queues/q"}}) {
    auto wrong = read(method, path, settings, options);
    CHECK(json::parse(std::get<response>(wrong).body)["error"]["fieldErrors"]
          == json::parse(R"({"webhookUrl": ["is blocked"]})"));
  }
}

TEST_CASE("without a valid key nothing but the checks is let in") {
  for (const auto& entry : routes()) {
    auto verdict = let_in(entry.method, entry.path, scope_set::all(),
                          "Bearer nope");
    auto refused = std::get_if<refusal>(&verdict);
    CHECK((refused == nullptr) == entry.open);
    if (refused)
      CHECK(refused->answer.status == 401);
  }
  CHECK(std::get<refusal>(let_in("GET", "/nowhere", {}, "")).answer.status
        == 401);
}

TEST_CASE("each route needs its own scope and no other") {
  for (const auto& entry : routes()) {
    if (entry.open)
      continue;
    for (auto x : {scope::publish, scope::work, scope::read, scope::manage,
                   scope::admin}) {
      auto verdict = let_in(entry.method, entry.path, {x});
      auto refused = std::get_if<refusal>(&verdict);
      CHECK((refused == nullptr) == (x == entry.required));
      if (refused) {
        CHECK(refused->answer.status == 403);
        CHECK(refused->asked.value().route.route->path == entry.path);
        CHECK(refused->asked->who.scopes == scope_set{x});
        auto messages = family_of(entry.path) == api_family::messages;
        CHECK(json::parse(refused->answer.body)["code"]
              == (messages ? "PERMISSION_DENIED" : "forbidden"));
      }
    }
  }
}

TEST_CASE("with a key, wrong paths and methods are told from one another") {
  CHECK(std::get<refusal>(let_in("GET", "/nowhere")).answer.status == 404);
  CHECK(std::get<refusal>(let_in("PUT", "/v1/queues")).answer.status == 405);
  CHECK(std::get<refusal>(let_in("GET", "*")).answer.status == 400);
}

TEST_CASE("a key that has expired is no key") {
  auto keys = ring_with(scope_set::all());
  api_key_record record;
  auto digest = digest_of("old");
  record.digest.assign(digest.begin(), digest.end());
  record.expires_at = noon;
  keys.replace({record});
  field_view field{"authorization", "Bearer old"};
  auto verdict = admit({"GET", "/v1/queues", {&field, 1}}, keys, {{}, noon});
  CHECK(std::get<refusal>(verdict).answer.status == 401);
}

TEST_CASE("a key that makes too many requests is told when to come again") {
  key_set own;
  own.add(digest_of(some_key), scope_set::all());
  key_ring keys{own, 2};
  auto bearer = "Bearer " + some_key;
  field_view field{"authorization", bearer};
  auto ask = [&](std::string_view target) {
    return admit({"GET", target, {&field, 1}}, keys, {{}, noon});
  };
  CHECK(std::holds_alternative<admission>(ask("/v1/queues")));
  CHECK(std::get<refusal>(ask("/nowhere")).answer.status == 404);
  auto refused = std::get<refusal>(ask("/v1/queues")).answer;
  CHECK(refused.status == 429);
  CHECK(std::pair<std::string, std::string>{"retry-after", "1"}
        == refused.headers.at(0));
  CHECK(refused.body
        == R"({"error":"The API key makes more requests a second than it may",)"
           R"("code":"rate_limited"})");
  CHECK(
    std::get<refusal>(ask("/v1/queue/list")).answer.body.find("RATE_LIMITED")
    != std::string::npos);
  // What needs no key is not counted.
  CHECK(std::holds_alternative<admission>(ask("/healthz")));
}

TEST_CASE("replies have the status of what happened") {
  const call any;
  put_queue_result put;
  put.view.queue.secret = "whsec_x";
  CHECK(answer(any, put).status == 200);
  CHECK(answer(any, put).body.find("whsec_x") == std::string::npos);
  put.created = true;
  CHECK(answer(any, put).status == 201);
  CHECK(answer(any, put).body.find("whsec_x") != std::string::npos);
  publish_result published;
  CHECK(answer(any, published).status == 201);
  published.duplicate = true;
  CHECK(answer(any, published).status == 200);
  CHECK(answer(any, queue_view{}).status == 200);
  CHECK(answer(any, job_view{}).status == 200);
  CHECK(answer(any, jobs_removed{3}).body == R"({"count":3})");
  CHECK(answer(any, report_taken{}).status == 200);
  CHECK(answer(any, replay_plan{}).status == 200);
  CHECK(answer(any, operation_record{}).status == 200);
  CHECK(answer(any, error{errc::draining, ""}).status == 503);
  CHECK(answer(any, queue_deleted{}).status == 204);
  CHECK(answer(any, queue_deleted{}).body.empty());
  CHECK(answer(any, api_key_revoked{}).status == 204);
  CHECK(alive().status == 200);
  CHECK(answer(any, ready_for_work{}).status == 200);
  auto made = answer(call{new_api_key{{}, "sq_live_x"}}, api_key_record{});
  CHECK(made.status == 201);
  CHECK(json::parse(made.body)["key"] == "sq_live_x");
}

TEST_CASE("the signing secret is shown where it was asked for") {
  queue_view view;
  view.queue.secret = "whsec_x";
  for (auto [method, path] : {std::pair{"GET", "/v1/queues/q/signing-secret"},
                              {"POST", "/v1/queues/q/signing-secret/rotate"}})
    CHECK(
      json::parse(
        answer(std::get<call>(read(method, path)), view).body)["signingSecret"]
      == "whsec_x");
  auto shown = answer(std::get<call>(read("GET", "/v1/queues/q")), view);
  CHECK(shown.body.find("whsec_x") == std::string::npos);
}

TEST_CASE("each list goes on where its cursor says") {
  auto next = [](const response& page) {
    return json::parse(page.body)["nextCursor"].get<std::string>();
  };
  auto queues = std::get<call>(read("GET", "/v1/queues"));
  auto cursor = next(answer(queues, queue_list{{}, "q"}));
  CHECK(called<list_queues>(read("GET", "/v1/queues?cursor=" + cursor)).after
        == "q");
  for (auto path : {"/v1/queues/q/jobs", "/v1/queues/q/dlq"}) {
    auto jobs = std::get<call>(read("GET", path));
    cursor = next(answer(jobs, job_list{{}, job_seq{9}}));
    CHECK(
      asked_of<list_jobs>(read("GET", path + ("?cursor=" + cursor)), "q").before
      == job_seq{9});
  }
  auto keys = std::get<call>(read("GET", "/v1/queues/q/keys"));
  cursor = next(answer(keys, limit_key_list{{}, "k"}));
  CHECK(asked_of<list_limit_keys>(
          read("GET", "/v1/queues/q/keys?cursor=" + cursor), "q")
          .after
        == "k");
}

TEST_CASE("operations and keys are cut into pages") {
  operation_list operations;
  for (std::uint64_t i = 5; i > 0; --i)
    operations.items.emplace_back().id = {i};
  auto page = [&](const std::string& query) {
    auto asked = std::get<call>(read("GET", "/v1/operations?limit=2" + query));
    return json::parse(answer(asked, operations).body);
  };
  auto first = page("");
  CHECK(first["items"][1]["id"] == "op_4");
  auto second = page("&cursor=" + first["nextCursor"].get<std::string>());
  CHECK(second["items"][0]["id"] == "op_3");
  auto third = page("&cursor=" + second["nextCursor"].get<std::string>());
  CHECK(third["items"].size() == 1);
  CHECK(third["nextCursor"].is_null());
  api_key_list keys;
  for (std::uint32_t i = 1; i <= 3; ++i)
    keys.items.emplace_back().id = {i};
  auto asked = std::get<call>(read("GET", "/v1/keys?limit=2"));
  auto shown = json::parse(answer(asked, keys).body);
  CHECK(shown["items"].size() == 2);
  asked = std::get<call>(
    read("GET", "/v1/keys?cursor=" + shown["nextCursor"].get<std::string>()));
  shown = json::parse(answer(asked, keys).body);
  CHECK(shown["items"][0]["id"] == "key_3");
}

TEST_CASE("only an admin may give up on certificates") {
  const std::string asked = R"({"name":"q","webhookUrl":"https://a.example/",)"
                            R"("tlsInsecure":true})";
  const std::string put = R"({"webhookUrl":"https://a.example/",)"
                          R"("tlsInsecure":true})";
  const std::string patch = R"({"tlsInsecure":true})";
  const std::string push = R"({"url":"https://a.example/",)"
                           R"("tls_insecure":true})";
  scope_set manager;
  manager.add(scope::manage);
  using row = std::array<std::string, 3>;
  for (const auto& [method, path, body] :
       {row{"POST", "/v1/queues", asked}, row{"PUT", "/v1/queues/q", put},
        row{"PATCH", "/v1/queues/q", patch},
        row{"POST", "/v1/queue/push_subscribe/q", push}}) {
    CAPTURE(method, path);
    auto refused = read(method, path, body, {}, manager);
    CHECK(status_of(refused) == 403);
    CHECK(std::get<response>(refused).body.find("the scope admin")
          != std::string::npos);
    auto taken = read(method, path, body);
    REQUIRE(std::holds_alternative<call>(taken));
    CHECK(warning_about(std::get<call>(taken)));
  }
  CHECK(status_of(read("PATCH", "/v1/queues/q", R"({"tlsInsecure":false})", {},
                       manager))
        == 0);
  CHECK_FALSE(warning_about(
    std::get<call>(read("PATCH", "/v1/queues/q", R"({"tlsInsecure":false})"))));
  // What an admin allowed is not for another URL that somebody else sets.
  const std::string elsewhere = R"({"webhookUrl":"https://b.example/"})";
  CHECK(asked_of<patch_queue>(
          read("PATCH", "/v1/queues/q", elsewhere, {}, manager), "q")
          .patch.tls_insecure
        == false);
  CHECK(asked_of<patch_queue>(read("PATCH", "/v1/queues/q", elsewhere), "q")
          .patch.tls_insecure
        == std::nullopt);
}
