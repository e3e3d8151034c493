// What an owner may set, at the edges.

#include "tidegate/queue_settings.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <limits>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

queue_settings good() {
  queue_settings result;
  result.webhook_url = "https://example.com/hook";
  return result;
}

/// Returns what is wrong after `change` with settings that were good.
template <class F>
std::vector<field_error> wrong_after(F change) {
  auto settings = good();
  change(settings);
  return validate(settings);
}

std::vector<field_error> wrong_url(const std::string& url) {
  return wrong_after([&](auto& s) { s.webhook_url = url; });
}

std::vector<field_error> wrong_header(const std::string& name,
                                      const std::string& value) {
  return wrong_after([&](auto& s) { s.headers = {{name, value}}; });
}

/// A field of numbers and its range in the unit of the API.
struct number_field {
  const char* name;
  double min;
  double max;
  /// Smallest difference that the field can express.
  double step;
  std::function<void(queue_settings&, double)> set;
};

using kind = backoff_settings::kind;

std::uint32_t whole(double x) {
  // What lies below zero is the codec's to refuse.
  return static_cast<std::uint32_t>(std::max(0.0, x));
}

const std::vector<number_field> number_fields = {
  {"concurrency", 1, 10'000, 1,
   [](auto& s, double x) { s.concurrency = whole(x); }},
  {"rateLimitMax", 1, 100'000, 1,
   [](auto& s, double x) { s.rate_limit_max = whole(x); }},
  {"rateLimitWindow", 1, 86'400, 0.001,
   [](auto& s, double x) { s.rate_limit_window = seconds(x); }},
  {"maxAttempts", 1, 1'000, 1,
   [](auto& s, double x) { s.max_attempts = whole(x); }},
  {"maxDefers", 0, 1'000'000, 1,
   [](auto& s, double x) { s.max_defers = whole(x); }},
  {"timeout", 0.1, 900, 0.001,
   [](auto& s, double x) { s.timeout = seconds(x); }},
  {"lifetime", 1, 2'592'000, 0.001,
   [](auto& s, double x) { s.lifetime = seconds(x); }},
  {"backoff.delay", 0, 2'592'000, 0.001,
   [](auto& s, double x) { s.backoff.delay = x; }},
  {"backoff.factor", 1, 100, 0.001,
   [](auto& s, double x) { s.backoff.factor = x; }},
  {"backoff.maxDelay", 0, 2'592'000, 0.001,
   [](auto& s, double x) { s.backoff.max_delay = x; }},
  {"backoff.jitter", 0, 1, 0.001,
   [](auto& s, double x) { s.backoff.jitter = x; }},
  {"backoff.steps", 0, 2'592'000, 0.001,
   [](auto& s, double x) {
     s.backoff.type = kind::ladder;
     s.backoff.steps = {1, x};
   }},
  {"ackTimeout", 1, 604'800, 0.001,
   [](auto& s, double x) { s.ack_timeout = seconds(x); }},
  {"retention", 0, 2'592'000, 0.001,
   [](auto& s, double x) { s.retention = seconds(x); }},
  {"permanentFailureStatuses", 300, 599, 1,
   [](auto& s, double x) {
     s.permanent_failure_statuses = {static_cast<std::uint16_t>(x)};
   }},
  {"keyConcurrency", 1, 10'000, 1,
   [](auto& s, double x) { s.key_concurrency = whole(x); }},
  {"keyRateLimitMax", 1, 100'000, 1,
   [](auto& s, double x) { s.key_rate_limit_max = whole(x); }},
  {"recovery.start", 1, 10'000, 1,
   [](auto& s, double x) { s.recovery.start = whole(x); }},
  {"recovery.factor", 1.1, 100, 0.001,
   [](auto& s, double x) { s.recovery.factor = x; }},
  {"minHold", 0, 2'592'000, 0.001,
   [](auto& s, double x) { s.min_hold = seconds(x); }},
  {"maxHold", 0, 2'592'000, 0.001,
   [](auto& s, double x) { s.max_hold = seconds(x); }},
  {"maxDepth", 1, 9'007'199'254'740'991, 1,
   [](auto& s, double x) { s.max_depth = static_cast<std::uint64_t>(x); }},
};

} // namespace

// -- numbers ------------------------------------------------------------------

TEST_CASE("the defaults are good") {
  CHECK(validate(good()).empty());
}

TEST_CASE("each number is good at the ends of its range") {
  for (const auto& field : number_fields) {
    CAPTURE(field.name);
    CHECK(wrong_after([&](auto& s) { field.set(s, field.min); }).empty());
    CHECK(wrong_after([&](auto& s) { field.set(s, field.max); }).empty());
  }
}

