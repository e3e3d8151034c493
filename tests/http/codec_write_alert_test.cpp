// Alerts as their receiver gets them.

#include "http/codec_alert.hpp"

#include <catch2/catch.hpp>

#include "tests/core/moments.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::http;
using tidegate::testing::at;

namespace {

alert some_alert(alert_cause cause, alert_state state = alert_state::firing) {
  alert result;
  result.cause = cause;
  result.state = state;
  result.project = "acme";
  result.queue = "mail";
  result.at = at(100).wall;
  result.since = at(40).wall;
  return result;
}

} // namespace

TEST_CASE("an alert of deaths names how many, the last one and its reason") {
  auto what = some_alert(alert_cause::job_dead);
  what.until = at(99.5).wall;
  what.count = 50;
  what.job = job_id{queue_id{1}, job_seq{2}, 3};
  what.reason = dead_reason::attempts_exhausted;
  CHECK(encode(what)
        == R"({"cause":"job_dead","state":"firing","project":"acme",)"
           R"("queue":"mail","kind":"push","message":)"
           R"("50 jobs of queue mail in project acme were given up on",)"
           R"("at":"2026-01-01T00:01:40.000Z",)"
           R"("since":"2026-01-01T00:00:40.000Z",)"
           R"("until":"2026-01-01T00:01:39.500Z",)"
           R"("count":50,"seconds":null,"limit":null,"job":")"
             + to_string(*what.job) + R"(","reason":"attempts_exhausted"})");
}

TEST_CASE("an alert of a hold tells seconds, and no jobs") {
  auto what = some_alert(alert_cause::queue_held);
  what.span = 60s + 999ms;
  what.limit = 60;
  CHECK(encode(what)
        == R"({"cause":"queue_held","state":"firing","project":"acme",)"
           R"("queue":"mail","kind":"push","message":)"
           R"("Queue mail in project acme has been held for 60 s",)"
           R"("at":"2026-01-01T00:01:40.000Z",)"
           R"("since":"2026-01-01T00:00:40.000Z","until":null,)"
           R"("count":null,"seconds":60,"limit":60,"job":null,)"
           R"("reason":null})");
}

TEST_CASE("of a queue that was deleted nothing else is said") {
  for (auto cause : {alert_cause::queue_held, alert_cause::queue_depth,
                     alert_cause::queue_age}) {
    auto what = some_alert(cause, alert_state::resolved);
    what.gone = true;
    what.count = 3;
    what.span = 60s;
    CHECK(describe(what) == "Queue mail in project acme was deleted");
    CHECK(encode(what).find(R"("count":null,"seconds":null)")
          != std::string::npos);
  }
}

TEST_CASE("the last dead message is named like a message") {
  auto what = some_alert(alert_cause::job_dead);
  what.kind = queue_kind::pull;
  what.count = 1;
  what.job = job_id{queue_id{1}, job_seq{2}, 3};
  auto text = encode(what);
  CHECK(text.find(R"("kind":"pull")") != std::string::npos);
  CHECK(text.find(R"("job":"qmsg_)") != std::string::npos);
  CHECK(text.ends_with(R"(,"reason":"max_receive_count"})"));
  CHECK(describe(what)
        == "1 message of queue mail in project acme was given up on");
}

TEST_CASE("the begin of what an alert tells is read out of it again") {
  auto what =
    some_alert(GENERATE(alert_cause::job_dead, alert_cause::queue_held,
                        alert_cause::queue_depth, alert_cause::queue_age));
  what.queue = "since";
  CHECK(read_since(encode(what)) == what.since);
  what.since += 999us;
  CHECK(read_since(encode(what)) == at(40).wall);
  for (auto text : {"", "{}", "[]", "{\"since\":1}", "{\"since\":\"now\"}",
                    "{\"since\":\"2026-01-01T00:00:00Z\""})
    CHECK_FALSE(read_since(text));
}

TEST_CASE("each cause has a sentence, and one for its end") {
  auto say = [](alert_cause cause, alert_state state, queue_kind kind,
                std::uint64_t count, duration span, std::uint64_t limit) {
    auto what = some_alert(cause, state);
    what.kind = kind;
    what.count = count;
    what.span = span;
    what.limit = limit;
    return describe(what);
  };
  using enum alert_cause;
  using enum alert_state;
  CHECK(say(queue_held, firing, queue_kind::push, 0, 20min, 900)
        == "Queue mail in project acme has been held for 20 min");
  CHECK(say(queue_held, resolved, queue_kind::push, 0, 3h, 900)
        == "Queue mail in project acme is held no longer, after 3 h");
  CHECK(say(queue_depth, firing, queue_kind::push, 101, 0s, 100)
        == "Queue mail in project acme has 101 jobs, more than 100");
  CHECK(say(queue_depth, resolved, queue_kind::pull, 1, 0s, 100)
        == "Queue mail in project acme has 1 message, no more than 100");
  CHECK(say(queue_age, firing, queue_kind::push, 9, 72h, 7200)
        == "The oldest job of queue mail in project acme is 3 d old, more than "
           "2 h");
  CHECK(say(queue_age, resolved, queue_kind::pull, 9, 0s, 90)
        == "No message of queue mail in project acme is older than 90 s any "
           "more");
}
