#include "http/api.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/cursor.hpp"

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

const std::string some_key = "sq_live_0123";

key_ring ring_with(scope_set scopes) {
  key_ring keys;
  keys.add(digest_of(some_key), scopes);
  return keys;
}

std::variant<route_match, response>
let_in(std::string_view method, std::string_view target,
       const key_ring& keys = ring_with(scope_set::all()),
       std::string authorization = "Bearer " + some_key) {
  field_view field{"Authorization", authorization};
  return admit({method, target, {&field, 1}}, keys);
}

/// Lets a request in and reads it.
std::variant<call, response>
read(std::string_view method, std::string_view target, std::string body = {},
     const api_options& options = {}) {
  auto verdict = let_in(method, target);
  if (auto refusal = std::get_if<response>(&verdict))
    return std::move(*refusal);
  request what{std::move(std::get<route_match>(verdict)), std::move(body), "id",
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
  CHECK(made.queue == queue);
  return std::get<T>(std::move(made.what));
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
  job_id id{queue_id{1}, job_seq{2}, 3};
  CHECK(called<get_job>(read("GET", "/v1/jobs/" + to_string(id))).id == id);
  called<health_check>(read("GET", "/healthz"));
  called<ready_check>(read("HEAD", "/readyz?probe=7"));
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
  CHECK(called<list_queues>(list("cursor=" + make_queue_cursor("q"))).after
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
    auto verdict = let_in(entry.method, entry.path, ring_with(scope_set::all()),
                          "Bearer nope");
    auto refusal = std::get_if<response>(&verdict);
    CHECK((refusal == nullptr) == entry.open);
    if (refusal)
      CHECK(refusal->status == 401);
  }
  CHECK(std::get<response>(let_in("GET", "/nowhere", {})).status == 401);
}

TEST_CASE("each route needs its own scope and no other") {
  for (const auto& entry : routes()) {
    if (entry.open)
      continue;
    for (auto x : {scope::publish, scope::work, scope::read, scope::manage,
                   scope::admin}) {
      auto verdict = let_in(entry.method, entry.path, ring_with({x}));
      auto refusal = std::get_if<response>(&verdict);
      CHECK((refusal == nullptr) == (x == entry.required));
      if (refusal) {
        CHECK(refusal->status == 403);
        CHECK(json::parse(refusal->body)["code"] == "forbidden");
      }
    }
  }
}

TEST_CASE("with a key, wrong paths and methods are told from one another") {
  CHECK(std::get<response>(let_in("GET", "/nowhere")).status == 404);
  CHECK(std::get<response>(let_in("PUT", "/v1/queues")).status == 405);
  CHECK(std::get<response>(let_in("GET", "*")).status == 400);
}

TEST_CASE("replies have the status of what happened") {
  put_queue_result put;
  put.view.queue.secret = "whsec_x";
  CHECK(answer(put).status == 200);
  CHECK(answer(put).body.find("whsec_x") == std::string::npos);
  put.created = true;
  CHECK(answer(put).status == 201);
  CHECK(answer(put).body.find("whsec_x") != std::string::npos);
  publish_result published;
  CHECK(answer(published).status == 201);
  published.duplicate = true;
  CHECK(answer(published).status == 200);
  CHECK(answer(queue_view{}).status == 200);
  CHECK(answer(queue_list{}).status == 200);
  CHECK(answer(error{errc::draining, ""}).status == 503);
  CHECK(deleted().status == 204);
  CHECK(deleted().body.empty());
  CHECK(alive().status == 200);
  CHECK(ready().status == 200);
}