TEST_CASE("each number is refused right beyond its range, by name") {
  for (const auto& field : number_fields)
    for (auto value : {field.min - field.step, field.max + field.step}) {
      // No whole number lies below zero here.
      if (field.step == 1 && value < 0)
        continue;
      CAPTURE(field.name, value);
      auto wrong = wrong_after([&](auto& s) { field.set(s, value); });
      REQUIRE(wrong.size() == 1);
      CHECK(wrong[0].field == field.name);
    }
}

TEST_CASE("a refusal tells the range and the value") {
  auto wrong = wrong_after([](auto& s) { s.concurrency = 10'001; });
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].message == "must be 1 to 10000, got 10001");
  wrong = wrong_after([](auto& s) { s.timeout = seconds(0.05); });
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].message == "must be 0.1 to 900, got 0.05");
  wrong = wrong_after([](auto& s) { s.max_defers = UINT32_MAX; });
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].message == "must be 0 to 1000000, got 4294967295");
}

TEST_CASE("what is not a number is refused") {
  for (auto x : {std::numeric_limits<double>::quiet_NaN(),
                 std::numeric_limits<double>::infinity(),
                 -std::numeric_limits<double>::infinity()})
    CHECK(wrong_after([&](auto& s) { s.backoff.delay = x; }).size() == 1);
}

TEST_CASE("everything that is wrong is told at once") {
  auto wrong = wrong_after([](auto& s) {
    s.webhook_url = "";
    s.concurrency = 0;
    s.backoff.jitter = 2;
    s.headers = {{"host", "x"}};
  });
  REQUIRE(wrong.size() == 4);
  CHECK(wrong[0].field == "webhookUrl");
  CHECK(wrong[1].field == "concurrency");
  CHECK(wrong[2].field == "backoff.jitter");
  CHECK(wrong[3].field == "headers");
}

TEST_CASE("no rate limit at all is good") {
  CHECK(wrong_after([](auto& s) { s.rate_limit_max.reset(); }).empty());
}

TEST_CASE("the shortest hold is at most the longest") {
  auto wrong = wrong_after([](auto& s) {
    s.min_hold = seconds(3);
    s.max_hold = seconds(2);
  });
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].field == "minHold");
  CHECK(wrong_after([](auto& s) {
          s.min_hold = seconds(2);
          s.max_hold = seconds(2);
        }).empty());
}

TEST_CASE("a status that means not now is never a permanent failure") {
  for (auto status : {429, 503, 529}) {
    auto wrong = wrong_after([status](auto& s) {
      s.permanent_failure_statuses = {404, static_cast<std::uint16_t>(status)};
    });
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].field == "permanentFailureStatuses");
  }
}

TEST_CASE("permanent failures are at most 64 statuses, each named once") {
  auto many = [](std::uint16_t n) {
    return wrong_after([n](auto& s) {
      for (std::uint16_t i = 0; i < n; ++i)
        s.permanent_failure_statuses.push_back(
          static_cast<std::uint16_t>(300 + i));
    });
  };
  CHECK(many(64).empty());
  CHECK(many(65).size() == 1);
  CHECK(wrong_after([](auto& s) {
          s.permanent_failure_statuses = {404, 410, 404};
        }).size()
        == 1);
}

TEST_CASE("a ladder has 1 to 100 steps") {
  auto with_steps = [](std::size_t n) {
    return wrong_after([n](auto& s) {
      s.backoff.type = kind::ladder;
      s.backoff.steps.assign(n, 1);
    });
  };
  CHECK(with_steps(0).size() == 1);
  CHECK(with_steps(1).empty());
  CHECK(with_steps(100).empty());
  CHECK(with_steps(101).size() == 1);
}

TEST_CASE("fields that a kind of backoff does not use are not looked at") {
  CHECK(wrong_after([](auto& s) {
          s.backoff.type = kind::fixed;
          s.backoff.factor = 0;
          s.backoff.max_delay = -1;
        }).empty());
  CHECK(wrong_after([](auto& s) {
          s.backoff.type = kind::ladder;
          s.backoff.steps = {1};
          s.backoff.delay = -1;
        }).empty());
}

// -- URL ----------------------------------------------------------------------

TEST_CASE("an http or https URL with a host is good") {
  auto url = GENERATE("http://example.com", "https://example.com/a?b=c#d",
                      "HTTPS://EXAMPLE.com", "http://127.0.0.1:8080/",
                      "http://[::1]:80/x", "http://example.com/a@b",
                      "http://example.com?a=http://b@c");
  CAPTURE(url);
  CHECK(wrong_url(url).empty());
}

