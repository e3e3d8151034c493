// Why a job is not running, in sentences.

#include <catch2/catch.hpp>

#include <array>

#include "http/codec_cli.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

constexpr wall_time now{duration{1'735'689'600'000'000}}; // 2025-01-01

constexpr char open_queue[] = R"({"name":"q","gate":{"state":"open"}})";

std::string explain(const std::string& members,
                    const std::string& queue = open_queue) {
  auto text = explain_job(R"({"id":"job_1","queue":"q",)" + members + '}',
                          queue, now);
  REQUIRE(text);
  return *text;
}

std::string blocked_by(const std::string& gates) {
  return R"("status":"pending","limitKey":"k","blockedBy":[)" + gates + ']';
}

/// Returns the sentence about one gate that is shut until half past.
std::string sentence_about(const std::string& gate) {
  auto text =
    explain(blocked_by(R"({"gate":")" + gate
                       + R"(","since":null,)"
                         R"("until":"2025-01-01T00:00:30.000Z",)"
                         R"("reason":"so it is","causedByJob":null})"));
  auto begin = text.find("1. ") + 3;
  return text.substr(begin, text.find('\n', begin) - begin);
}

} // namespace

TEST_CASE("a held queue is explained with its end, its cause and a remedy") {
  auto text =
    explain(blocked_by(R"({"gate":"hold","since":"2024-12-31T23:59:57.000Z",
                   "until":"2025-01-01T00:00:28.000Z",
                   "reason":"the downstream answered 429",
                   "causedByJob":"job_9"})"),
            R"({"name":"q","gate":{"state":"held","lastProbe":{"job":"job_9",
        "verdict":"deferred","at":"2024-12-31T23:59:57.000Z"}}})");
  CHECK(text
        == "Job job_1 of queue q is not running:\n"
           "  1. The queue q is held until 2025-01-01 00:00:28 (in 28 s), "
           "since 2024-12-31 23:59:57 (3 s ago): the downstream answered 429. "
           "Job job_9 caused it.\n"
           "     tidegate queues release q\n"
           "It can go at 2025-01-01 00:00:28 (in 28 s), if nothing else "
           "shuts.\n"
           "The last probe of the queue, job job_9, came to \"deferred\" at "
           "2024-12-31 23:59:57 (3 s ago).\n");
}

TEST_CASE("every gate has its own words") {
  constexpr std::array gates = {
    "hold",     "probe",           "paused", "concurrency",       "rate",
    "delay",    "backoff",         "defer",  "key_hold",          "key_probe",
    "key_rate", "key_concurrency", "ramp",   "global_concurrency"};
  std::vector<std::string> seen;
  for (auto gate : gates) {
    auto sentence = sentence_about(gate);
    CAPTURE(gate, sentence);
    CHECK(sentence.find("until 2025-01-01 00:00:30 (in 30 s): so it is.")
          != std::string::npos);
    CHECK(sentence.find("gate") == std::string::npos);
    CHECK(std::find(seen.begin(), seen.end(), sentence) == seen.end());
    seen.push_back(sentence);
  }
  CHECK(sentence_about("tide")
        == "The gate \"tide\" is shut until 2025-01-01 00:00:30 (in 30 s): "
           "so it is.");
}

TEST_CASE("the last gate to open decides when a job can go") {
  auto early = R"({"gate":"rate","until":"2025-01-01T00:00:01.000Z"})";
  auto late = R"({"gate":"delay","until":"2025-01-01T00:00:09.000Z"})";
  auto never = R"({"gate":"paused","until":null})";
  using std::string;
  CHECK(explain(blocked_by(string{late} + ',' + early))
          .find("It can go at 2025-01-01 00:00:09 (in 9 s)")
        != string::npos);
  CHECK(explain(blocked_by(string{early} + ',' + never))
          .find("It cannot go before 2025-01-01 00:00:01 (in 1 s)")
        != string::npos);
  auto text = explain(blocked_by(never));
  CHECK(text.find("The queue q is paused until somebody resumes it.")
        != string::npos);
  CHECK(text.find("Nobody can say when it goes") != string::npos);
}

