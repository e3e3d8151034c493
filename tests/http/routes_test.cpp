#include "http/routes.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

route_match found(std::string_view method, std::string_view target) {
  return std::get<route_match>(find_route(method, target));
}

no_route::reason refused(std::string_view method, std::string_view target) {
  return std::get<no_route>(find_route(method, target)).why;
}

using reason = no_route::reason;

} // namespace

TEST_CASE("each route of the table is found under its own path") {
  for (const auto& entry : routes()) {
    std::string path{entry.path};
    std::vector<std::string> names{"some.name", "a%2Fb"};
    std::size_t n = 0;
    for (auto open = path.find('{'); open != std::string::npos;
         open = path.find('{'))
      path.replace(open, path.find('}') - open + 1, names.at(n++));
    auto match = found(entry.method, path);
    CHECK(match.route == &entry);
    CHECK(match.param == (n > 0 ? "some.name" : ""));
    CHECK(match.second_param == (n > 1 ? "a/b" : ""));
  }
}

TEST_CASE("no operation and no line stands in the table twice") {
  std::set<operation> operations;
  std::set<std::string_view> capabilities;
  std::set<std::pair<std::string_view, std::string_view>> lines;
  for (const auto& entry : routes()) {
    CHECK(operations.insert(entry.operation).second);
    CHECK(lines.insert({entry.method, entry.path}).second);
    CHECK(capabilities.insert(entry.capability).second);
    CHECK_FALSE(entry.summary.empty());
  }
}

TEST_CASE("only what says nothing of anybody is open without a key") {
  for (const auto& entry : routes())
    CHECK(entry.open
          == (entry.operation == operation::health
              || entry.operation == operation::readiness
              || entry.operation == operation::discover
              || entry.operation == operation::discover_one
              || entry.operation == operation::openapi
              || entry.operation == operation::dashboard
              || entry.operation == operation::dashboard_file));
}

TEST_CASE("only a batch may be larger than other bodies") {
  for (const auto& entry : routes())
    CHECK((entry.body == body_class::batch)
          == (entry.operation == operation::publish_batch
              || entry.operation == operation::publish_messages
              || entry.operation == operation::ack_messages
              || entry.operation == operation::nack_messages));
}

TEST_CASE("only messages and events may be a long time in coming") {
  for (const auto& entry : routes())
    CHECK(entry.waits
          == (entry.operation == operation::consume_messages
              || entry.operation == operation::stream_events));
}

TEST_CASE("each target belongs to a family, whether it is there or not") {
  for (auto target :
       {"/v1/queue", "/v1/queue/publish", "/v1/queue/nothing/here",
        "/v1/queue?x=1", "http://a.example/v1/queue/get/q"})
    CHECK(family_of(target) == api_family::messages);
  for (auto target : {"/v1/queues", "/v1/queues/q", "/v1/jobs/queue", "/", "",
                      "/v1/discovery", "/v1/queuex", "*"})
    CHECK(family_of(target) == api_family::jobs);
}

TEST_CASE("HEAD goes where GET goes") {
  CHECK(found("HEAD", "/healthz").route->operation == operation::health);
  CHECK(refused("HEAD", "/v1/queues/a/pause") == reason::method_not_allowed);
}

TEST_CASE("a wrong method is told which ones are right") {
  auto miss = std::get<no_route>(find_route("DELETE", "/v1/queues"));
  CHECK(miss.why == reason::method_not_allowed);
  CHECK(miss.allow == "POST, GET, HEAD");
  CHECK(std::get<no_route>(find_route("BREW", "/v1/queues/a/pause")).allow
        == "POST");
  CHECK(refused("get", "/healthz") == reason::method_not_allowed);
}

TEST_CASE("paths that are not in the table are not found") {
  for (auto path : {"/", "/v1", "/v1/queues/", "/v1/queues/a/", "/v1/queues//",
                    "/v1/queues/a/b", "/v1/queues/a/b/jobs", "/v1/jobs",
                    "/v1/queues/a/keys//release", "/v1/queues/a/keys/release",
                    "/v1/queues//keys/a/release", "/v1/jobs/", "//v1/queues",
                    "/V1/queues", "/healthz/", "/v1/queues//jobs",
                    "/v1/./queues", "/v1/queues/a/jobs/"}) {
    CAPTURE(path);
    CHECK(refused("GET", path) == reason::not_found);
  }
}

TEST_CASE("the segment in braces is percent-decoded once") {
  CHECK(found("GET", "/v1/queues/a%2Fb").param == "a/b");
  CHECK(found("GET", "/v1/queues/%2541").param == "%41");
  CHECK(found("GET", "/v1/queues/a+b").param == "a+b");
  CHECK(found("GET", "/v1/queues/%00").param == std::string(1, '\0'));
}

TEST_CASE("the query is taken apart and decoded") {
  auto match = found("GET", "/v1/queues?limit=5&cursor=a%26b&&x&y==");
  REQUIRE(match.query.size() == 4);
  CHECK(match.query[0] == query_field{"limit", "5"});
  CHECK(match.query[1] == query_field{"cursor", "a&b"});
  CHECK(match.query[2] == query_field{"x", ""});
  CHECK(match.query[3] == query_field{"y", "="});
}

TEST_CASE("a target in absolute form is the same as its path") {
  auto match = found("GET", "http://example.com:80/v1/queues/a?x=1");
  CHECK(match.param == "a");
  CHECK(match.query.size() == 1);
  CHECK(refused("GET", "https://example.com") == reason::not_found);
  CHECK(refused("GET", "https://example.com?x=/healthz") == reason::not_found);
}

TEST_CASE("targets that are no paths are malformed") {
  for (auto target :
       {"", "*", "v1/queues", "example.com:443", "ftp://a/b", "http:///healthz",
        "/healthz#x", "/v1/queues/%", "/v1/queues/%4", "/v1/queues/%zz",
        "/v1/queues?limit=%"}) {
    CAPTURE(target);
    CHECK(refused("GET", target) == reason::malformed);
  }
}
