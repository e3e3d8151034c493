// What is read of pull queues and their messages.

#include "http/codec_pull.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "test_certificates.hpp"

#include "codec_testing.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using kind = settle_message::kind;

const message_id some_id{job_seq{7}, 8};

std::string id_text() {
  return '"' + to_string(some_id) + '"';
}

/// A body for `queue` q with one more member.
std::string with(const std::string& rest, const std::string& name,
                 std::string_view value) {
  return R"({"queue":"q",)" + rest + "\"" + name + "\":" + std::string{value}
         + "}";
}

auto published(const std::string& name, std::string_view value) {
  return decode_publish_message(with(R"("payload":1,)", name, value));
}

auto consumed(const std::string& name, std::string_view value) {
  return decode_consume(with({}, name, value));
}

auto settled(kind what, const std::string& name, std::string_view value) {
  return decode_settle(with("\"message_id\":" + id_text() + ",", name, value),
                       what);
}

auto created(const std::string& name, std::string_view value) {
  return decode_create_pull_queue(R"({"name":"q",")" + name
                                  + "\":" + std::string{value} + "}");
}

/// What `read` says of values that are no whole number in a range.
template <class F>
void check_whole(const std::string& name, const std::string& range, F read) {
  CAPTURE(name);
  for (std::string value : {"-1", "1.5", "1e2", "\"60\"", "null", "true", "[]",
                            "1.0", "99999999999999999999", "604801"}) {
    auto shown = value;
    CHECK(complaints_of(read(name, value), name)
          == just("must be a whole number from " + range + ", got " + shown));
  }
}

} // namespace

TEST_CASE("whole numbers are taken within their ranges") {
  for (std::string_view value : {"0", "604800", "60"})
    CHECK(is_sound(published("delay_seconds", value)));
  for (std::string_view value : {"1", "10"})
    CHECK(is_sound(consumed("max_messages", value)));
  for (std::string_view value : {"1", "43200"})
    CHECK(is_sound(consumed("visibility_timeout", value)));
  for (std::string_view value : {"0", "20"})
    CHECK(is_sound(consumed("wait_seconds", value)));
  for (std::string_view value : {"0", "9"})
    CHECK(is_sound(published("priority", value)));
  CHECK(is_sound(settled(kind::nack, "delay_seconds", "604800")));
  CHECK(is_sound(settled(kind::extend, "visibility_timeout", "43200")));
}

TEST_CASE("whole numbers are neither clamped nor converted") {
  check_whole("delay_seconds", "0 to 604800",
              [](auto&... x) { return published(x...); });
  check_whole("priority", "0 to 9", [](auto&... x) { return published(x...); });
  check_whole("max_messages", "1 to 10",
              [](auto&... x) { return consumed(x...); });
  check_whole("visibility_timeout", "1 to 43200",
              [](auto&... x) { return consumed(x...); });
  check_whole("wait_seconds", "0 to 20",
              [](auto&... x) { return consumed(x...); });
  check_whole("delay_seconds", "0 to 604800",
              [](auto&... x) { return settled(kind::nack, x...); });
  check_whole("visibility_timeout", "1 to 43200",
              [](auto&... x) { return settled(kind::extend, x...); });
  check_whole("max_receive_count", "0 to 1000",
              [](auto&... x) { return created(x...); });
  check_whole("message_retention_days", "1 to 30",
              [](auto&... x) { return created(x...); });
  check_whole("visibility_timeout_default", "1 to 43200",
              [](auto&... x) { return created(x...); });
  check_whole("delay_seconds_default", "0 to 604800",
              [](auto&... x) { return created(x...); });
  for (std::string_view value : {"0", "11"})
    CHECK(complaints_of(consumed("max_messages", value), "max_messages").size()
          == 1);
}