TEST_CASE("any other URL is refused") {
  auto url = GENERATE("", "example.com", "//example.com", "ftp://example.com",
                      "http:", "http://", "http:///path", "http://:80/",
                      "https://?x", "javascript://x", "http:/example.com",
                      "http://user@example.com", "http://user:p@example.com",
                      "http://example.com/a b", "http://example.com/\r\nx: y",
                      "http://example.com/\n", "http://ex\tample.com",
                      "http://\xC3\xA4.com", "http://example.com/\x7f",
                      " http://example.com", "unix:http://x");
  CAPTURE(url);
  auto wrong = wrong_url(url);
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].field == "webhookUrl");
}

TEST_CASE("a URL has at most 2048 characters") {
  std::string url = "http://example.com/";
  CHECK(wrong_url(url + std::string(2048 - url.size(), 'a')).empty());
  CHECK(wrong_url(url + std::string(2049 - url.size(), 'a')).size() == 1);
}

TEST_CASE("a password in a URL is not repeated in the refusal") {
  auto wrong = wrong_url("http://user:hunter2@example.com");
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].message.find("hunter2") == std::string::npos);
}

TEST_CASE("a refusal never cuts a character in half") {
  // 79 bytes, then a character of three: a cut at 80 bytes would split it.
  auto name = std::string(79, ' ') + "\xE2\x82\xAC" + std::string(40, ' ');
  auto wrong = wrong_header(name, "x");
  REQUIRE(wrong.size() == 1);
  auto message = wrong[0].message;
  CHECK(message.find("\xE2\x82\xAC") == std::string::npos);
  CHECK(message.find('\xE2' + std::string{"\x80\xA6"}) != std::string::npos);
  CHECK(message.find("\xE2\xE2") == std::string::npos);
}

// -- headers ------------------------------------------------------------------

TEST_CASE("an ordinary header is good") {
  CHECK(wrong_header("x-tenant", "acme").empty());
  CHECK(wrong_header("Authorization", "Bearer abc").empty());
  CHECK(wrong_header("x-empty", "").empty());
  CHECK(wrong_header("x-tab", "a\tb").empty());
  CHECK(wrong_header("x-text", "h\xC3\xB6he").empty());
  CHECK(wrong_header("!#$%&'*+-.^_`|~09azAZ", "x").empty());
}

TEST_CASE("a header's value with a control character is refused") {
  for (auto c = 0; c < 0x20; ++c) {
    if (c == '\t')
      continue;
    auto value = "a" + std::string(1, static_cast<char>(c)) + "b";
    CAPTURE(c);
    CHECK(wrong_header("x-a", value).size() == 1);
  }
  CHECK(wrong_header("x-a",
                     "a\x7f"
                     "b")
          .size()
        == 1);
  CHECK(wrong_header("x-a", "a\r\nhost: evil").size() == 1);
}

TEST_CASE("a header's name that is no token is refused") {
  auto name = GENERATE("", " ", "x a", "x:", "x\r\n", "x\n", "x\r\ny: z", "x\t",
                       "(x)", "x/y", "x@y", "x\xC3\xA4", "x\x7f", "\"x", "x=y",
                       "{x}", "x,y");
  CAPTURE(name);
  CHECK(wrong_header(name, "v").size() == 1);
}

TEST_CASE("a header that Tidegate or HTTP sets itself is refused") {
  auto name = GENERATE("host", "Host", "CONTENT-LENGTH", "content-type",
                       "Transfer-Encoding", "connection", "te", "trailer",
                       "upgrade", "user-agent", "keep-alive", "expect",
                       "webhook-id", "Webhook-Signature", "x-simpleq-signature",
                       "X-Tidegate-Delivery", "traceparent", "tracestate",
                       "proxy-authorization", "date");
  CAPTURE(name);
  CHECK(wrong_header(name, "v").size() == 1);
}

TEST_CASE("no header is named twice, in whatever case") {
  CHECK(wrong_after([](auto& s) {
          s.headers = {{"x-a", "1"}, {"X-A", "2"}};
        }).size()
        == 1);
}

TEST_CASE("a header has blanks inside its value only") {
  CHECK(wrong_header("x-a", "a b").empty());
  CHECK(wrong_header("x-a", " a").size() == 1);
  CHECK(wrong_header("x-a", "a\t").size() == 1);
}

TEST_CASE("headers are bounded in number and length") {
  auto many = [](std::size_t n) {
    return wrong_after([n](auto& s) {
      for (std::size_t i = 0; i < n; ++i)
        s.headers.push_back({"x-" + std::to_string(i), "v"});
    });
  };
  CHECK(many(32).empty());
  CHECK(many(33).size() == 1);
  CHECK(wrong_header(std::string(128, 'a'), "v").empty());
  CHECK(wrong_header(std::string(129, 'a'), "v").size() == 1);
  CHECK(wrong_header("x-a", std::string(4096, 'v')).empty());
  CHECK(wrong_header("x-a", std::string(4097, 'v')).size() == 1);
}

// -- names --------------------------------------------------------------------

