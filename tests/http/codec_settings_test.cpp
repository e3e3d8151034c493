#include "codec_testing.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "test_certificates.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

using kind = backoff_settings::kind;

decoded<queue_settings> put(const std::string& members) {
  return decode_settings(R"({"webhookUrl":"https://a.example/x")"
                           + (members.empty() ? "" : "," + members) + "}",
                         {});
}

decoded<queue_settings_patch> patch(const std::string& members) {
  return decode_settings_patch("{" + members + "}", {});
}

queue_settings settings_of(const std::string& members) {
  return std::get<queue_settings>(put(members));
}

std::string member(std::string_view name, std::string_view token) {
  return "\"" + std::string{name} + "\":" + std::string{token};
}

} // namespace

TEST_CASE("what is not given has its default") {
  queue_settings expected;
  expected.webhook_url = "https://a.example/x";
  CHECK(settings_of("") == expected);
}

TEST_CASE("every setting arrives where it belongs") {
  auto s = settings_of(R"("mode":"ack","concurrency":7,"rateLimitMax":8,
    "rateLimitWindow":1.5,"maxAttempts":9,"maxDefers":11,"timeout":0.25,
    "lifetime":12,"headers":{"X-B":"1","X-A":"2"},"ackTimeout":13.5,
    "ackTimeoutAction":"dead","retention":0,"deadLetter":false,
    "permanentFailureStatuses":[404,410],"keyConcurrency":2,
    "keyRateLimitMax":3,"backpressureScope":"key",
    "recovery":{"mode":"ramp","start":4,"factor":1.5},"minHold":0.5,
    "maxHold":60,"maxDepth":9007199254740991)");
  CHECK(s.mode == delivery_mode::ack);
  CHECK(s.ack_timeout == std::chrono::milliseconds{13'500});
  CHECK(s.ack_timeout_action == ack_timeout_action::dead);
  CHECK(s.retention == duration{0});
  CHECK_FALSE(s.dead_letter);
  CHECK(s.permanent_failure_statuses == std::vector<std::uint16_t>{404, 410});
  CHECK(s.key_concurrency == 2);
  CHECK(s.key_rate_limit_max == 3);
  CHECK(s.backpressure_scope == backpressure_scope::key);
  CHECK(s.recovery == recovery_settings{recovery_settings::kind::ramp, 4, 1.5});
  CHECK(s.min_hold == std::chrono::milliseconds{500});
  CHECK(s.max_hold == std::chrono::seconds{60});
  CHECK(s.max_depth == 9'007'199'254'740'991);
  CHECK(s.concurrency == 7);
  CHECK(s.rate_limit_max == 8);
  CHECK(s.rate_limit_window == std::chrono::milliseconds{1500});
  CHECK(s.max_attempts == 9);
  CHECK(s.max_defers == 11);
  CHECK(s.timeout == std::chrono::milliseconds{250});
  CHECK(s.lifetime == std::chrono::seconds{12});
  CHECK(s.headers == std::vector<header>{{"X-B", "1"}, {"X-A", "2"}});
}

TEST_CASE("a patch has what was given and nothing else") {
  CHECK(std::get<queue_settings_patch>(patch("")) == queue_settings_patch{});
  queue_settings_patch expected;
  expected.max_defers = 0;
  expected.rate_limit_max.emplace(std::nullopt);
  CHECK(std::get<queue_settings_patch>(
          patch(R"("maxDefers":0,"rateLimitMax":null)"))
        == expected);
}

TEST_CASE("each numeric setting is in range or refused with its range") {
  struct row {
    std::string name;
    std::string below, min, max, above, range;
  };
  auto i = GENERATE(values<row>({
    {"concurrency", "0", "1", "10000", "10001", "1 to 10000"},
    {"rateLimitMax", "0", "1", "100000", "100001", "1 to 100000"},
    {"rateLimitWindow", "0.999", "1", "86400", "86401", "1 to 86400"},
    {"maxAttempts", "0", "1", "1000", "1001", "1 to 1000"},
    {"maxDefers", "-1", "0", "1000000", "1000001", "0 to 1000000"},
    {"timeout", "0.0999", "0.1", "900", "900.001", "0.1 to 900"},
    {"lifetime", "0", "1", "2592000", "2592001", "1 to 2592000"},
    {"ackTimeout", "0.5", "1", "604800", "604801", "1 to 604800"},
    {"retention", "-0.5", "0", "2592000", "2592001", "0 to 2592000"},
    {"keyConcurrency", "0", "1", "10000", "10001", "1 to 10000"},
    {"keyRateLimitMax", "0", "1", "100000", "100001", "1 to 100000"},
    {"minHold", "-0.1", "0", "2592000", "2592001", "0 to 2592000"},
    {"maxHold", "-0.1", "0", "2592000", "2592001", "0 to 2592000"},
  }));
  for (const auto& good : {i.min, i.max}) {
    CHECK(is_sound(put(member(i.name, good))));
    CHECK(is_sound(patch(member(i.name, good))));
  }
  for (const auto& bad :
       {i.below, i.above, std::string{"-1"},
        std::string{"-99999999999999999999"},
        std::string{"99999999999999999999"}, std::string{"4294967297"}}) {
    auto expected = just("must be " + i.range + ", got " + bad);
    CHECK(complaints_of(put(member(i.name, bad)), i.name) == expected);
    CHECK(complaints_of(patch(member(i.name, bad)), i.name) == expected);
  }
}

TEST_CASE("a depth is at least 1 and at most what JSON keeps exactly") {
  for (std::string good : {"1", "9007199254740991"})
    CHECK(is_sound(put(member("maxDepth", good))));
  for (std::string bad :
       {"0", "-1", "9007199254740992", "99999999999999999999"}) {
    auto messages = complaints_of(put(member("maxDepth", bad)), "maxDepth");
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].starts_with("must be 1 to "));
    CHECK(messages[0].ends_with(", got " + bad));
  }
}

TEST_CASE("each numeric field of a ramp is in range or refused") {
  struct row {
    std::string name;
    std::string below, min, max, above, range;
  };
  auto i = GENERATE(values<row>({
    {"start", "0", "1", "10000", "10001", "1 to 10000"},
    {"factor", "1", "1.1", "100", "100.1", "1.1 to 100"},
  }));
  auto with = [&](const std::string& token) {
    return R"("recovery":{"mode":"ramp",)" + member(i.name, token) + "}";
  };
  for (const auto& good : {i.min, i.max})
    CHECK(is_sound(put(with(good))));
  for (const auto& bad : {i.below, i.above, std::string{"-1"}})
    CHECK(complaints_of(patch(with(bad)), "recovery." + i.name)
          == just("must be " + i.range + ", got " + bad));
}

TEST_CASE("a recovery is full or a ramp, with the fields that belong to it") {
  auto about = [](const std::string& members, const std::string& field) {
    return complaints_of(put("\"recovery\":{" + members + "}"),
                         "recovery." + field);
  };
  CHECK(settings_of(R"("recovery":{"mode":"full"})").recovery
        == recovery_settings{});
  CHECK(settings_of(R"("recovery":{"mode":"ramp"})").recovery
        == recovery_settings{recovery_settings::kind::ramp, 1, 2});
  CHECK(about(R"("start":1)", "mode") == just("is required"));
  CHECK(about(R"("mode":"fast")", "mode")
        == just("must be full or ramp, got 'fast'"));
  for (auto field : {"start", "factor"})
    CHECK(about(R"("mode":"full",)" + member(field, "2"), field)
          == just("does not belong to this mode of recovery"));
  CHECK(about(R"("mode":"ramp","strat":1)", "strat")
        == just("is not a known field"));
  CHECK(about(R"("mode":"ramp","start":1.5)", "start").size() == 1);
}

TEST_CASE("words that are no choice are refused with the choices") {
  struct row {
    std::string name, choices;
  };
  auto i = GENERATE(values<row>({{"mode", "standard or ack"},
                                 {"ackTimeoutAction", "retry or dead"},
                                 {"backpressureScope", "queue or key"}}));
  CHECK(complaints_of(put(member(i.name, "\"Job\"")), i.name)
        == just("must be " + i.choices + ", got 'Job'"));
  CHECK(complaints_of(put(member(i.name, "1")), i.name)
        == just("must be a string, got a number"));
}

TEST_CASE("statuses of permanent failures are those of real failures") {
  auto about = [](const std::string& statuses) {
    return complaints_of(put("\"permanentFailureStatuses\":" + statuses),
                         "permanentFailureStatuses");
  };
  CHECK(about("[]").empty());
  CHECK(about("[300,599,404]").empty());
  CHECK(about("[299]") == just("must be 300 to 599, got 299"));
  CHECK(about("[600]") == just("must be 300 to 599, got 600"));
  CHECK(about("[70000]") == just("must be 300 to 599, got 70000"));
  CHECK(about("[-1]") == just("must be 300 to 599, got -1"));
  for (auto status : {"429", "503", "529"})
    CHECK(about("[" + std::string{status} + "]").size() == 1);
  CHECK(about("[404,404]").size() == 1);
  CHECK(about("[404.5]").size() == 1);
  CHECK(about("[\"404\"]") == just("must be an integer, got a string"));
  CHECK(about("404") == just("must be an array, got a number"));
}

TEST_CASE("the shortest hold is no longer than the longest one") {
  auto wrong = put(R"("minHold":5,"maxHold":4)");
  CHECK(complaints_of(wrong, "minHold").size() == 1);
  CHECK(is_sound(put(R"("minHold":5,"maxHold":5)")));
}

TEST_CASE("a dead-letter queue is on or off") {
  for (auto token : {"1", "\"true\"", "null"})
    CHECK(complaints_of(put(member("deadLetter", token)), "deadLetter").size()
          == 1);
}

TEST_CASE("each numeric field of a backoff is in range or refused") {
  struct row {
    std::string type, name;
    std::string below, min, max, above, range;
  };
  auto i = GENERATE(values<row>({
    {"exponential", "delay", "-0.1", "0", "2592000", "2592001", "0 to 2592000"},
    {"fixed", "delay", "-0.1", "0", "2592000", "2592001", "0 to 2592000"},
    {"exponential", "factor", "0.99", "1", "100", "100.1", "1 to 100"},
    {"exponential", "maxDelay", "-1", "0", "2592000", "2592001",
     "0 to 2592000"},
    {"exponential", "jitter", "-0.1", "0", "1", "1.01", "0 to 1"},
  }));
  auto with = [&](const std::string& token) {
    return R"("backoff":{"type":")" + i.type + "\"," + member(i.name, token)
           + "}";
  };
  for (const auto& good : {i.min, i.max})
    CHECK(is_sound(put(with(good))));
  for (const auto& bad : {i.below, i.above, std::string{"1e999"}})
    CHECK(complaints_of(patch(with(bad)), "backoff." + i.name)
          == just("must be " + i.range + ", got " + bad));
}

