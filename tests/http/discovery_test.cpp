// What can be found out about the API without a key.

#include "http/discovery.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

json described(std::string_view id, const api_options& options = {}) {
  return json::parse(describe_capability(id, options));
}

bool has(const json& list, const json& wanted) {
  return std::any_of(list.begin(), list.end(), [&](const json& x) {
    for (const auto& [name, value] : wanted.items())
      if (!x.contains(name) || x[name] != value)
        return false;
    return true;
  });
}

} // namespace

TEST_CASE("every route is a capability and nothing else is") {
  auto document = json::parse(discovery_document({}));
  CHECK(document["version"] == "v1");
  CHECK(document["generated_at"].get<std::string>().ends_with("Z"));
  const auto& list = document["capabilities"];
  REQUIRE(list.size() == routes().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& line = routes()[i];
    CHECK(list[i]["id"] == std::string{line.capability});
    CHECK(list[i]["method"] == std::string{line.method});
    CHECK(list[i]["path"] == std::string{line.path});
    CHECK(list[i]["scope"].is_null() == line.open);
    CHECK(list[i]["available"] == true);
  }
}

TEST_CASE("the capabilities of pull queues have the ids of the contract") {
  auto list = json::parse(discovery_document({}))["capabilities"];
  for (auto id : {"queue.create",        "queue.get",        "queue.list",
                  "queue.update",        "queue.delete",     "queue.publish",
                  "queue.publish_batch", "queue.consume",    "queue.ack",
                  "queue.nack",          "queue.extend",     "queue.release",
                  "queue.ack_batch",     "queue.nack_batch", "queue.peek",
                  "queue.purge",         "queue.stats",      "queue.dlq.list",
                  "queue.dlq.redrive",   "jobs.publish"}) {
    CAPTURE(id);
    CHECK(has(list, {{"id", id}}));
  }
}

TEST_CASE("publishing is billable and free unless it has a price") {
  api_options priced;
  priced.publish_price = 0.00002;
  auto billing = described("queue.publish")["billing"];
  CHECK(billing
        == json{{"is_billable", true},
                {"free", true},
                {"unit", "per_request"},
                {"price_usd", 0},
                {"currency", "USD"}});
  billing = described("queue.publish", priced)["billing"];
  CHECK(billing["free"] == false);
  CHECK(billing["price_usd"] == 0.00002);
  billing = described("queue.consume", priced)["billing"];
  CHECK(billing["is_billable"] == false);
  CHECK(billing["price_usd"] == 0);
}

TEST_CASE("a capability has its parameters, wherever they stand") {
  auto publish = described("queue.publish")["params"];
  CHECK(has(publish, {{"name", "queue"}, {"in", "body"}, {"required", true}}));
  CHECK(has(publish,
            {{"name", "delay_seconds"}, {"in", "body"}, {"required", false}}));
  auto list = described("queue.dlq.list")["params"];
  CHECK(has(list, {{"name", "queue"}, {"in", "path"}, {"required", true}}));
  CHECK(has(list, {{"name", "reason"}, {"in", "query"}, {"required", false}}));
  CHECK(has(described("jobs.get")["params"], {{"name", "id"}, {"in", "path"}}));
}

TEST_CASE("a capability has its errors, and whether to try again") {
  auto ack = described("queue.ack")["errors"];
  CHECK(has(ack, {{"status", 409},
                  {"code", "QUEUE_MESSAGE_NOT_IN_FLIGHT"},
                  {"retryable", false}}));
  CHECK(has(ack, {{"status", 404}, {"code", "QUEUE_MESSAGE_NOT_FOUND"}}));
  CHECK(
    has(ack, {{"status", 503}, {"code", "UNAVAILABLE"}, {"retryable", true}}));
  auto job = described("jobs.publish")["errors"];
  CHECK(has(job, {{"code", "queue_full"}, {"retryable", true}}));
  CHECK(has(job, {{"code", "queue_not_found"}, {"status", 404}}));
  CHECK(described("server.health")["errors"].empty());
}

TEST_CASE("every capability can be described, with an example") {
  for (const auto& line : routes()) {
    CAPTURE(line.capability);
    auto what = described(line.capability);
    CHECK(what["id"] == std::string{line.capability});
    CHECK(what["example"]["path"] == std::string{line.path});
  }
  CHECK(describe_capability("nothing", {}).empty());
  CHECK(describe_capability("", {}).empty());
}

TEST_CASE("what may be sent twice is said to be idempotent") {
  for (auto [id, idempotent] : {std::pair{"queue.create", true},
                                {"queue.publish", false},
                                {"queue.ack", true},
                                {"queue.consume", false},
                                {"queue.delete", true},
                                {"jobs.publish", false},
                                {"queues.pause", true}})
    CHECK(described(id)["idempotent"] == idempotent);
}
