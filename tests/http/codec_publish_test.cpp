#include "codec_testing.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;

namespace {

std::string payload_of(std::string_view body) {
  return std::get<publish>(decode_publish(body)).payload.bytes();
}

std::string with_payload(std::string_view payload) {
  return "{\"payload\":" + std::string{payload} + "}";
}

std::string with_delay(std::string_view delay) {
  return "{\"payload\":1,\"delay\":" + std::string{delay} + "}";
}

} // namespace

TEST_CASE("a payload is kept byte for byte") {
  for (std::string_view payload :
       {"123456789012345678901234567890", "1E5", "-0", "0.10", "1e999",
        R"({"a":1,"a":2})", "[ 1 ,\n2\t]", R"("\u00e4\/\ud800")", "null",
        "false", R"("")", "{ }", "\"\xf0\x9f\x98\x80\"",
        R"({"z":1,"a":{"payload":"x","delay":[]}})"}) {
    CAPTURE(payload);
    CHECK(payload_of(with_payload(payload)) == payload);
  }
}

TEST_CASE("blanks around a payload are not part of it") {
  CHECK(payload_of(" {\"payload\" : \r\n [ 1 ] \t, \"delay\":1 } ") == "[ 1 ]");
}

TEST_CASE("a payload may be nested 128 levels deep and no deeper") {
  auto nested = [](unsigned depth) {
    return with_payload(std::string(depth, '[') + std::string(depth, ']'));
  };
  CHECK(is_sound(decode_publish(nested(128))));
  CHECK(is_malformed(decode_publish(nested(129))));
  CHECK(is_malformed(decode_publish(with_payload(std::string(900'000, '[')))));
}

TEST_CASE("bodies that are no JSON are told where they go wrong") {
  auto wrong = std::get<malformed>(decode_publish("{\"payload\":1,}"));
  CHECK(wrong.sentence == "The body is not valid JSON: expected a key at byte "
                          "13");
  for (std::string_view body :
       {"", "{", "{\"payload\":}", "{\"payload\":1}x", "{\"payload\":01}",
        "{\"payload\":\"\xff\"}", "{\"payload\":\"\x01\"}", "\xef\xbb\xbf{}"})
    CHECK(is_malformed(decode_publish(body)));
}

TEST_CASE("a body that is no object is refused") {
  auto wrong = std::get<complaints>(decode_publish("[1]"));
  CHECK(wrong.form == just("The body must be an object, got an array"));
}

TEST_CASE("a job needs a payload, even if it is null") {
  CHECK(complaints_of(decode_publish("{}"), "payload") == just("is required"));
  CHECK(payload_of(with_payload("null")) == "null");
}

TEST_CASE("unknown fields of a job are refused and named") {
  auto wrong =
    decode_publish(R"({"payload":1,"dealy":5,"traceparent":"x","status":"k"})");
  for (auto field : {"dealy", "traceparent", "status"})
    CHECK(complaints_of(wrong, field) == just("is not a known field"));
}

TEST_CASE("fields of a job that are given twice are refused and named") {
  auto wrong =
    decode_publish(R"({"payload":1,"payload":1,"delay":1,"del\u0061y":2})");
  CHECK(complaints_of(wrong, "payload") == just("is given more than once"));
  CHECK(complaints_of(wrong, "delay") == just("is given more than once"));
}

TEST_CASE("a name may be spelled with escapes") {
  CHECK(payload_of(R"({"p\u0061yload":[1]})") == "[1]");
}

TEST_CASE("everything that is wrong with a job is said at once") {
  auto wrong = std::get<complaints>(
    decode_publish(R"({"delay":"5","idempotencyKey":7,"x":1})"));
  CHECK(wrong.fields.size() == 4);
}

TEST_CASE("the delay is in range or refused with its range") {
  auto delay_of = [](std::string_view text) {
    return std::get<publish>(decode_publish(with_delay(text))).delay;
  };
  CHECK(delay_of("0") == duration{0});
  CHECK(delay_of("-0") == duration{0});
  CHECK(delay_of("2592000") == std::chrono::seconds{2'592'000});
  CHECK(delay_of("0.25") == std::chrono::milliseconds{250});
  CHECK(delay_of("1e1") == std::chrono::seconds{10});
  CHECK(delay_of("0.0001") == std::chrono::milliseconds{1});
  CHECK(delay_of("1e-999") == duration{0});
  for (std::string text :
       {"-1", "-0.001", "2592001", "2592000.1", "90000000", "1e999", "-1e999"})
    CHECK(complaints_of(decode_publish(with_delay(text)), "delay")
          == just("must be 0 to 2592000, got " + text));
}

TEST_CASE("a delay of the wrong type is refused, never converted") {
  CHECK(complaints_of(decode_publish(with_delay("\"5\"")), "delay")
        == just("must be a number, got a string"));
  CHECK(complaints_of(decode_publish(with_delay("null")), "delay")
        == just("must be a number, got null"));
  CHECK(complaints_of(decode_publish(with_delay("true")), "delay")
        == just("must be a number, got a boolean"));
}

TEST_CASE("an idempotency key has 1 to 255 bytes") {
  auto with_key = [](std::string_view key) {
    return decode_publish(R"({"payload":1,"idempotencyKey":")"
                          + std::string{key} + "\"}");
  };
  auto key_of = [&](std::string_view key) {
    return std::get<publish>(with_key(key)).idempotency_key;
  };
  CHECK(key_of("a") == "a");
  CHECK(key_of("\\u00e4\\n") == "\xc3\xa4\n");
  CHECK(key_of(std::string(255, 'k')).size() == 255);
  CHECK(complaints_of(with_key(""), "idempotencyKey")
        == just("must be 1 to 255 bytes, got 0"));
  CHECK(complaints_of(with_key(std::string(256, 'k')), "idempotencyKey")
        == just("must be 1 to 255 bytes, got 256"));
  CHECK(complaints_of(with_key("\\ud800"), "idempotencyKey")
        == just("must not escape half a surrogate pair"));
}

TEST_CASE("every field of a job arrives where it belongs") {
  auto job = std::get<publish>(decode_publish(
    R"({"payload":1,"idempotencyKey":"i","runAt":"2026-01-01T14:00:00+02:00",
        "priority":9,"limitKey":"tenant","headers":{"X-B":"1","X-A":"2"}})"));
  CHECK(job.idempotency_key == "i");
  CHECK(job.run_at == wall_time{std::chrono::seconds{1'767'268'800}});
  CHECK(job.priority == 9);
  CHECK(job.limit_key == "tenant");
  CHECK(job.context->headers
        == std::vector<header>{{"X-B", "1"}, {"X-A", "2"}});
  auto plain = std::get<publish>(decode_publish(with_payload("1")));
  CHECK_FALSE(plain.run_at);
  CHECK(plain.priority == 0);
  CHECK(plain.limit_key.empty());
  CHECK(plain.context.empty());
}

TEST_CASE("fields of a job that are wrong are refused with what is wanted") {
  struct row {
    std::string name, token, message;
  };
  auto i = GENERATE(values<row>({
    {"priority", "-1", "must be 0 to 9, got -1"},
    {"priority", "10", "must be 0 to 9, got 10"},
    {"priority", "1.0",
     "must be an integer without fraction or exponent, got 1.0"},
    {"priority", "\"1\"", "must be an integer, got a string"},
    {"priority", "null", "must be an integer, got null"},
    {"limitKey", "\"\"", "must be 1 to 128 characters, got 0"},
    {"limitKey", "7", "must be a string, got a number"},
    {"limitKey", "\"\\ud800\"", "must not escape half a surrogate pair"},
    {"runAt", "1767268800", "must be a string, got a number"},
    {"runAt", "\"tomorrow\"",
     "must be a time like 2026-01-01T00:00:00Z or "
     "2026-01-01T00:00:00.5+02:00, got 'tomorrow'"},
    {"headers", "[]", "must be an object, got an array"},
    {"headers", "{\"Host\":\"a\"}", "must not set the reserved header 'Host'"},
  }));
  CAPTURE(i.name, i.token);
  auto wrong =
    decode_publish("{\"payload\":1,\"" + i.name + "\":" + i.token + "}");
  CHECK(complaints_of(wrong, i.name) == just(i.message));
}

TEST_CASE("a limit key is counted in characters, not bytes") {
  auto with_key = [](int n) {
    std::string key;
    while (n-- > 0)
      key += "\xf0\x9f\x98\x80";
    return decode_publish(R"({"payload":1,"limitKey":")" + key + "\"}");
  };
  CHECK(std::get<publish>(with_key(128)).limit_key.size() == 512);
  CHECK(complaints_of(with_key(129), "limitKey")
        == just("must be 1 to 128 characters, got 129"));
}

TEST_CASE("a job has a delay or a time, not both") {
  auto wrong =
    decode_publish(R"({"payload":1,"delay":0,"runAt":"2026-01-01T00:00:00Z"})");
  CHECK(complaints_of(wrong, "runAt")
        == just("must not be given together with delay"));
}

TEST_CASE("jobs of a batch stand for themselves") {
  auto batch = std::get<publish_batch_body>(decode_publish_batch(
    R"({"jobs":[{"payload":1},{"delay":-1},7,{"payload":2,"priority":3}]})"));
  REQUIRE(batch.jobs.size() == 2);
  CHECK(batch.jobs[0].payload.bytes() == "1");
  CHECK(batch.jobs[1].priority == 3);
  REQUIRE(batch.refusals.size() == 4);
  CHECK(batch.refusals[0].empty());
  CHECK(batch.refusals[1]
        == R"({"ok":false,"error":{"formErrors":[],"fieldErrors":{"payload":)"
           R"(["is required"],"delay":["must be 0 to 2592000, got -1"]}},)"
           R"("code":"validation_failed"})");
  CHECK(batch.refusals[2]
        == R"({"ok":false,"error":{"formErrors":["The body must be an object,)"
           R"( got a number"],"fieldErrors":{}},"code":"validation_failed"})");
  CHECK(batch.refusals[3].empty());
}

TEST_CASE("a payload that is nested too deeply spoils its own entry only") {
  auto batch = std::get<publish_batch_body>(decode_publish_batch(
    "{\"jobs\":[" + with_payload(std::string(129, '[') + std::string(129, ']'))
    + "," + with_payload(std::string(128, '[') + std::string(128, ']'))
    + "]}"));
  CHECK(batch.jobs.size() == 1);
  CHECK(batch.refusals[0].find("nested too deeply") != std::string::npos);
  CHECK(is_malformed(
    decode_publish_batch("{\"jobs\":[" + std::string(900'000, '['))));
}

TEST_CASE("a batch has 1 to 1000 jobs") {
  auto batch_of = [](int n) {
    std::string jobs;
    for (auto i = 0; i < n; ++i)
      jobs += (i == 0 ? "" : ",") + with_payload("1");
    return decode_publish_batch("{\"jobs\":[" + jobs + "]}");
  };
  CHECK(std::get<publish_batch_body>(batch_of(1000)).jobs.size() == 1000);
  CHECK(complaints_of(batch_of(0), "jobs")
        == just("must be 1 to 1000 jobs, got 0"));
  CHECK(complaints_of(batch_of(1001), "jobs")
        == just("must be 1 to 1000 jobs, got 1001"));
  CHECK(complaints_of(decode_publish_batch("{}"), "jobs")
        == just("is required"));
  CHECK(complaints_of(decode_publish_batch(R"({"jobs":{}})"), "jobs")
        == just("must be an array, got an object"));
  CHECK(complaints_of(decode_publish_batch(R"({"jobs":[1],"job":1})"), "job")
        == just("is not a known field"));
  CHECK(is_malformed(decode_publish_batch("")));
}

TEST_CASE("a body without meaning is empty or an empty object") {
  CHECK(is_sound(decode_nothing("")));
  CHECK(is_sound(decode_nothing(" { } ")));
  CHECK(is_malformed(decode_nothing("{")));
  CHECK(complaints_of(decode_nothing(R"({"a":1})"), "a")
        == just("is not a known field"));
}
