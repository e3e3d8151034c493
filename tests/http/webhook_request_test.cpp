// What is sent, byte for byte.

#include <catch2/catch.hpp>

#include "http/iso8601.hpp"
#include "http/message_json.hpp"
#include "http/signature.hpp"
#include "http/webhook_request.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

delivery example() {
  delivery result;
  result.job = {{7}, {42}, 4711};
  result.queue_name = "emails";
  result.payload = payload{R"({"to":"a@b.com"})"};
  result.attempt = 2;
  result.max_attempts = 3;
  result.defers = 5;
  result.number = 7;
  result.created_at = wall_time{std::chrono::seconds{1767225600}};
  result.started_at = wall_time{duration{1767225601'999'999}};
  result.url = "https://hooks.example/in?a=b#fragment";
  result.headers = {{"Authorization", "Bearer x"}, {"x-empty", ""}};
  result.secrets = {"whsec_test_secret"};
  return result;
}

std::string request_of(const delivery& what) {
  return webhook_request(what, *parse_webhook_url(what.url));
}

} // namespace

TEST_CASE("the request is what the contract says") {
  auto what = example();
  auto id = to_string(what.job);
  auto body = "{\"id\":\"" + id
              + "\",\"queue\":\"emails\",\"payload\":{\"to\":\"a@b.com\"},"
                "\"attempt\":2,\"maxAttempts\":3,\"deferCount\":5,"
                "\"createdAt\":\"2026-01-01T00:00:00.000Z\"}";
  CHECK(webhook_body(what) == body);
  CHECK(request_of(what)
        == "POST /in?a=b HTTP/1.1\r\n"
           "host: hooks.example\r\n"
           "user-agent: tidegate/" TIDEGATE_VERSION "\r\n"
           "content-type: application/json\r\n"
           "content-length: "
             + std::to_string(body.size())
             + "\r\n"
               "x-tidegate-delivery: 7\r\n"
               "x-simpleq-signature: "
             + body_signature("whsec_test_secret", body)
             + "\r\n"
               "webhook-id: "
             + id
             + "\r\n"
               "webhook-timestamp: 1767225601\r\n"
               "webhook-signature: "
             + standard_signature("whsec_test_secret", id, "1767225601", body)
             + "\r\n"
               "Authorization: Bearer x\r\n"
               "x-empty: \r\n"
               "\r\n"
             + body);
}

TEST_CASE("the trace of the publisher goes along") {
  auto what = example();
  CHECK(request_of(what).find("\r\ntrace") == std::string::npos);
  what.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  CHECK(request_of(what).find("\r\ntraceparent: " + what.traceparent + "\r\n")
        != std::string::npos);
  CHECK(request_of(what).find("tracestate") == std::string::npos);
  what.tracestate = "a=1,b=2";
  CHECK(request_of(what).find("\r\ntracestate: a=1,b=2\r\n")
        != std::string::npos);
}

TEST_CASE("while a rotation overlaps, both secrets sign") {
  auto what = example();
  what.secrets = {"whsec_new", "whsec_old"};
  auto id = to_string(what.job);
  auto body = webhook_body(what);
  auto request = request_of(what);
  auto has = [&](const std::string& line) {
    return request.find("\r\n" + line + "\r\n") != std::string::npos;
  };
  CHECK(has("x-simpleq-signature: " + body_signature("whsec_new", body)));
  CHECK(
    has("x-simpleq-signature-previous: " + body_signature("whsec_old", body)));
  CHECK(has("webhook-signature: "
            + standard_signature("whsec_new", id, "1767225601", body) + ' '
            + standard_signature("whsec_old", id, "1767225601", body)));
}

TEST_CASE("a message is pushed as receivers see it") {
  auto what = example();
  message_view message;
  message.job.id = {queue_id{1}, job_seq{7}, 8};
  message.job.payload = payload{"{\"n\": 1.0}"};
  message.job.attempts = 2;
  message.queue_name = "out";
  message.status = message_status::in_flight;
  what.job = message.job.id;
  what.message = std::make_shared<const message_view>(message);
  auto body = webhook_body(what);
  CHECK(body == encode(message));
  CHECK(body.find("\"payload\":{\"n\": 1.0},\"status\":\"in_flight\","
                  "\"delivery_count\":2")
        != std::string::npos);
  CHECK(body.find("receipt_handle") == std::string::npos);
  auto id = to_string(message_id{job_seq{7}, 8});
  CHECK(request_of(what).find("\r\nwebhook-id: " + id + "\r\n")
        != std::string::npos);
}