TEST_CASE("a payload is kept byte for byte and is any JSON value but null") {
  for (std::string value :
       {R"({"a":1,"a":2})", "[ 1 ,\n2\t]", "123456789012345678901234567890",
        "1E5", "false", R"("\u00e4\/\ud800")"}) {
    auto body = R"({"queue":"q","payload": )" + value + "}";
    auto read = std::get<0>(decode_publish_message(body));
    CHECK(read.what.payload.bytes() == value);
    CHECK(read.queue == "q");
  }
  CHECK(complaints_of(decode_publish_message(R"({"queue":"q","payload":null})"),
                      "payload")
        == just("must be any JSON value but null"));
  CHECK(complaints_of(decode_publish_message(R"({"queue":"q"})"), "payload")
        == just("is required"));
}

TEST_CASE("everything that a message may have arrives") {
  auto read = std::get<0>(decode_publish_message(
    R"({"queue":"q","payload":{},"delay_seconds":60,"priority":5,)"
    R"("headers":{"a":"b","c":""},"idempotency_key":"k"})"));
  CHECK(read.what.delay == 60s);
  CHECK(read.what.priority == 5);
  CHECK(read.what.headers == std::vector<header>{{"a", "b"}, {"c", ""}});
  CHECK(read.what.idempotency_key == "k");
  auto plain =
    std::get<0>(decode_publish_message(R"({"queue":"q","payload":1})"));
  CHECK_FALSE(plain.what.delay);
}

TEST_CASE("fields that are not known yet are named") {
  for (std::string name : {"group", "delay", "dealy_seconds"})
    CHECK(complaints_of(published(name, "1"), name)
          == just("is not a known field"));
  CHECK(complaints_of(decode_redrive(R"({"perSecond":1})"), "perSecond")
        == just("is not a known field"));
}

TEST_CASE("a queue has to be named, and named well") {
  for (std::string body :
       {R"({"payload":1})", R"({"payload":1,"queue":""})",
        R"({"payload":1,"queue":"a b"})", R"({"payload":1,"queue":7})"}) {
    CAPTURE(body);
    CHECK(complaints_of(decode_publish_message(body), "queue").size() == 1);
  }
}

TEST_CASE("headers of a message are few and printable") {
  for (std::string_view value :
       {"[]", R"({"a":1})", R"({"":"x"})", R"({"a":"x\u0001"})",
        R"({"a\n":"x"})", R"({"a":"x","a":"y"})"}) {
    CAPTURE(value);
    CHECK_FALSE(is_sound(published("headers", value)));
  }
  std::string many = "{";
  for (auto i = 0; i < 33; ++i)
    many += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"x\"";
  CHECK(complaints_of(published("headers", many + "}"), "headers")
        == just("must be at most 32, got 33"));
}

TEST_CASE("a batch refuses what is wrong and takes the rest") {
  auto read = std::get<0>(decode_publish_messages(
    R"({"queue":"q","messages":[{"payload":1},{"payload":2,"queue":"x"},)"
    R"(7,{"payload":3,"delay_seconds":-1},{"payload":4}]})"));
  CHECK(read.entries.size() == 2);
  REQUIRE(read.refusals.size() == 5);
  CHECK(read.refusals[0].empty());
  CHECK(read.refusals[1].starts_with(
    R"({"ok":false,"error":{"code":"INVALID_ARGUMENT",)"));
  CHECK(read.refusals[3].find(
          "delay_seconds must be a whole number from 0 to 604800, got -1")
        != std::string::npos);
  CHECK(complaints_of(decode_publish_messages(R"({"queue":"q","messages":[]})"),
                      "messages")
        == just("must be 1 to 1000 entries, got 0"));
}