TEST_CASE("a job whose lifetime ends before its gates open will not go") {
  auto gate =
    blocked_by(R"({"gate":"hold","until":"2025-01-01T00:00:30.000Z"})");
  CHECK(explain(gate + R"(,"expiresAt":"2025-01-01T00:00:09.000Z")")
          .find("It will not go: its lifetime ends at 2025-01-01 00:00:09 (in "
                "9 s), before it could at 2025-01-01 00:00:30 (in 30 s).\n")
        != std::string::npos);
  CHECK(explain(gate + R"(,"expiresAt":"2025-01-01T00:01:09.000Z")")
          .find("It can go at 2025-01-01 00:00:30")
        != std::string::npos);
}

TEST_CASE("a job that nothing blocks is said to be free") {
  CHECK(explain(R"("status":"pending","blockedBy":[])")
        == "Job job_1 of queue q is due and goes when its turn comes: nothing "
           "blocks it.\n");
  CHECK(explain(R"("status":"processing","blockedBy":[],"lastError":"no")")
          .find("is being delivered")
        != std::string::npos);
  CHECK(explain(R"("status":"awaiting_ack","blockedBy":[],
                   "ackDeadline":"2025-01-01T00:00:09.000Z")")
        == "Job job_1 of queue q was taken by its webhook, and its worker owes "
           "an ack, nack or defer until 2025-01-01 00:00:09 (in 9 s).\n");
}

TEST_CASE("a probe is named as what it is, not as what shut the gate") {
  for (const std::string gate : {"probe", "key_probe"}) {
    auto text = explain(
      blocked_by(R"({"gate":")" + gate + R"(","causedByJob":"job_9"})"));
    CHECK(text.find(" Job job_9 is the probe.") != std::string::npos);
  }
  CHECK(explain(blocked_by(R"({"gate":"probe","causedByJob":"job_1"})"))
          .find(" This job is the probe.")
        != std::string::npos);
}

TEST_CASE("a job that has ended is not going to run") {
  CHECK(explain(R"("status":"completed",
                   "completedAt":"2024-12-31T23:59:57.000Z")")
        == "Job job_1 is done, since 2024-12-31 23:59:57 (3 s ago).\n");
  CHECK(explain(R"("status":"dead","deadAt":"2024-12-31T23:59:57.000Z",
                   "deadReason":"attempts_exhausted","attempts":3,
                   "lastError":"the webhook answered 500")")
        == "Job job_1 is dead, since 2024-12-31 23:59:57 (3 s ago): "
           "attempts_exhausted, after 3 attempts.\n"
           "Its last error: the webhook answered 500.\n"
           "It will not run unless it is replayed:\n"
           "     tidegate jobs replay job_1\n");
  CHECK(explain(R"("status":"dead","deadReason":"cancelled","attempts":1)")
          .find("cancelled, after 1 attempt.\n")
        != std::string::npos);
}

TEST_CASE("a job that is to run now says what it waits for all the same") {
  auto said = [](const std::string& members) {
    auto text = say_run_now(R"({"id":"job_1","queue":"q",)" + members + '}',
                            now);
    REQUIRE(text);
    return *text;
  };
  CHECK(said(R"("status":"pending","blockedBy":[])") == "due now: job_1\n");
  CHECK(said(R"("status":"processing","blockedBy":[])")
        == "due now, or on its way: job_1\n");
  CHECK(said(R"("status":"awaiting_ack","blockedBy":[])")
        == "job_1 was taken by its webhook: its worker owes an ack, nack or "
           "defer\n");
  CHECK(said(blocked_by(R"({"gate":"defer","reason":"the webhook answered 429",
                   "until":"2025-01-01T00:00:30.000Z"},
                  {"gate":"paused","until":null})"))
        == "run-now ends a delay or a backoff only: job_1 does not go yet:\n"
           "  1. The job is deferred until 2025-01-01 00:00:30 (in 30 s): the "
           "webhook answered 429.\n"
           "  2. The queue q is paused until somebody resumes it.\n"
           "     tidegate queues resume q\n");
  CHECK_FALSE(say_run_now("{}", now));
}
