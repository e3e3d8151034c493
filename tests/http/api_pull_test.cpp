// Requests to pull queues and the answers to them.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/api.hpp"
#include "http/cursor.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const message_id some_id{job_seq{7}, 8};

const std::string some_key = "sq_live_0123";

const std::string settle_body = R"({"queue":"q","message_id":")"
                                + to_string(some_id) + "\"}";

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

struct asked {
  std::string method;
  std::string target;
  std::string body = {};
  scope_set scopes = scope_set::all();
  std::string idempotency_key = {};
  std::string authorization = "Bearer " + some_key;
};

/// Lets a request in and reads it.
std::variant<call, response> read(const asked& what,
                                  std::shared_ptr<client_watch> watch = {}) {
  std::vector<field_view> fields{{"authorization", what.authorization}};
  if (!what.idempotency_key.empty())
    fields.push_back({"Idempotency-Key", what.idempotency_key});
  auto verdict = admit({what.method, what.target, fields},
                       ring_with(what.scopes), {});
  if (auto refused = std::get_if<refusal>(&verdict))
    return std::move(refused->answer);
  auto& in = std::get<admission>(verdict);
  request made{std::move(in.route),
               std::move(in.who),
               std::move(in.trace),
               what.body,
               "id",
               nullptr,
               in.idempotency_key,
               std::move(watch)};
  return read_call(made, {});
}

pull_call pull(const asked& what) {
  auto result = read(what);
  CAPTURE(what.target);
  REQUIRE(std::holds_alternative<call>(result));
  auto made = std::get<pull_call>(std::get<call>(std::move(result)));
  CHECK(made.project == "acme");
  CHECK(made.queue == "q");
  return made;
}

template <class T>
T message_to(const asked& what) {
  return std::get<T>(pull(what).what);
}

/// Checks that the request is refused in the shape of this family.
void check_refused(const asked& what, unsigned status, const char* code) {
  CAPTURE(what.method, what.target, what.body);
  auto result = read(what);
  REQUIRE(std::holds_alternative<response>(result));
  const auto& refusal = std::get<response>(result);
  CHECK(refusal.status == status);
  CHECK(refusal.shape == body_shape::error);
  CHECK(json::parse(refusal.body)["code"] == code);
}

json data_of(const response& what) {
  CHECK(what.shape == body_shape::data);
  return json::parse(what.body);
}

} // namespace

TEST_CASE("each request to a pull queue becomes its message") {
  CHECK(message_to<publish_message>(
          {"POST", "/v1/queue/publish", R"({"queue":"q","payload":[1]})"})
          .payload.bytes()
        == "[1]");
  CHECK(message_to<publish_messages>(
          {"POST", "/v1/queue/publish_batch",
           R"({"queue":"q","messages":[{"payload":1},{"payload":2}]})"})
          .messages.size()
        == 2);
  CHECK(message_to<consume_messages>(
          {"POST", "/v1/queue/consume", R"({"queue":"q","wait_seconds":20})"})
          .wait
        == 20s);
  message_to<get_pull_queue>({"GET", "/v1/queue/get/q"});
  message_to<patch_pull_queue>({"PATCH", "/v1/queue/update/q", "{}"});
  CHECK(message_to<peek_messages>({"GET", "/v1/queue/peek/q"}).limit == 10);
  message_to<purge_pull_queue>({"POST", "/v1/queue/purge/q"});
  CHECK(pull({"GET", "/v1/queue/stats/q"}).shows == pull_call::aspect::figures);
  CHECK(pull({"GET", "/v1/queue/dlq/list/q"}).of_dead_letters);
  CHECK(pull({"POST", "/v1/queue/dlq/redrive/q"}).of_dead_letters);
}

TEST_CASE("each thing that is said of a message becomes its kind") {
  using kind = settle_message::kind;
  for (auto [verb, what] : {std::pair{"ack", kind::ack},
                            {"nack", kind::nack},
                            {"release", kind::release}}) {
    auto target = std::string{"/v1/queue/"} + verb;
    auto said = message_to<settle_message>({"POST", target, settle_body});
    CHECK(said.what == what);
    CHECK(said.id == some_id);
  }
  for (auto [verb, what] :
       {std::pair{"ack", kind::ack}, {"nack", kind::nack}}) {
    auto body = R"({"queue":"q","entries":[{"message_id":")"
                + to_string(some_id) + "\"}]}";
    auto target = std::string{"/v1/queue/"} + verb + "_batch";
    auto said = message_to<settle_messages>({"POST", target, body});
    REQUIRE(said.entries.size() == 1);
    CHECK(said.entries[0].what == what);
  }
}

