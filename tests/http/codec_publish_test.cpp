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
  auto wrong = decode_publish(
    R"({"payload":1,"dealy":5,"priority":1,"runAt":"x","limitKey":"k"})");
  for (auto field : {"dealy", "priority", "runAt", "limitKey"})
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

TEST_CASE("a body without meaning is empty or an empty object") {
  CHECK(is_sound(decode_nothing("")));
  CHECK(is_sound(decode_nothing(" { } ")));
  CHECK(is_malformed(decode_nothing("{")));
  CHECK(complaints_of(decode_nothing(R"({"a":1})"), "a")
        == just("is not a known field"));
}