TEST_CASE("integers have neither fraction nor exponent, nor quotes") {
  for (auto name : {"concurrency", "rateLimitMax", "maxAttempts", "maxDefers",
                    "keyConcurrency", "keyRateLimitMax", "maxDepth"}) {
    for (std::string token : {"3.0", "1e2", "5.5"})
      CHECK(complaints_of(put(member(name, token)), name)
            == just("must be an integer without fraction or exponent, got "
                    + token));
    CHECK(complaints_of(put(member(name, "\"5\"")), name)
          == just("must be an integer, got a string"));
    CHECK(complaints_of(put(member(name, "true")), name)
          == just("must be an integer, got a boolean"));
  }
}

TEST_CASE("only limits that may be absent may be null") {
  for (auto name :
       {"webhookUrl", "mode", "concurrency", "rateLimitWindow", "maxAttempts",
        "maxDefers", "backoff", "timeout", "lifetime", "headers", "ackTimeout",
        "ackTimeoutAction", "retention", "deadLetter", "backpressureScope",
        "permanentFailureStatuses", "recovery", "tlsInsecure"}) {
    CAPTURE(name);
    auto messages = complaints_of(patch(member(name, "null")), name);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].ends_with(", got null"));
  }
  for (auto name : {"rateLimitMax", "keyConcurrency", "keyRateLimitMax",
                    "minHold", "maxHold", "maxDepth", "tlsCa"}) {
    auto patched = std::get<queue_settings_patch>(patch(member(name, "null")));
    queue_settings limited;
    limited.rate_limit_max = limited.key_concurrency = 1;
    limited.key_rate_limit_max = 1;
    limited.max_depth = 1;
    limited.tls_ca = "PEM";
    limited.min_hold = limited.max_hold = duration{1};
    CHECK(apply(limited, patched) != limited);
    CHECK(is_sound(put(member(name, "null"))));
  }
}

