#include "codec_testing.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

/// Returns what each kind of report says of `body`, as far as it is refused.
std::vector<std::string> complaints_about(const std::string& kind,
                                          const std::string& body,
                                          const std::string& field) {
  if (kind == "ack")
    return complaints_of(decode_ack(body), field);
  if (kind == "nack")
    return complaints_of(decode_nack(body), field);
  if (kind == "defer")
    return complaints_of(decode_defer(body), field);
  if (kind == "touch")
    return complaints_of(decode_touch(body), field);
  return complaints_of(decode_hold(body), field);
}

duration wait_of(const std::string& token) {
  return std::get<defer_job>(decode_defer("{\"retryAfter\":" + token + "}"))
    .wait;
}

} // namespace

TEST_CASE("an empty report says what it says by default") {
  for (std::string body : {"", "{}"}) {
    CHECK_FALSE(std::get<ack_job>(decode_ack(body)).delivery);
    auto nack = std::get<nack_job>(decode_nack(body));
    CHECK(nack.retryable);
    CHECK(nack.reason.empty());
    CHECK(complaints_about("defer", body, "retryAfter") == just("is required"));
    CHECK(complaints_about("touch", body, "extend") == just("is required"));
    CHECK(complaints_about("hold", body, "retryAfter") == just("is required"));
  }
}

TEST_CASE("every field of a report arrives where it belongs") {
  CHECK(std::get<ack_job>(decode_ack(R"({"delivery":7})")).delivery == 7);
  auto nack = std::get<nack_job>(
    decode_nack(R"({"delivery":1,"retryable":false,"reason":"bad"})"));
  CHECK(nack.delivery == 1);
  CHECK_FALSE(nack.retryable);
  CHECK(nack.reason == "bad");
  auto defer = std::get<defer_job>(decode_defer(
    R"({"delivery":2,"retryAfter":1.5,"scope":"key","reason":"busy"})"));
  CHECK(defer.delivery == 2);
  CHECK(defer.wait == 1500ms);
  CHECK(defer.scope == defer_scope::key);
  CHECK(defer.reason == "busy");
  auto touch = std::get<touch_job>(decode_touch(R"({"extend":60})"));
  CHECK(touch.extend == 60s);
  auto hold = std::get<hold_queue>(
    decode_hold(R"({"retryAfter":"30s","reason":"upgrade"})"));
  CHECK(hold.wait == 30s);
  CHECK(hold.reason == "upgrade");
}

TEST_CASE("a defer names its scope, or leaves it to the queue") {
  auto scope_of = [](const std::string& more) {
    return std::get<defer_job>(decode_defer("{\"retryAfter\":1" + more + "}"))
      .scope;
  };
  CHECK_FALSE(scope_of(""));
  CHECK(scope_of(R"(,"scope":"queue")") == defer_scope::queue);
  CHECK(scope_of(R"(,"scope":"job")") == defer_scope::job);
}

TEST_CASE("a wait is a number of seconds or says its unit") {
  CHECK(wait_of("0") == 0s);
  CHECK(wait_of("-0") == 0s);
  CHECK(wait_of("0.0001") == 1ms);
  CHECK(wait_of("2592001") == 2'592'001s);
  CHECK(wait_of("\"5s\"") == 5s);
  CHECK(wait_of("\"0.25s\"") == 250ms);
  CHECK(wait_of("\"\\u0035s\"") == 5s);
  for (auto token : {"1e300", "1e999", "99999999999999999999",
                     "\"99999999999999999999999s\""})
    CHECK(wait_of(token) == longest_wait);
}

TEST_CASE("what is no wait is refused") {
  for (std::string token :
       {"-1", "-0.001", "-1e999", "\"\"", "\"s\"", "\"5\"", "\"-5s\"",
        "\"+5s\"", "\"5 s\"", "\"5S\"", "\"5m\"", "\"1e3s\"", "\"5.s\"",
        "\".5s\"", "\"infs\"", "null", "true", "[]"}) {
    CAPTURE(token);
    for (auto kind : {"defer", "hold"})
      CHECK(
        complaints_about(kind, "{\"retryAfter\":" + token + "}", "retryAfter")
        == just("must be a number of seconds from 0 on, or a string like "
                "\"30s\", got "
                + token));
  }
}

TEST_CASE("a reason has at most 500 characters") {
  auto about = [](const std::string& kind, const std::string& reason) {
    return complaints_about(
      kind, "{\"retryAfter\":1,\"reason\":\"" + reason + "\"}", "reason");
  };
  std::string wide;
  for (auto i = 0; i < 500; ++i)
    wide += "\xe2\x82\xac";
  for (auto kind : {"defer", "hold"}) {
    CHECK(about(kind, wide).empty());
    CHECK(about(kind, wide + "x")
          == just("must be at most 500 characters, got 501"));
    CHECK(about(kind, "\\udc00")
          == just("must not escape half a surrogate pair"));
  }
  CHECK(complaints_about("nack", R"({"reason":null})", "reason")
        == just("must be a string, got null"));
}

TEST_CASE("a reason is kept without NUL") {
  CHECK(std::get<nack_job>(decode_nack(R"({"reason":"a\u0000b"})")).reason
        == "a\xef\xbf\xbd"
           "b");
}

TEST_CASE("the number of a delivery is an integer from 1 on") {
  for (auto kind : {"ack", "nack", "defer", "touch"}) {
    CHECK(complaints_about(kind, R"({"delivery":9007199254740991})", "delivery")
            .empty());
    for (std::string token : {"0", "-1", "9007199254740992", "1e3", "1.0"})
      CHECK(complaints_about(kind, "{\"delivery\":" + token + "}", "delivery")
              .size()
            == 1);
    CHECK(complaints_about(kind, R"({"delivery":"1"})", "delivery")
          == just("must be an integer, got a string"));
  }
}

TEST_CASE("an extension is 1 s to 7 days") {
  auto about = [](const std::string& token) {
    return complaints_about("touch", "{\"extend\":" + token + "}", "extend");
  };
  CHECK(about("1").empty());
  CHECK(about("604800").empty());
  for (std::string token : {"0", "0.5", "604801", "-1", "1e999"})
    CHECK(about(token) == just("must be 1 to 604800, got " + token));
  CHECK(about("\"60s\"") == just("must be a number, got a string"));
}

TEST_CASE("fields that a report does not have are refused and named") {
  struct row {
    std::string kind, field;
  };
  auto i = GENERATE(values<row>({{"ack", "reason"},
                                 {"ack", "retryable"},
                                 {"nack", "retryAfter"},
                                 {"defer", "retryable"},
                                 {"touch", "retryAfter"},
                                 {"hold", "delivery"},
                                 {"hold", "scope"}}));
  CHECK(complaints_about(i.kind, "{\"" + i.field + "\":1}", i.field)
        == just("is not a known field"));
}

TEST_CASE("other wrong fields of a report are refused with what is wanted") {
  CHECK(complaints_about("nack", R"({"retryable":1})", "retryable")
        == just("must be a boolean, got a number"));
  CHECK(complaints_about("defer", R"({"scope":"all"})", "scope")
        == just("must be queue, job or key, got 'all'"));
  CHECK(complaints_about("ack", R"({"delivery":1,"delivery":1})", "delivery")
        == just("is given more than once"));
  CHECK(is_malformed(decode_ack("{")));
  CHECK(is_malformed(decode_ack(" ")));
}
