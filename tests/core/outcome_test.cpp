// What the answer of a webhook means.

#include "actors/core/outcome.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

#include "tests/core/moments.hpp"
#include "tests/core/replies.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

using kind = outcome::kind;

outcome judged(const delivery_reply& reply) {
  return judge(reply, at(0).wall);
}

} // namespace

TEST_CASE("every 2xx is success") {
  auto status = GENERATE(200, 201, 202, 204, 226, 299);
  auto what = judged(answered(static_cast<std::uint16_t>(status)));
  CHECK(what.what == kind::success);
  CHECK(what.verdict == probe_verdict::success);
  CHECK(what.error.empty());
}

TEST_CASE("429, 503 and 529 mean not now") {
  auto status = static_cast<std::uint16_t>(GENERATE(429, 503, 529));
  auto what = judged(answered(status, {"7"}));
  CHECK(what.what == kind::defer);
  CHECK(what.verdict == probe_verdict::deferred);
  CHECK(what.retry_after == seconds(7));
  CHECK(what.error == "the webhook answered " + std::to_string(status));
}

TEST_CASE("not now without a time that can be read is a minute") {
  CHECK(judged(answered(429)).retry_after == seconds(60));
  CHECK(judged(answered(503, {"soon"})).retry_after == seconds(60));
  CHECK(judged(answered(529, {"1", "2"})).retry_after == seconds(60));
}

TEST_CASE("not now for no time at all is taken at its word") {
  CHECK(judged(answered(429, {"0"})).retry_after == seconds(0));
}

TEST_CASE("the time is measured against the response's own date") {
  auto reply = answered(429, {"Thu, 01 Jan 2026 12:00:10 GMT"});
  reply.date = "Thu, 01 Jan 2026 12:00:00 GMT";
  CHECK(judged(reply).retry_after == seconds(10));
}

TEST_CASE("no status is anything but success, defer, refusal or no verdict") {
  constexpr std::array defers = {429, 503, 529};
  for (auto status = 100; status < 1000; ++status) {
    auto what = judged(answered(static_cast<std::uint16_t>(status)));
    auto is_defer = std::count(defers.begin(), defers.end(), status) > 0;
    auto is_success = status >= 200 && status < 300;
    auto refuses = status >= 400 && status < 500 && status != 408
                   && status != 425 && status != 429;
    CAPTURE(status);
    CHECK(what.what
          == (is_success ? kind::success
                         : (is_defer ? kind::defer : kind::failure)));
    CHECK((what.verdict == probe_verdict::refused) == refuses);
    CHECK((what.verdict == probe_verdict::no_verdict)
          == (!is_success && !is_defer && !refuses));
  }
}

TEST_CASE("Retry-After means nothing on any other answer") {
  CHECK(judged(answered(500, {"7"})).what == kind::failure);
  CHECK(judged(answered(500, {"7"})).retry_after == seconds(0));
  CHECK(judged(answered(301, {"7"})).what == kind::failure);
}

TEST_CASE("no answer is a failure that tells nothing about the downstream") {
  auto stage =
    GENERATE(delivery_errc::dns_failed, delivery_errc::target_blocked,
             delivery_errc::connect_failed, delivery_errc::tls_failed,
             delivery_errc::connection_reset, delivery_errc::timeout,
             delivery_errc::malformed_response, delivery_errc::invalid_url);
  auto what = judged(unanswered(stage));
  CHECK(what.what == kind::failure);
  CHECK(what.verdict == probe_verdict::no_verdict);
  CHECK(what.error == to_string(stage));
}