TEST_CASE("a queue's name is 1 to 120 plain characters") {
  CHECK_FALSE(validate_queue_name("a"));
  CHECK_FALSE(validate_queue_name("Mail.out_2-b"));
  CHECK_FALSE(validate_queue_name("-a."));
  CHECK_FALSE(validate_queue_name(std::string(120, 'a')));
  CHECK(validate_queue_name(std::string(121, 'a')));
  CHECK(validate_queue_name(""));
  CHECK(validate_queue_name(".a"));
  CHECK(validate_queue_name(".."));
}

TEST_CASE("any other character in a queue's name is refused") {
  for (auto c = 0; c < 256; ++c) {
    auto letter = static_cast<char>(c);
    auto plain = (letter >= 'a' && letter <= 'z')
                 || (letter >= 'A' && letter <= 'Z')
                 || (letter >= '0' && letter <= '9') || letter == '.'
                 || letter == '_' || letter == '-';
    CAPTURE(c);
    CHECK(validate_queue_name("a" + std::string(1, letter)).has_value()
          == !plain);
  }
}

// -- patches ------------------------------------------------------------------

TEST_CASE("an empty patch changes nothing") {
  CHECK(apply(good(), {}) == good());
}

TEST_CASE("each field of a patch changes its setting and no other") {
  queue_settings_patch patch;
  auto expected = good();
  patch.webhook_url = expected.webhook_url = "http://other/";
  CHECK(apply(good(), patch) == expected);
  patch.concurrency = expected.concurrency = 3;
  CHECK(apply(good(), patch) == expected);
  patch.rate_limit_max = expected.rate_limit_max = 4;
  CHECK(apply(good(), patch) == expected);
  patch.rate_limit_window = expected.rate_limit_window = seconds(5);
  CHECK(apply(good(), patch) == expected);
  patch.max_attempts = expected.max_attempts = 6;
  CHECK(apply(good(), patch) == expected);
  patch.max_defers = expected.max_defers = 7;
  CHECK(apply(good(), patch) == expected);
  expected.backoff.delay = 8;
  patch.backoff = expected.backoff;
  CHECK(apply(good(), patch) == expected);
  patch.timeout = expected.timeout = seconds(9);
  CHECK(apply(good(), patch) == expected);
  patch.lifetime = expected.lifetime = seconds(10);
  CHECK(apply(good(), patch) == expected);
  expected.headers = {{"x-a", "b"}};
  patch.headers = expected.headers;
  CHECK(apply(good(), patch) == expected);
}

TEST_CASE("each field of ack mode, keys and holds changes its setting only") {
  queue_settings_patch patch;
  auto expected = good();
  patch.mode = expected.mode = delivery_mode::ack;
  CHECK(apply(good(), patch) == expected);
  patch.ack_timeout = expected.ack_timeout = seconds(11);
  CHECK(apply(good(), patch) == expected);
  patch.ack_timeout_action = expected.ack_timeout_action =
    ack_timeout_action::dead;
  CHECK(apply(good(), patch) == expected);
  patch.retention = expected.retention = seconds(12);
  CHECK(apply(good(), patch) == expected);
  patch.dead_letter = expected.dead_letter = false;
  CHECK(apply(good(), patch) == expected);
  expected.permanent_failure_statuses = {404};
  patch.permanent_failure_statuses = expected.permanent_failure_statuses;
  CHECK(apply(good(), patch) == expected);
  patch.key_concurrency = expected.key_concurrency = 13;
  CHECK(apply(good(), patch) == expected);
  patch.key_rate_limit_max = expected.key_rate_limit_max = 14;
  CHECK(apply(good(), patch) == expected);
  patch.backpressure_scope = expected.backpressure_scope =
    backpressure_scope::key;
  CHECK(apply(good(), patch) == expected);
  expected.recovery = {recovery_settings::kind::ramp, 2, 3};
  patch.recovery = expected.recovery;
  CHECK(apply(good(), patch) == expected);
  patch.min_hold = expected.min_hold = seconds(15);
  CHECK(apply(good(), patch) == expected);
  patch.max_hold = expected.max_hold = seconds(16);
  CHECK(apply(good(), patch) == expected);
  patch.max_depth = expected.max_depth = 17;
  CHECK(apply(good(), patch) == expected);
  patch.tls_ca = expected.tls_ca = "PEM";
  CHECK(apply(good(), patch) == expected);
  patch.tls_insecure = expected.tls_insecure = true;
  CHECK(apply(good(), patch) == expected);
}

TEST_CASE("a patch can take the rate limit away") {
  auto settings = good();
  settings.rate_limit_max = 5;
  queue_settings_patch patch;
  patch.rate_limit_max.emplace(std::nullopt);
  CHECK_FALSE(apply(settings, patch).rate_limit_max);
}