TEST_CASE("what is said of a message arrives") {
  auto handle = make_receipt(some_id, 3);
  auto text = '"' + to_string(handle) + '"';
  auto read = std::get<0>(settled(kind::release, "receipt_handle", text)).what;
  CHECK(read.what == kind::release);
  CHECK(read.id == some_id);
  CHECK(read.handle == handle);
  CHECK(std::get<0>(settled(kind::nack, "delay_seconds", "5")).what.wait == 5s);
  CHECK(std::get<0>(settled(kind::extend, "visibility_timeout", "9")).what.wait
        == 9s);
  CHECK(complaints_of(settled(kind::extend, "receipt_handle", text),
                      "visibility_timeout")
        == just("is required"));
  CHECK_FALSE(is_sound(settled(kind::ack, "delay_seconds", "5")));
  CHECK_FALSE(is_sound(settled(kind::release, "publish", "{}")));
}

TEST_CASE("ids and handles that there cannot be are looked for in vain") {
  auto read = std::get<0>(decode_settle(
    R"({"queue":"q","message_id":"nonsense","receipt_handle":""})", kind::ack));
  CHECK(read.what.id == message_id{});
  CHECK(read.what.handle == receipt{});
  CHECK_FALSE(
    is_sound(decode_settle(R"({"queue":"q","message_id":7})", kind::ack)));
}

TEST_CASE("an ack may publish what follows, to the same queue or another") {
  auto read = std::get<0>(
    settled(kind::ack, "publish", R"({"payload":[1],"delay_seconds":60})"));
  REQUIRE(read.what.successor);
  CHECK(read.what.successor->payload.bytes() == "[1]");
  CHECK(read.what.successor->delay == 60s);
  CHECK(read.what.successor_queue.empty());
  read =
    std::get<0>(settled(kind::ack, "publish", R"({"queue":"r","payload":{}})"));
  CHECK(read.what.successor_queue == "r");
  auto wrong = settled(kind::ack, "publish", R"({"delay_seconds":-1,"x":1})");
  CHECK(complaints_of(wrong, "publish.payload") == just("is required"));
  CHECK(complaints_of(wrong, "publish.delay_seconds").size() == 1);
  CHECK(complaints_of(wrong, "publish.x") == just("is not a known field"));
}

TEST_CASE("a payload may be as deep in an ack as elsewhere") {
  auto nested = std::string(128, '[') + std::string(128, ']');
  CHECK(is_sound(published("headers", "{}")));
  CHECK(is_sound(
    decode_publish_message(R"({"queue":"q","payload":)" + nested + "}")));
  CHECK(
    is_sound(settled(kind::ack, "publish", R"({"payload":)" + nested + "}")));
}

TEST_CASE("entries of a batch say what single calls say, but for the queue") {
  auto body = [](std::string_view entry) {
    return R"({"queue":"q","entries":[)" + std::string{entry} + "]}";
  };
  auto entry = "{\"message_id\":" + id_text() + ",\"delay_seconds\":5}";
  auto nacks = std::get<0>(decode_settle_batch(body(entry), kind::nack));
  REQUIRE(nacks.entries.size() == 1);
  CHECK(nacks.entries[0].wait == 5s);
  CHECK(nacks.entries[0].what == kind::nack);
  auto acks = std::get<0>(decode_settle_batch(body(entry), kind::ack));
  CHECK(acks.entries.empty());
  CHECK(acks.refusals.size() == 1);
}

TEST_CASE("a queue has its defaults or what is set") {
  auto plain = std::get<create_pull_queue>(created("type", "\"standard\""));
  CHECK(plain.settings == pull_settings{});
  auto set = std::get<create_pull_queue>(decode_create_pull_queue(
    R"({"name":"q","dead_letter_queue":"d","max_receive_count":0,)"
    R"("message_retention_days":30,"visibility_timeout_default":1,)"
    R"("delay_seconds_default":2,"enable_priority":true,)"
    R"("idempotency_key":"k"})"));
  CHECK(set.settings.dead_letter_queue == "d");
  CHECK(set.settings.max_receive_count == 0);
  CHECK(set.settings.message_retention == std::chrono::hours{720});
  CHECK(set.settings.visibility_timeout == 1s);
  CHECK(set.settings.delay == 2s);
  CHECK(set.settings.enable_priority);
}

