// What became of a change, in a sentence.

#include "http/codec_cli.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;

namespace {

constexpr wall_time now{duration{1'735'689'600'000'000}}; // 2025-01-01

std::string queue_with(const std::string& gate) {
  return R"({"name":"q","gate":{)" + gate + "}}";
}

std::string held_until(const std::string& time,
                       const std::string& cause = "operator") {
  return queue_with(R"("state":"held","cause":")" + cause
                    + R"(","releaseAt":"2025-01-01T)" + time + R"(Z")");
}

const std::string open_queue = queue_with(R"("state":"open","releaseAt":null)");

const std::string probing_queue = queue_with(
  R"("state":"probing","cause":"operator",)"
  R"("releaseAt":"2025-01-01T00:05:00.000Z")");

} // namespace

TEST_CASE("a hold is said to last until the time that the server names") {
  auto until = "held q until 2025-01-01 00:05:00 (in 5 min)\n";
  auto after = held_until("00:05:00.000");
  CHECK(*say_held("q", open_queue, after, now) == until);
  CHECK(*say_held("q", held_until("00:00:05.000"), after, now) == until);
  CHECK(*say_held("q", held_until("00:00:05.000", "downstream"), after, now)
        == until);
  CHECK(*say_held("q", "", after, now) == until);
}

TEST_CASE("a hold that changes nothing is not said to be set") {
  auto stays =
    "q stays held until 2025-01-01 00:05:00 (in 5 min): a hold does "
    "not shorten one that ends later\n";
  // The server reckons the end anew for each answer.
  CHECK(
    *say_held("q", held_until("00:05:00.001"), held_until("00:05:00.000"), now)
    == stays);
  CHECK(*say_held("q", "", held_until("00:05:00.000", "downstream"), now)
        == stays);
}

TEST_CASE("a hold while a probe is out says what comes of it") {
  CHECK(*say_held("q", probing_queue, probing_queue, now)
        == "the probe of q is out: q stays held until 2025-01-01 00:05:00 (in "
           "5 min) if the verdict comes before, and then another probe tests "
           "it\n");
}

TEST_CASE("a release says what it found") {
  CHECK(*say_released("q", open_queue)
        == "q is open: no hold was there to be ended\n");
  CHECK(*say_released("q", probing_queue)
        == "the probe of q is out: it opens q if it succeeds\n");
  CHECK(*say_released("q", held_until("00:00:00.000"))
        == "released q: the next job that can go is its probe\n");
}

TEST_CASE("what is no queue tells of no hold and no release") {
  auto body = GENERATE("", "<html>", "[]", "{}", R"({"gate":5})");
  CHECK_FALSE(say_held("q", "", body, now));
  CHECK_FALSE(say_released("q", body));
  CHECK_FALSE(is_idle_key(body));
  CHECK_FALSE(has_no_items(body));
}

TEST_CASE("a limit key that no job has is idle, and so are others") {
  auto key = [](const char* state, const char* ready, const char* in_flight) {
    return std::string{R"({"key":"k","gate":{"state":")"} + state
           + R"("},"ready":)" + ready + R"(,"inFlight":)" + in_flight + '}';
  };
  CHECK(is_idle_key(key("open", "0", "0")));
  CHECK_FALSE(is_idle_key(key("held", "0", "0")));
  CHECK_FALSE(is_idle_key(key("open", "1", "0")));
  CHECK_FALSE(is_idle_key(key("open", "0", "1")));
  CHECK(has_no_items(R"({"items":[],"nextCursor":null})"));
  CHECK_FALSE(has_no_items(R"({"items":[{"id":"job_1"}]})"));
}