TEST_CASE("certificates of authorities are taken as they came") {
  http::testing::test_authority authority;
  auto pem = authority.certificate() + authority.certificate();
  auto quoted = nlohmann::json(pem).dump();
  CHECK(settings_of(member("tlsCa", quoted)).tls_ca == pem);
  CHECK(std::get<queue_settings_patch>(patch(member("tlsCa", quoted))).tls_ca
        == pem);
  CHECK(settings_of(R"("tlsInsecure":true)").tls_insecure);
}

TEST_CASE("what is no certificate of an authority is refused and named") {
  http::testing::test_authority authority;
  auto key = authority.issue({}).key;
  for (const auto& bad : {std::string{}, std::string{"hello"}, key,
                          authority.certificate() + key}) {
    auto messages =
      complaints_of(put(member("tlsCa", nlohmann::json(bad).dump())), "tlsCa");
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].find("certificates") != std::string::npos);
    CHECK(messages[0].find("PRIVATE") == std::string::npos);
  }
  auto long_text = authority.certificate() + std::string(65'536, ' ');
  auto got = std::to_string(long_text.size());
  CHECK(complaints_of(put(member("tlsCa", nlohmann::json(long_text).dump())),
                      "tlsCa")
        == just("must be at most 65536 bytes, got " + got));
  auto with_nul = authority.certificate() + std::string(1, '\0');
  CHECK(complaints_of(put(member("tlsCa", nlohmann::json(with_nul).dump())),
                      "tlsCa")
        == just("must have no control characters but tabs and line ends"));
  CHECK(complaints_of(put(R"("tlsCa":7)"), "tlsCa").size() == 1);
}