TEST_CASE("retries are receives less one") {
  auto receives = [](const std::string& rest) {
    return decode_create_pull_queue(R"({"name":"q",)" + rest + "}");
  };
  auto count = [&](const std::string& rest) {
    return std::get<create_pull_queue>(receives(rest))
      .settings.max_receive_count;
  };
  CHECK(count(R"("max_retries":0)") == 1);
  CHECK(count(R"("max_retries":999)") == 1000);
  CHECK(count(R"("max_retries":4,"max_receive_count":5)") == 5);
  CHECK(complaints_of(receives(R"("max_retries":5,"max_receive_count":5)"),
                      "max_retries")
        == just("must be max_receive_count - 1, got 5 with max_receive_count "
                "5"));
}

TEST_CASE("the usual dead-letter queue is the same as none") {
  auto named =
    std::get<create_pull_queue>(created("dead_letter_queue", "\"q.dlq\""));
  CHECK(named.settings == pull_settings{});
  auto patch = std::get<pull_settings_patch>(
    decode_pull_patch(R"({"dead_letter_queue":"q.dlq"})", "q"));
  CHECK(patch.dead_letter_queue == "");
  CHECK(
    complaints_of(created("dead_letter_queue", "\"q\""), "dead_letter_queue")
    == just("must be another queue, got 'q'"));
}

TEST_CASE("groups and deduplication ids are those of a message") {
  auto read = std::get<0>(
    decode_publish_message(R"({"queue":"q","payload":1,"message_group_id":"g",)"
                           R"("deduplication_id":"d"})"));
  CHECK(read.what.group == "g");
  CHECK(read.what.idempotency_key == "d");
  CHECK(read.what.deduplicates);
  for (std::string name : {"message_group_id", "deduplication_id"}) {
    CHECK(complaints_of(published(name, "\"\""), name)
          == just("must be 1 to 128 characters, got 0"));
    CHECK(complaints_of(published(name, "7"), name).size() == 1);
  }
  CHECK(complaints_of(decode_publish_message(
                        R"({"queue":"q","payload":1,"idempotency_key":"k",)"
                        R"("deduplication_id":"d"})"),
                      "deduplication_id")
        == just("cannot be given together with idempotency_key"));
}

