// What asks for events and metrics, and who may.

#include "http/api.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;

namespace {

const std::string some_key = "sq_live_" + std::string(40, 'k');

const wall_time noon{std::chrono::seconds{1'767'268'800}};

key_ring ring_with(scope_set scopes) {
  key_set keys;
  keys.add(digest_of(some_key), scopes);
  return key_ring{std::move(keys)};
}

/// Lets a GET in that has the key, and reads it.
std::variant<call, response> read(const std::string& target,
                                  scope_set scopes = {scope::read},
                                  std::vector<field_view> fields = {}) {
  auto bearer = "Bearer " + some_key;
  fields.push_back({"authorization", bearer});
  auto verdict = admit({"GET", target, fields}, ring_with(scopes), {{}, noon});
  if (auto refused = std::get_if<refusal>(&verdict))
    return refused->answer;
  auto& let_in = std::get<admission>(verdict);
  request what{
    std::move(let_in.route), std::move(let_in.who), {}, {}, "id", nullptr};
  what.last_event_id = let_in.last_event_id;
  return read_call(what, {});
}

events_call events(std::variant<call, response> what) {
  return std::get<events_call>(std::get<call>(what));
}

unsigned status_of(const std::variant<call, response>& what) {
  return std::get<response>(what).status;
}

/// Returns the status with which a GET of `/metrics` without a key is refused,
/// 0 where it is let in.
unsigned refusal_from(std::string_view peer,
                      std::vector<field_view> fields = {}) {
  request_head head{"GET", "/metrics", fields, peer};
  auto verdict = admit(head, ring_with({scope::read}), {{}, noon});
  auto refused = std::get_if<refusal>(&verdict);
  return refused ? refused->answer.status : 0;
}

} // namespace

TEST_CASE("a stream is about the key's project, and about all of it") {
  auto got = events(read("/v1/events"));
  CHECK(got.filter.project == default_project);
  CHECK_FALSE(got.filter.whole_server);
  CHECK(got.filter.queue.empty());
  CHECK(got.filter.kinds.empty());
  CHECK_FALSE(got.after);
  CHECK(events(read("/v1/events", {scope::read, scope::admin}))
          .filter.whole_server);
}

TEST_CASE("queue and types choose among events") {
  auto got = events(read("/v1/events?queue=q&types=queue.held,job.dead"));
  CHECK(got.filter.queue == "q");
  CHECK(got.filter.kinds
        == std::vector{event_kind::queue_held, event_kind::job_dead});
  for (auto query : {"types=", "types=queue.held,", "types=,", "types=held",
                     "types=a&types=b", "queue=", "queue=a/b", "what=1"})
    CHECK(status_of(read("/v1/events?" + std::string{query})) == 400);
}

TEST_CASE("the header goes before the parameter, and nothing is nothing") {
  CHECK(events(read("/v1/events?lastEventId=1-2")).after == event_id{1, 2});
  CHECK(events(read("/v1/events?lastEventId=1-2", {scope::read},
                    {{"Last-Event-ID", "3-4"}}))
          .after
        == event_id{3, 4});
  CHECK_FALSE(
    events(read("/v1/events", {scope::read}, {{"Last-Event-ID", ""}})).after);
  CHECK(status_of(read("/v1/events", {scope::read}, {{"Last-Event-ID", "4"}}))
        == 400);
}

TEST_CASE("events take the scope read") {
  CHECK(status_of(read("/v1/events", {scope::publish})) == 403);
}

TEST_CASE("metrics are open from the machine itself") {
  for (auto peer : {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"})
    CHECK(refusal_from(peer) == 0);
  for (auto peer : {"10.0.0.1", "192.0.2.127", "::2", "::ffff:10.0.0.1", ""})
    CHECK(refusal_from(peer) == 401);
}

TEST_CASE("a request that a proxy handed on is not from the machine itself") {
  for (auto name : {"Forwarded", "X-Forwarded-For", "x-real-ip", "VIA"})
    CHECK(refusal_from("127.0.0.1", {{name, "192.0.2.1"}}) == 401);
}

TEST_CASE("a key that is wrong is refused on loopback, too") {
  CHECK(refusal_from("127.0.0.1", {{"authorization", "Bearer no"}}) == 401);
  // A page in a browser here, whose name points to this address now.
  for (auto host : {"a.example", "127.a.example:80", "localhost.a.example", ""})
    CHECK(refusal_from("127.0.0.1", {{"host", host}}) == 401);
  for (auto host : {"localhost:8080", "localhost", "127.0.0.1:80", "[::1]:80"})
    CHECK(refusal_from("127.0.0.1", {{"host", host}}) == 0);
}

TEST_CASE("nothing else is open on loopback") {
  request_head head{"GET", "/v1/queues", {}, "127.0.0.1"};
  auto verdict = admit(head, ring_with({scope::read}), {{}, noon});
  CHECK(std::get<refusal>(verdict).answer.status == 401);
}

TEST_CASE("a key sees the metrics of its project, with admin those of all") {
  auto metrics = [](scope_set scopes) {
    return std::get<metrics_call>(std::get<call>(read("/metrics", scopes)));
  };
  CHECK(metrics({scope::read}).project == default_project);
  CHECK_FALSE(metrics({scope::read, scope::admin}).project);
  CHECK(status_of(read("/metrics", {scope::admin})) == 403);
  CHECK(status_of(read("/metrics?x=1")) == 400);
}
