// From publish to completed, through the real actors in virtual time.

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

publish with_key(std::string key, std::string body = "{}") {
  publish result;
  result.payload = payload{std::move(body)};
  result.idempotency_key = std::move(key);
  return result;
}

} // namespace

TEST_CASE("a job that was published is delivered and completed") {
  world w;
  w.create("q");
  auto published = w.put("q");
  CHECK(published.status == job_status::pending);
  CHECK_FALSE(published.duplicate);
  w.advance(1s);
  auto job = w.get(published.id);
  CHECK(job.record.job.status == job_status::completed);
  CHECK(job.record.job.attempts == 1);
  CHECK(job.record.job.deliveries == 1);
  REQUIRE(job.record.history.size() == 1);
  CHECK(job.record.history[0].status == delivery_status::success);
  CHECK(job.record.history[0].http_status == 200);
  CHECK(job.record.history[0].took == 20ms);
  CHECK(w.get("q").counts.completed == 1);
}

TEST_CASE("a delivery carries the bytes that were published") {
  world w;
  w.create("q");
  publish odd;
  odd.payload = payload{R"({"a":12345678901234567890123 ,"a":1E5,"z":-0})"};
  w.put("q", odd);
  w.advance(1s);
  REQUIRE(w.downstream().arrivals().size() == 1);
  CHECK(w.downstream().arrivals()[0].what.payload == odd.payload);
}

TEST_CASE("nothing is delivered before its time") {
  world w;
  w.create("q");
  publish later;
  later.delay = 10s;
  auto id = w.put("q", later).id;
  w.advance(9'999ms);
  CHECK(w.downstream().arrivals().empty());
  auto job = w.get(id);
  REQUIRE(job.blocked.size() == 1);
  CHECK(job.blocked[0].gate == gate_kind::delay);
  w.advance(1ms);
  CHECK(w.downstream().arrivals().size() == 1);
}

TEST_CASE("two hundred publishes with one key make one job and one delivery") {
  world w{42};
  w.create("q");
  auto queue = w.queue("q");
  std::vector<std::shared_ptr<std::optional<result<publish_result>>>> answers;
  for (int i = 0; i < 200; ++i)
    answers.push_back(
      w.system().begin_ask<publish_result>(queue, with_key("k")));
  w.advance(1s);
  int first = 0;
  for (auto& answer : answers) {
    REQUIRE(*answer);
    REQUIRE(**answer);
    first += (**answer)->duplicate ? 0 : 1;
    CHECK((**answer)->id == (**answers[0])->id);
  }
  CHECK(first == 1);
  CHECK(w.downstream().arrivals().size() == 1);
}

TEST_CASE("a repeat of a key says when the payload is another one") {
  world w;
  w.create("q");
  w.put("q", with_key("k", "1"));
  w.advance(1s);
  auto same = w.put("q", with_key("k", "1"));
  CHECK(same.duplicate);
  CHECK_FALSE(same.payload_mismatch);
  CHECK(same.status == job_status::completed);
  CHECK(w.put("q", with_key("k", "2")).payload_mismatch);
}

TEST_CASE("what arrives while a commit runs is committed as one") {
  world w;
  w.create("q");
  auto queue = w.queue("q");
  for (int i = 0; i < 100; ++i)
    w.system().begin_ask<publish_result>(queue, with_key(""));
  w.advance(1s);
  CHECK(w.faults().batch_max >= 50);
  CHECK(w.get("q").counts.completed == 100);
}

TEST_CASE("a backlog is read from the store and delivered in order") {
  world w;
  queue_settings settings;
  settings.concurrency = 1;
  w.create("q", settings);
  w.pause("q");
  for (int i = 0; i < 3'000; ++i) {
    publish p;
    p.payload = payload{std::to_string(i)};
    w.put("q", std::move(p));
  }
  w.crash();
  w.resume("q");
  w.advance(5min);
  const auto& seen = w.downstream().arrivals();
  REQUIRE(seen.size() == 3'000);
  for (std::size_t i = 0; i < seen.size(); ++i)
    REQUIRE(seen[i].what.payload.bytes() == std::to_string(i));
}
