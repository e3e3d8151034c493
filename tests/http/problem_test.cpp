#include "http/problem.hpp"

#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

bool has_header(const response& what, std::string_view name) {
  for (const auto& field : what.headers)
    if (field.first == name)
      return true;
  return false;
}

} // namespace

TEST_CASE("each problem has a status, a code of its own and a sentence") {
  std::set<std::string> codes;
  auto last = static_cast<int>(problem::storage_unavailable);
  for (auto i = 0; i <= last; ++i) {
    auto made = make_problem(static_cast<problem>(i));
    CHECK(made.status >= 400);
    auto body = json::parse(made.body);
    CHECK_FALSE(body["error"].get<std::string>().empty());
    CHECK(codes.insert(body["code"]).second);
  }
}

TEST_CASE("errors of the core keep their code and their sentence") {
  struct row {
    errc code;
    unsigned status;
  };
  for (auto [code, status] :
       {row{errc::queue_not_found, 404}, row{errc::queue_exists, 409},
        row{errc::queue_not_empty, 409}, row{errc::job_not_found, 404},
        row{errc::overloaded, 503}, row{errc::draining, 503},
        row{errc::storage_unavailable, 503}, row{errc::queue_full, 429},
        row{errc::not_ack_mode, 409}, row{errc::not_awaiting_outcome, 409},
        row{errc::stale_delivery, 409}, row{errc::job_completed, 409},
        row{errc::job_dead, 409}, row{errc::not_dead, 409},
        row{errc::not_found, 404}, row{errc::wrong_queue_kind, 409},
        row{errc::message_not_found, 404},
        row{errc::message_not_in_flight, 409}}) {
    auto made = make_problem(error{code, "It \"failed\"."});
    CHECK(made.status == status);
    CHECK(json::parse(made.body)
          == json{{"error", "It \"failed\"."}, {"code", to_string(code)}});
    CHECK(has_header(made, "retry-after") == (status == 503 || status == 429));
  }
}

TEST_CASE("an error without a sentence gets the usual one") {
  auto made = make_problem(error{errc::job_not_found, ""});
  CHECK(json::parse(made.body)["error"] == "Job not found");
}

TEST_CASE("a validation error of the core has the shape of one") {
  auto made = make_problem(error{errc::validation_failed, "No."});
  CHECK(made.status == 400);
  CHECK(json::parse(made.body)
        == json::parse(R"({"error":{"formErrors":["No."],"fieldErrors":{}},
                           "code":"validation_failed"})"));
}

TEST_CASE("all that is said about a field stands under its name") {
  complaints what;
  what.add("b", "1");
  what.add("a", "2");
  what.add("b", "3");
  auto made = make_problem(what);
  CHECK(made.body
        == R"({"error":{"formErrors":[],"fieldErrors":{"b":["1","3"],)"
           R"("a":["2"]}},"code":"validation_failed"})");
}

TEST_CASE("a refused entry of a batch says what a response would") {
  complaints what;
  what.add("delay", "is wrong");
  CHECK(refused_entry(what)
        == R"({"ok":false,"error":{"formErrors":[],"fieldErrors":)"
           R"({"delay":["is wrong"]}},"code":"validation_failed"})");
  CHECK(refused_entry(error{errc::queue_full, "Full."})
        == R"({"ok":false,"error":"Full.","code":"queue_full"})");
  CHECK(refused_entry(error{errc::validation_failed, "No."})
        == R"({"ok":false,"error":{"formErrors":["No."],"fieldErrors":{}},)"
           R"("code":"validation_failed"})");
}

TEST_CASE("a flood of complaints is cut") {
  complaints what;
  for (auto i = 0; i < 100'000; ++i)
    what.add("f" + std::to_string(i), "is not a known field");
  auto body = json::parse(make_problem(what).body);
  CHECK(body["error"]["fieldErrors"].size() == 100);
}

TEST_CASE("401 says how to authenticate and 405 what is allowed") {
  CHECK(has_header(make_problem(problem::unauthenticated), "www-authenticate"));
  auto made = method_not_allowed("GET, HEAD");
  CHECK(made.status == 405);
  CHECK(made.headers.back()
        == std::pair<std::string, std::string>{"allow", "GET, HEAD"});
}

TEST_CASE("errors of pull queues have the codes of the contract") {
  struct row {
    errc code;
    unsigned status;
    const char* name;
  };
  for (auto [code, status, name] :
       {row{errc::validation_failed, 400, "INVALID_ARGUMENT"},
        row{errc::queue_not_found, 404, "QUEUE_NOT_FOUND"},
        row{errc::message_not_found, 404, "QUEUE_MESSAGE_NOT_FOUND"},
        row{errc::queue_exists, 409, "QUEUE_ALREADY_EXISTS"},
        row{errc::wrong_queue_kind, 409, "WRONG_QUEUE_KIND"},
        row{errc::message_not_in_flight, 409, "QUEUE_MESSAGE_NOT_IN_FLIGHT"},
        row{errc::queue_full, 429, "RATE_LIMITED"},
        row{errc::overloaded, 503, "UNAVAILABLE"},
        row{errc::draining, 503, "UNAVAILABLE"},
        row{errc::storage_unavailable, 503, "UNAVAILABLE"}}) {
    error reason{code, "It failed."};
    auto made = make_problem(reason, api_family::messages);
    CHECK(made.status == status);
    CHECK(made.shape == body_shape::error);
    CHECK(has_header(made, "retry-after") == (status == 503 || status == 429));
    json body{
      {"code", name}, {"message", "It failed."}, {"details", json::object()}};
    CHECK(json::parse(made.body) == body);
    CHECK(json::parse(refused_entry(reason, api_family::messages))
          == json{{"ok", false}, {"error", body}});
  }
}

TEST_CASE("other refusals of pull queues have the codes of the contract") {
  struct row {
    problem what;
    unsigned status;
    const char* name;
  };
  for (auto [what, status, name] :
       {row{problem::malformed_json, 400, "INVALID_ARGUMENT"},
        row{problem::unauthenticated, 401, "UNAUTHENTICATED"},
        row{problem::forbidden, 403, "PERMISSION_DENIED"},
        row{problem::not_found, 404, "NOT_FOUND"},
        row{problem::method_not_allowed, 405, "METHOD_NOT_ALLOWED"},
        row{problem::payload_too_large, 413, "PAYLOAD_TOO_LARGE"}}) {
    auto made = make_problem(what, {}, api_family::messages);
    CHECK(made.status == status);
    CHECK(json::parse(made.body)["code"] == name);
  }
}

TEST_CASE("a message sums up what is wrong, and details list all of it") {
  complaints what{{"It is odd"}, {}};
  for (auto field : {"a", "b", "a", "c", "d", "e"})
    what.add(field, "is wrong");
  auto made = json::parse(make_problem(what, api_family::messages).body);
  CHECK(made["message"]
        == "It is odd; a is wrong; b is wrong; a is wrong; c is wrong; and 2 "
           "more");
  CHECK(made["details"]["formErrors"][0] == "It is odd");
  CHECK(made["details"]["fieldErrors"]["a"].size() == 2);
  CHECK(made["details"]["fieldErrors"].size() == 5);
}