TEST_CASE("only publishing makes queues, only looking takes none for empty") {
  using absence = pull_call::absence;
  CHECK(pull({"POST", "/v1/queue/publish", R"({"queue":"q","payload":1})"})
          .if_absent
        == absence::make);
  CHECK(pull({"POST", "/v1/queue/consume", R"({"queue":"q"})"}).if_absent
        == absence::empty);
  CHECK(pull({"GET", "/v1/queue/stats/q"}).if_absent == absence::empty);
  CHECK(pull({"GET", "/v1/queue/get/q"}).if_absent == absence::refuse);
  CHECK(pull({"POST", "/v1/queue/ack", settle_body}).if_absent
        == absence::refuse);
}

TEST_CASE("queues are created, listed and deleted by the registry") {
  auto created = std::get<create_pull_queue>(std::get<call>(
    read({"POST", "/v1/queue/create", R"({"name":"q","type":"standard"})"})));
  CHECK(created.project == "acme");
  CHECK(created.name == "q");
  auto list = std::get<list_pull_queues>(
    std::get<call>(read({"GET", "/v1/queue/list?limit=5"})));
  CHECK(list.limit == 5);
  auto deleted = std::get<delete_queue>(
    std::get<call>(read({"DELETE", "/v1/queue/delete/q?force=true"})));
  CHECK(deleted.kind == queue_kind::pull);
  CHECK(deleted.force);
}

TEST_CASE("every refusal has the shape of pull queues") {
  check_refused({"POST", "/v1/queue/publish", R"({"queue":"q"})"}, 400,
                "INVALID_ARGUMENT");
  check_refused({"POST", "/v1/queue/publish", "{"}, 400, "INVALID_ARGUMENT");
  check_refused({"POST", "/v1/queue/purge/q", R"({"x":1})"}, 400,
                "INVALID_ARGUMENT");
  check_refused({"GET", "/v1/queue/get/q?x=1"}, 400, "INVALID_ARGUMENT");
  check_refused({"GET", "/v1/queue/get/%"}, 400, "INVALID_ARGUMENT");
  check_refused({"GET", "/v1/queue/get/a%20b"}, 404, "QUEUE_NOT_FOUND");
  check_refused({"GET", "/v1/queue/nothing"}, 404, "NOT_FOUND");
  check_refused({"GET", "/v1/queue/publish"}, 405, "METHOD_NOT_ALLOWED");
  check_refused({"GET", "/v1/queue/list", {}, {scope::publish}}, 403,
                "PERMISSION_DENIED");
  check_refused({"GET", "/v1/queue/list", {}, {}, {}, "Bearer x"}, 401,
                "UNAUTHENTICATED");
  check_refused({"GET", "/v1/queue/dlq/list/q?reason=bored"}, 400,
                "INVALID_ARGUMENT");
  check_refused({"GET", "/v1/queue/dlq/list/q?cursor=x"}, 400,
                "INVALID_ARGUMENT");
}

TEST_CASE("an ack that publishes needs both scopes") {
  auto body = R"({"queue":"q","publish":{"payload":1},"message_id":")"
              + to_string(some_id) + "\"}";
  check_refused({"POST", "/v1/queue/ack", body, {scope::work}}, 403,
                "PERMISSION_DENIED");
  check_refused({"POST", "/v1/queue/ack", body, {scope::publish}}, 403,
                "PERMISSION_DENIED");
  auto said = message_to<settle_message>(
    {"POST", "/v1/queue/ack", body, {scope::work, scope::publish}});
  CHECK(said.successor->by == api_key_id{7});
  message_to<settle_message>(
    {"POST", "/v1/queue/ack", settle_body, {scope::work}});
}

TEST_CASE("the idempotency key may stand in the header") {
  auto key_of = [](const std::string& in_body, const std::string& in_header) {
    return message_to<publish_message>(
             {"POST", "/v1/queue/publish",
              R"({"queue":"q","payload":1)" + in_body + "}", scope_set::all(),
              in_header})
      .idempotency_key;
  };
  CHECK(key_of("", "").empty());
  CHECK(key_of("", "k") == "k");
  CHECK(key_of(R"(,"idempotency_key":"k")", "") == "k");
  CHECK(key_of(R"(,"idempotency_key":"k")", "k") == "k");
  for (auto [in_body, in_header] :
       {std::pair<std::string, std::string>{R"(,"idempotency_key":"k")", "l"},
        {"", std::string(256, 'x')},
        {"", "\xff"}})
    check_refused({"POST", "/v1/queue/publish",
                   R"({"queue":"q","payload":1)" + in_body + "}",
                   scope_set::all(), in_header},
                  400, "INVALID_ARGUMENT");
}