TEST_CASE("a misspelt setting is refused and named") {
  CHECK(complaints_of(put(R"("maxAttemps":5)"), "maxAttemps")
        == just("is not a known field"));
  CHECK(complaints_of(put(R"("name":"x")"), "name")
        == just("is not a known field"));
  CHECK(complaints_of(put(R"("backoff":{"type":"fixed","delay":1,"dealy":2})"),
                      "backoff.dealy")
        == just("is not a known field"));
}

TEST_CASE("settings that are given twice are refused and named") {
  CHECK(complaints_of(put(R"("timeout":1,"timeout":1)"), "timeout")
        == just("is given more than once"));
  auto wrong = put(R"("backoff":{"type":"fixed","delay":1,"delay":2})");
  CHECK(complaints_of(wrong, "backoff.delay")
        == just("is given more than once"));
}

TEST_CASE("a queue needs a webhook URL") {
  CHECK(complaints_of(decode_settings("{}", {}), "webhookUrl")
        == just("is required"));
  CHECK(is_sound(decode_settings_patch("{}", {})));
  CHECK(complaints_of(patch(R"("webhookUrl":"ftp://x")"), "webhookUrl")
        == just("must be an http or https URL, got 'ftp://x'"));
}

TEST_CASE("a webhook URL that may not be called is refused") {
  std::string asked;
  target_check check = [&](const std::string& url) {
    asked = url;
    return std::optional<std::string>{"is blocked"};
  };
  auto wrong = decode_settings_patch(R"({"webhookUrl":"http://10.0.0.1/"})",
                                     check);
  CHECK(complaints_of(wrong, "webhookUrl") == just("is blocked"));
  CHECK(asked == "http://10.0.0.1/");
  asked.clear();
  wrong = decode_settings_patch(R"({"webhookUrl":"nonsense"})", check);
  CHECK(complaints_of(wrong, "webhookUrl").size() == 1);
  CHECK(asked.empty());
}

TEST_CASE("each type of backoff has its own fields and defaults") {
  auto backoff_of = [](const std::string& members) {
    return settings_of("\"backoff\":{" + members + "}").backoff;
  };
  CHECK(backoff_of(R"("type":"exponential")") == backoff_settings{});
  auto fixed = backoff_of(R"("type":"fixed","delay":30)");
  CHECK(fixed.type == kind::fixed);
  CHECK(fixed.delay == 30);
  CHECK(fixed.jitter == 0);
  auto ladder =
    backoff_of(R"("type":"ladder","steps":[60,300.5],"jitter":0.1)");
  CHECK(ladder.steps == std::vector<double>{60, 300.5});
  CHECK(ladder.jitter == 0.1);
}

TEST_CASE("fields that do not belong to a type of backoff are refused") {
  auto about = [](const std::string& members, const std::string& field) {
    return complaints_of(put("\"backoff\":{" + members + "}"),
                         "backoff." + field);
  };
  auto stray = just("does not belong to this type of backoff");
  auto missing = just("is required");
  CHECK(about(R"("type":"exponential","steps":[1])", "steps") == stray);
  CHECK(about(R"("type":"fixed","delay":1,"factor":2)", "factor") == stray);
  CHECK(about(R"("type":"fixed","delay":1,"maxDelay":2)", "maxDelay") == stray);
  CHECK(about(R"("type":"ladder","steps":[1],"delay":2)", "delay") == stray);
  CHECK(about(R"("type":"fixed")", "delay") == missing);
  CHECK(about(R"("type":"ladder")", "steps") == missing);
  CHECK(about("", "type") == missing);
  CHECK(about(R"("type":"linear")", "type")
        == just("must be exponential, fixed or ladder, got 'linear'"));
}

TEST_CASE("a ladder has 1 to 100 steps, each a number in range") {
  auto about = [](const std::string& steps) {
    return complaints_of(
      put(R"("backoff":{"type":"ladder","steps":[)" + steps + "]}"),
      "backoff.steps");
  };
  auto repeat = [](int n) {
    std::string result = "1";
    while (--n > 0)
      result += ",1";
    return result;
  };
  CHECK(about(repeat(100)).empty());
  CHECK(about(repeat(101)) == just("must be 1 to 100 waits, got 101"));
  CHECK(about("") == just("must be 1 to 100 waits, got 0"));
  CHECK(about("-1") == just("must be 0 to 2592000, got -1"));
  CHECK(about("1,\"2\"") == just("must be a number, got a string"));
}

TEST_CASE("headers are an object of strings") {
  CHECK(complaints_of(put(R"("headers":[])"), "headers")
        == just("must be an object, got an array"));
  CHECK(complaints_of(put(R"("headers":{"X-A":1})"), "headers.X-A")
        == just("must be a string, got a number"));
  CHECK(complaints_of(put(R"("headers":{"X-A":"a\r\nb"})"), "headers").size()
        == 1);
  CHECK(
    complaints_of(put(R"("headers":{"X-A":"1","x-a":"2"})"), "headers").size()
    == 1);
}

TEST_CASE("creating a queue takes a name") {
  auto create = [](const std::string& name) {
    return decode_create_queue(
      R"({"webhookUrl":"https://a.example/","name":)" + name + "}", {});
  };
  CHECK(std::get<create_queue>(create("\"a.B_9-\"")).name == "a.B_9-");
  CHECK(complaints_of(create("\"\""), "name").size() == 1);
  CHECK(complaints_of(create("\".a\""), "name").size() == 1);
  CHECK(complaints_of(create("\"a b\""), "name").size() == 1);
  CHECK(complaints_of(create("7"), "name")
        == just("must be a string, got a number"));
  CHECK(complaints_of(decode_create_queue("{}", {}), "name")
        == just("is required"));
}

TEST_CASE("everything that is wrong with settings is said at once") {
  auto wrong = std::get<complaints>(decode_create_queue(
    R"({"name":"","concurrency":0,"timeout":"x","nope":1,
        "backoff":{"type":"fixed"}})",
    {}));
  CHECK(wrong.fields.size() == 6);
}

TEST_CASE("a body with a hundred thousand unknown fields is read in no time") {
  std::string body = "{";
  for (auto i = 0; i < 100'000; ++i)
    body += "\"" + std::to_string(i) + "\":1,";
  body += "\"webhookUrl\":\"https://a.example/\"}";
  CHECK_FALSE(is_sound(decode_settings(body, {})));
}