TEST_CASE("a payload is never parsed and printed again") {
  auto text = GENERATE(as<std::string>{}, "12345678901234567890123",
                       R"({"b":1,"a":1e5,"b":"\u00e9\/"})", " {\n} ",
                       "\"a\xff\"", "");
  auto what = example();
  what.payload = payload{text};
  CHECK(webhook_body(what).find("\"payload\":" + text + ",\"attempt\"")
        != std::string::npos);
}

TEST_CASE("a URL is taken apart into what a request needs") {
  auto [url, authority, target, origin] =
    GENERATE(table<std::string, std::string, std::string, std::string>({
      {"http://a.example", "a.example", "/", "http://a.example:80"},
      {"HTTP://A.Example:/", "a.example", "/", "http://a.example:80"},
      {"http://a.example:443/x", "a.example:443", "/x", "http://a.example:443"},
      {"https://a.example:443?q", "a.example", "/?q", "https://a.example:443"},
      {"https://a.example:8443/%20?a=%2F&b#f", "a.example:8443", "/%20?a=%2F&b",
       "https://a.example:8443"},
      {"http://[2001:DB8:0::1]:81/", "[2001:db8::1]:81", "/",
       "http://[2001:db8::1]:81"},
      {"http://127.0.0.1/", "127.0.0.1", "/", "http://127.0.0.1:80"},
      {"http://127.0.0.1.nip.example:81/x", "127.0.0.1.nip.example:81", "/x",
       "http://127.0.0.1.nip.example:81"},
      {"http://my_host./", "my_host.", "/", "http://my_host.:80"},
    }));
  auto parsed = parse_webhook_url(url);
  REQUIRE(parsed);
  CHECK(parsed->authority == authority);
  CHECK(parsed->target == target);
  CHECK(parsed->origin == origin);
}

TEST_CASE("a URL that cannot be called is refused") {
  auto url = GENERATE(
    as<std::string>{}, "", "/in", "a.example/in", "//a.example/",
    "http:", "http://", "http:///x", "http://:80/", "ftp://a.example/",
    "ws://a.example/", "file:///etc/passwd", "http://user@a.example/",
    "http://user:pw@a.example/", "http://@a.example/", "http://a.example:0/",
    "http://a.example:65536/", "http://a.example:99999999999/",
    "http://a.example:x/", "http://a.example:8a/b", "http://127.0.0.1:+80/",
    "http://[::1]x/", "http://[127.0.0.1]/", "http://[::1]:x/",
    "http://a.example:80:80/", "http://a b/", "http://a.example/a b",
    "http://a.example/\r\nx: y",
    "http://b\xc3\xbc"
    "cher.example/",
    "http://b%C3%BCcher.example/", "http://a%2eexample/", "http://[::1/",
    "http://[v1.x]/", "http://[fe80::1%25eth0]/", "http://.example/",
    "http://a.example/%zz", "http://a!b/", "http://" + std::string(9000, 'a'));
  auto parsed = parse_webhook_url(url);
  INFO(url);
  REQUIRE_FALSE(parsed);
  CHECK_FALSE(parsed.reason().message.empty());
}

TEST_CASE("an instant is printed in UTC and always as wide") {
  auto [us, milliseconds,
        microseconds] = GENERATE(table<std::int64_t, std::string, std::string>({
    {0, "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000000Z"},
    {999'999, "1970-01-01T00:00:00.999Z", "1970-01-01T00:00:00.999999Z"},
    {-1, "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999999Z"},
    {1'709'209'845'001'002, "2024-02-29T12:30:45.001Z",
     "2024-02-29T12:30:45.001002Z"},
    {far_future.time_since_epoch().count(), "9999-12-31T23:59:59.999Z",
     "9999-12-31T23:59:59.999999Z"},
    {INT64_MAX, "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999999Z"},
    {INT64_MIN, "0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000000Z"},
  }));
  wall_time at{duration{us}};
  CHECK(to_iso8601(at) == milliseconds);
  CHECK(to_iso8601(at, precision::microseconds) == microseconds);
}