TEST_CASE("only a call that waits cares whether its client is there") {
  for (auto [body, wanted] :
       {std::pair{R"({"queue":"q","wait_seconds":1})", true},
        {R"({"queue":"q","wait_seconds":0})", false},
        {R"({"queue":"q"})", false}}) {
    auto watch = std::make_shared<client_watch>();
    auto made = read({"POST", "/v1/queue/consume", body}, watch);
    const auto& what = std::get<consume_messages>(
      std::get<pull_call>(std::get<call>(made)).what);
    CHECK(watch->wanted == wanted);
    CHECK((what.gone != nullptr) == wanted);
    watch->gone = true;
    if (what.gone)
      CHECK(what.gone->load());
  }
}

TEST_CASE("a batch of which nothing is valid is answered at once") {
  auto made = read(
    {"POST", "/v1/queue/publish_batch", R"({"queue":"q","messages":[{},7]})"});
  auto results = data_of(std::get<response>(made))["results"];
  REQUIRE(results.size() == 2);
  CHECK(results[0]["error"]["details"]["fieldErrors"]["payload"][0]
        == "is required");
}

TEST_CASE("each reply of a pull queue has its status") {
  call created = create_pull_queue{};
  CHECK(answer(created, pull_queue_created{{}, true}).status == 201);
  CHECK(answer(created, pull_queue_created{{}, false}).status == 200);
  call published =
    pull({"POST", "/v1/queue/publish", R"({"queue":"q","payload":1})"});
  CHECK(answer(published, message_published{}).status == 201);
  message_published again;
  again.duplicate = true;
  CHECK(answer(published, again).status == 200);
  auto deleted = std::get<call>(read({"DELETE", "/v1/queue/delete/q"}));
  CHECK(answer(deleted, queue_deleted{}).status == 204);
  auto failed = answer(deleted, error{errc::queue_not_empty, "No."});
  CHECK(failed.status == 409);
  CHECK(json::parse(failed.body)["code"] == "QUEUE_NOT_EMPTY");
  call purged = pull({"POST", "/v1/queue/purge/q"});
  CHECK(data_of(answer(purged, jobs_removed{3})) == json{{"count", 3}});
}

TEST_CASE("lists of pull queues go on where their cursors say") {
  auto list = std::get<call>(read({"GET", "/v1/queue/list"}));
  std::string cursor =
    data_of(answer(list, pull_queue_list{{}, "q"}))["next_cursor"];
  auto next = read({"GET", "/v1/queue/list?cursor=" + cursor});
  CHECK(std::get<list_pull_queues>(std::get<call>(next)).after == "q");
  call dead = pull({"GET", "/v1/queue/dlq/list/q"});
  cursor = data_of(answer(dead, message_page{{}, job_seq{9}}))["next_cursor"];
  auto more = pull({"GET", "/v1/queue/dlq/list/q?cursor=" + cursor});
  CHECK(std::get<list_dead_messages>(more.what).before == job_seq{9});
  check_refused({"GET", "/v1/queue/dlq/list/r?cursor=" + cursor}, 400,
                "INVALID_ARGUMENT");
}

TEST_CASE("a reason leaves out what was published to the dead letters") {
  message_page page{{{}, {}}, {}};
  page.items[0].job.payload = payload{"1"};
  page.items[0].job.source_queue = "q";
  page.items[1].job.payload = payload{"2"};
  call all = pull({"GET", "/v1/queue/dlq/list/q"});
  CHECK(data_of(answer(all, page))["items"].size() == 2);
  call moved = pull({"GET", "/v1/queue/dlq/list/q?reason=max_receive_count"});
  auto items = data_of(answer(moved, page))["items"];
  REQUIRE(items.size() == 1);
  CHECK(items[0]["payload"] == 1);
}

TEST_CASE("a queue that is still to come answers as an empty one") {
  auto empty = [](const asked& what) {
    return data_of(answer_for_empty(pull(what)));
  };
  auto stats = empty({"GET", "/v1/queue/stats/q"});
  CHECK(stats["queue"] == "q");
  CHECK(stats["depth"] == 0);
  CHECK(stats["max_receive_count"] == 0);
  CHECK(
    empty({"POST", "/v1/queue/consume", R"({"queue":"q"})"})["items"].empty());
  CHECK(empty({"GET", "/v1/queue/dlq/list/q"})["items"].empty());
  CHECK(empty({"POST", "/v1/queue/dlq/redrive/q"})["redriven"] == 0);
}