TEST_CASE("a subscription has its defaults or what is set") {
  auto plain = std::get<subscribe_webhook>(
    decode_push_subscription(R"({"url":"http://a.b/"})", {}));
  queue_settings settings;
  settings.webhook_url = "http://a.b/";
  CHECK(plain.settings == settings);
  CHECK_FALSE(plain.secret);
  auto set = std::get<subscribe_webhook>(decode_push_subscription(
    R"({"url":"http://a.b/","secret":"whsec_test_secret","concurrency":10000,)"
    R"("rate_limit_max":7,"timeout":0.5})",
    {}));
  CHECK(set.secret == "whsec_test_secret");
  CHECK(set.settings.concurrency == 10'000);
  CHECK(set.settings.rate_limit_max == 7u);
  CHECK(set.settings.timeout == 500ms);
  auto none = std::get<subscribe_webhook>(decode_push_subscription(
    R"({"url":"http://a.b/","rate_limit_max":null})", {}));
  CHECK_FALSE(none.settings.rate_limit_max);
}

TEST_CASE("a subscription may trust an authority of its own, or anybody") {
  http::testing::test_authority authority;
  nlohmann::json body{{"url", "https://a.b/"},
                      {"tls_ca", authority.certificate()},
                      {"tls_insecure", true}};
  auto set =
    std::get<subscribe_webhook>(decode_push_subscription(body.dump(), {}));
  CHECK(set.settings.tls_ca == authority.certificate());
  CHECK(set.settings.tls_insecure);
  body["tls_ca"] = nullptr;
  auto none =
    std::get<subscribe_webhook>(decode_push_subscription(body.dump(), {}));
  CHECK(none.settings.tls_ca.empty());
  body["tls_ca"] = "hello";
  CHECK(
    complaints_of(decode_push_subscription(body.dump(), {}), "tls_ca").size()
    == 1);
}

TEST_CASE("what is wrong with a subscription is named") {
  auto subscribed = [](const std::string& rest) {
    return decode_push_subscription("{" + rest + "}", [](const std::string&) {
      return std::optional<std::string>{"is not allowed"};
    });
  };
  CHECK(complaints_of(subscribed(""), "url") == just("is required"));
  CHECK(complaints_of(subscribed(R"("url":"http://a.b/")"), "url")
        == just("is not allowed"));
  CHECK(complaints_of(subscribed(R"("url":"ftp://a.b/")"), "url").size() == 1);
  CHECK(complaints_of(subscribed(R"("concurrency":0)"), "concurrency")
        == just("must be a whole number from 1 to 10000, got 0"));
  CHECK(
    complaints_of(subscribed(R"("rate_limit_max":100001)"), "rate_limit_max")
    == just("must be a whole number from 1 to 100000, got 100001"));
  CHECK(complaints_of(subscribed(R"("timeout":901)"), "timeout").size() == 1);
  CHECK(complaints_of(subscribed(R"("secret":"1234567")"), "secret").size()
        == 1);
  CHECK(complaints_of(subscribed(R"("secret":"with a space")"), "secret")
        == just("must be of printable ASCII characters without spaces"));
}

TEST_CASE("a queue is standard or fifo, and a patch changes neither") {
  auto fifo = std::get<create_pull_queue>(created("type", "\"fifo\""));
  CHECK(fifo.settings.fifo);
  CHECK(complaints_of(created("type", "\"lifo\""), "type")
        == just("must be standard or fifo, got 'lifo'"));
  for (std::string name : {"name", "type", "idempotency_key"})
    CHECK(
      complaints_of(decode_pull_patch("{\"" + name + "\":\"x\"}", "q"), name)
      == just("is not a known field"));
}

TEST_CASE("a redrive says which, how many and whether at all") {
  auto all = std::get<redrive_messages>(decode_redrive(""));
  CHECK_FALSE(all.limit);
  CHECK_FALSE(all.dry_run);
  auto some = std::get<redrive_messages>(decode_redrive(
    R"({"max_messages":5,"message_ids":[)" + id_text()
    + R"(],"since":"2026-01-01T00:00:00Z","reason":"max_receive_count",)"
      R"("dry_run":true})"));
  CHECK(some.limit == 5);
  CHECK(some.ids == std::vector{some_id});
  CHECK(some.since);
  CHECK(some.dry_run);
  auto slow = std::get<redrive_messages>(
    decode_redrive(R"({"max_messages":1000000000,"per_second":0.1})"));
  CHECK(slow.limit == 1'000'000'000);
  CHECK(slow.per_second == 0.1);
  CHECK(complaints_of(decode_redrive(R"({"per_second":10001})"), "per_second")
        == just("must be 0.1 to 10000, got 10001"));
  CHECK(complaints_of(decode_redrive(R"({"max_messages":1000000001})"),
                      "max_messages")
        == just("must be a whole number from 1 to 1000000000, got "
                "1000000001"));
  for (std::string body :
       {R"({"max_messages":0})"s, R"({"max_messages":1e3})"s,
        R"({"message_ids":[]})"s, R"({"message_ids":["x"]})"s,
        R"({"reason":"bored"})"s, R"({"dry_run":1})"s, R"({"since":"now"})"s,
        R"({"per_second":0})"s, R"({"per_second":null})"s,
        R"({"per_second":1,"message_ids":[)" + id_text() + "]}"})
    CHECK_FALSE(is_sound(decode_redrive(body)));
}
