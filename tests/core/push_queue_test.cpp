// A push queue at work: counting, ends, order, limits.

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

template <class F>
queue_settings with(F change) {
  auto result = plain_settings();
  change(result);
  return result;
}

std::vector<std::uint64_t> started_jobs(const workbench& w) {
  std::vector<std::uint64_t> result;
  for (const auto& s : w.log())
    result.push_back(s.what.job.seq.value);
  return result;
}

using list = std::vector<std::uint64_t>;

} // namespace

// -- a job that goes well -----------------------------------------------------

TEST_CASE("a job goes out as soon as it is stored, and is done") {
  workbench w;
  auto job = w.publish();
  REQUIRE(w.in_flight().size() == 1);
  const auto& d = w.in_flight()[0];
  CHECK(d.job == job);
  CHECK(d.queue_name == "test");
  CHECK(d.payload == w.stored(job).payload);
  CHECK(d.attempt == 1);
  CHECK(d.max_attempts == 3);
  CHECK(d.defers == 0);
  CHECK(d.number == 1);
  CHECK(d.url == "http://example.com/");
  CHECK(d.timeout == seconds(15));
  CHECK(d.secrets == std::vector<signing_secret>{"whsec_dGVzdA=="});
  CHECK_FALSE(d.probe);
  w.pass(seconds(2));
  w.answer(job, answered(204));
  CHECK(w.stored(job).status == job_status::completed);
  CHECK(w.stored(job).attempts == 1);
  CHECK(w.stored(job).deliveries == 1);
  CHECK(w.stored(job).ended_at == at(2).wall);
  REQUIRE(w.history(job).size() == 1);
  CHECK(w.history(job)[0].status == delivery_status::success);
  CHECK(w.history(job)[0].http_status == 204);
  CHECK(w.history(job)[0].attempt == 1);
  CHECK(w.history(job)[0].delivery == 1);
  CHECK(w.queue().live_jobs() == 0);
}

TEST_CASE("a job goes out only when its publish is stored") {
  workbench w;
  w.keep_commits_back();
  w.publish();
  CHECK(w.log().empty());
  w.commit();
  CHECK(w.log().size() == 1);
}

TEST_CASE("a delayed job goes out at its time and not before") {
  workbench w;
  auto job = w.publish(seconds(10));
  CHECK(w.stored(job).eligible_at == at(10).wall);
  w.pass(seconds(9.999999));
  CHECK(w.log().empty());
  w.pass(duration{1});
  CHECK(w.log().size() == 1);
}

TEST_CASE("a delay counts from the publish, not from the commit") {
  workbench w;
  w.keep_commits_back();
  w.publish(seconds(10));
  w.pass(seconds(4));
  w.commit();
  w.pass(seconds(6));
  CHECK(w.log().size() == 1);
}

// -- counting -----------------------------------------------------------------

TEST_CASE("not now burns no attempt: ten defers, two failures, twelve POSTs") {
  workbench w{with([](auto& s) { s.max_attempts = 2; })};
  auto job = w.publish();
  for (auto i = 0; i < 10; ++i) {
    REQUIRE(w.in_flight().size() == 1);
    CHECK(w.in_flight()[0].attempt == 1);
    CHECK(w.in_flight()[0].defers == static_cast<std::uint64_t>(i));
    w.answer(job, answered(429, {"1"}));
    w.pass(seconds(1));
  }
  w.answer(job, answered(500));
  w.pass(seconds(3600));
  w.answer(job, answered(500));
  CHECK(w.log().size() == 12);
  CHECK(w.stored(job).status == job_status::dead);
  CHECK(w.stored(job).dead_reason == dead_reason::attempts_exhausted);
  CHECK(w.stored(job).defers == 10);
  CHECK(w.stored(job).attempts == 2);
  CHECK(w.stored(job).deliveries == 12);
  CHECK(w.history(job).size() == 12);
}

TEST_CASE("defers never feed the backoff of the first real failure") {
  workbench w;
  auto job = w.publish();
  for (auto i = 0; i < 20; ++i) {
    w.answer(job, answered(429, {"1"}));
    w.pass(seconds(1));
  }
  w.answer(job, answered(404));
  CHECK(w.stored(job).due == w.now().wall + seconds(1));
  CHECK(w.stored(job).waits_for == wait_kind::backoff);
}

TEST_CASE("a failure waits 1, then 2 s, jittered by the lot") {
  workbench w{with([](auto& s) { s.backoff.jitter = 0.5; })};
  auto job = w.publish();
  w.answer(job, answered(500), 0);
  CHECK(w.stored(job).due == at(1).wall);
  w.pass(seconds(1));
  w.answer(job, answered(500), 0.5);
  CHECK(w.stored(job).due == at(2.5).wall);
}

TEST_CASE("a wait that the downstream named is not jittered") {
  workbench w{with([](auto& s) { s.backoff.jitter = 1; })};
  auto job = w.publish();
  w.answer(job, answered(429, {"7"}), 0.9);
  CHECK(w.stored(job).due == at(7).wall);
}

TEST_CASE("the attempt in the body moves on with failures only") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(500));
  w.pass(seconds(1));
  CHECK(w.in_flight()[0].attempt == 2);
  CHECK(w.in_flight()[0].number == 2);
  w.answer(job, answered(429, {"1"}));
  w.pass(seconds(1));
  CHECK(w.in_flight()[0].attempt == 2);
  CHECK(w.in_flight()[0].number == 3);
  CHECK(w.in_flight()[0].defers == 1);
}

TEST_CASE("the 51st defer is one too many, and is counted") {
  workbench w;
  auto job = w.publish();
  for (auto i = 0; i < 50; ++i) {
    w.answer(job, answered(429, {"1"}));
    REQUIRE(w.stored(job).status == job_status::processing);
    w.pass(seconds(1));
  }
  w.answer(job, answered(429, {"1"}));
  CHECK(w.stored(job).dead_reason == dead_reason::defer_cap_exhausted);
  CHECK(w.stored(job).defers == 51);
  CHECK(w.stored(job).attempts == 0);
  CHECK(w.gate() == gate_state::held);
}

TEST_CASE("without any budget of defers the first one is fatal") {
  workbench w{with([](auto& s) { s.max_defers = 0; })};
  auto job = w.publish();
  w.answer(job, answered(503));
  CHECK(w.stored(job).dead_reason == dead_reason::defer_cap_exhausted);
  CHECK(w.stored(job).defers == 1);
}

TEST_CASE("every kind of failure spends the budget and leaves a line") {
  auto reply = GENERATE(answered(100), answered(101), answered(301),
                        answered(304), answered(400), answered(403),
                        answered(404), answered(408), answered(425),
                        answered(500), answered(502), answered(599),
                        unanswered(delivery_errc::dns_failed),
                        unanswered(delivery_errc::tls_certificate_expired),
                        unanswered(delivery_errc::connection_reset),
                        unanswered(delivery_errc::timeout),
                        unanswered(delivery_errc::malformed_response));
  workbench w{with([](auto& s) { s.max_attempts = 1; })};
  auto job = w.publish();
  w.answer(job, reply);
  CHECK(w.stored(job).dead_reason == dead_reason::attempts_exhausted);
  CHECK(w.stored(job).attempts == 1);
  REQUIRE(w.history(job).size() == 1);
  CHECK(w.history(job)[0].status == delivery_status::failed);
  CHECK(w.history(job)[0].error_code == reply.error_code);
  CHECK(w.history(job)[0].http_status == reply.http_status);
  CHECK_FALSE(w.history(job)[0].error.empty());
  CHECK(w.gate() == gate_state::open);
}

TEST_CASE("a line of the history keeps what the downstream said, as text") {
  workbench w;
  auto job = w.publish();
  auto reply = answered(429, {"2"});
  reply.excerpt = std::string{"a\0\xFFz", 4} + std::string(3000, 'x');
  reply.took = seconds(0.25);
  w.answer(job, reply);
  const auto& line = w.history(job).at(0);
  CHECK(line.status == delivery_status::deferred);
  CHECK(line.retry_after == seconds(2));
  CHECK(line.took == seconds(0.25));
  CHECK(line.at == at(0).wall);
  CHECK(line.response_excerpt.size() == 2048);
  CHECK(line.response_excerpt.substr(0, 9) == "a\xEF\xBF\xBD\xEF\xBF\xBDzx");
}

TEST_CASE("counters survive a restart") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(500));
  w.pass(seconds(1));
  w.answer(job, answered(429, {"5"}));
  auto before = w.stored(job);
  w.restart(seconds(1));
  w.pass(seconds(4));
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].attempt == 2);
  CHECK(w.in_flight()[0].defers == 1);
  CHECK(w.in_flight()[0].number == before.deliveries + 1);
}

TEST_CASE("fifty restarts make neither more jobs nor fewer") {
  workbench w{with([](auto& s) { s.concurrency = 5; })};
  w.publish_many(10);
  for (auto i = 0; i < 50; ++i) {
    w.restart(seconds(1));
    CHECK(w.queue().live_jobs() == 10);
    CHECK(w.in_flight().size() == 5);
  }
  while (!w.in_flight().empty())
    w.answer(std::size_t{0}, answered(200));
  CHECK(w.store().queue().completed == 10);
}

TEST_CASE("a slot is free again after every kind of end, a thousand times") {
  workbench w{with([](auto& s) { s.max_attempts = 1; })};
  for (auto i = 0; i < 1000; ++i) {
    auto job = w.publish();
    constexpr std::uint16_t statuses[] = {200, 500, 404, 302};
    w.answer(job, answered(statuses[i % 4]));
    REQUIRE(w.queue().in_flight() == 0);
  }
  CHECK(w.store().ended().size() == 1000);
}

// -- lifetime -----------------------------------------------------------------

TEST_CASE("the lifetime counts from the end of the delay") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  w.pause();
  auto job = w.publish(seconds(30));
  w.pass(seconds(39.999999));
  CHECK(w.stored(job).status == job_status::pending);
  w.pass(duration{1});
  CHECK(w.stored(job).dead_reason == dead_reason::lifetime_exceeded);
}

TEST_CASE("a job expires during a hold") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  auto first = w.publish();
  auto second = w.publish();
  auto third = w.publish();
  w.answer(first, answered(429, {"60"}));
  CHECK(w.stored(first).dead_reason
        == dead_reason::retry_after_exceeds_lifetime);
  CHECK(w.gate() == gate_state::held);
  w.pass(seconds(10));
  CHECK(w.stored(third).status == job_status::dead);
  CHECK(w.stored(third).dead_reason == dead_reason::lifetime_exceeded);
  CHECK(w.history(third).empty());
  // What is being delivered is not torn away.
  CHECK(w.stored(second).status == job_status::pending);
  w.answer(second, answered(200));
  CHECK(w.stored(second).status == job_status::completed);
}

TEST_CASE("a job in flight at its end is judged when the delivery ends") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  auto one = w.publish();
  auto two = w.publish();
  w.pass(seconds(20));
  CHECK(w.in_flight().size() == 2);
  w.answer(one, answered(500));
  CHECK(w.stored(one).dead_reason == dead_reason::lifetime_exceeded);
  CHECK(w.stored(one).attempts == 1);
  w.answer(two, answered(429, {"0"}));
  CHECK(w.stored(two).dead_reason == dead_reason::retry_after_exceeds_lifetime);
}

TEST_CASE("a defer within the lifetime is none too long") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  auto job = w.publish();
  w.answer(job, answered(429, {"9"}));
  w.pass(seconds(9));
  CHECK(w.in_flight().size() == 1);
  w.answer(job, answered(429, {"2"}));
  CHECK(w.stored(job).dead_reason == dead_reason::retry_after_exceeds_lifetime);
  CHECK(w.stored(job).defers == 2);
}

TEST_CASE("a new lifetime is for jobs to come") {
  workbench w;
  auto old = w.publish(seconds(60));
  w.change([](auto& s) { s.lifetime = seconds(5); });
  auto young = w.publish(seconds(60));
  w.pause();
  w.pass(seconds(65));
  CHECK(w.stored(old).status == job_status::pending);
  CHECK(w.stored(young).dead_reason == dead_reason::lifetime_exceeded);
}

TEST_CASE("a thousand jobs expire at once, and each is in the store") {
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  w.pause();
  w.publish_many(1000);
  w.restart();
  w.pass(seconds(10));
  CHECK(w.store().live().empty());
  CHECK(w.store().queue().dead == 1000);
  CHECK(w.log().empty());
}

// -- order --------------------------------------------------------------------

TEST_CASE("the earlier due goes first, and arrival decides between equals") {
  workbench w{with([](auto& s) { s.concurrency = 1; })};
  w.pause();
  w.publish(seconds(3));
  w.publish(seconds(1));
  w.publish();
  w.publish();
  w.publish(seconds(2));
  w.pass(seconds(3));
  w.resume();
  while (!w.in_flight().empty())
    w.answer(std::size_t{0}, answered(200));
  CHECK(started_jobs(w) == list{3, 4, 2, 5, 1});
}

TEST_CASE("a retry goes by its due time, behind what was due before") {
  workbench w{with([](auto& s) { s.concurrency = 1; })};
  auto first = w.publish();
  w.publish_many(2);
  w.answer(first, answered(500));
  w.pass(seconds(5));
  w.answer(std::size_t{0}, answered(200));
  w.answer(std::size_t{0}, answered(200));
  CHECK(started_jobs(w) == list{1, 2, 3, 1});
}

TEST_CASE("ten thousand jobs go out in order") {
  workbench w;
  w.pause();
  w.publish_many(10'000);
  w.resume();
  while (!w.in_flight().empty())
    w.answer(std::size_t{0}, answered(200));
  auto order = started_jobs(w);
  CHECK(order.size() == 10'000);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

// -- pause --------------------------------------------------------------------

TEST_CASE("while paused nothing starts, and what runs is finished") {
  workbench w;
  auto running = w.publish();
  w.pause();
  w.publish();
  CHECK(w.log().size() == 1);
  w.answer(running, answered(200));
  CHECK(w.stored(running).status == job_status::completed);
  CHECK(w.log().size() == 1);
  w.resume();
  CHECK(w.log().size() == 2);
}

TEST_CASE("what came due during a pause goes out under the limits") {
  workbench w;
  for (auto i = 1; i <= 10; ++i)
    w.publish(seconds(i));
  w.pause();
  w.pass(seconds(60));
  CHECK(w.log().empty());
  w.resume();
  CHECK(w.in_flight().size() == 2);
}

TEST_CASE("pausing twice is pausing once") {
  workbench w;
  w.pause();
  w.pass(seconds(5));
  CHECK(w.queue().pause(w.now()).empty());
  CHECK(w.view().queue.paused_since == at(0).wall);
  w.resume();
  CHECK(w.queue().resume(w.now()).empty());
}

TEST_CASE("a pause survives a restart") {
  workbench w;
  w.publish(seconds(1));
  w.pause();
  w.restart(seconds(10));
  CHECK(w.view().queue.paused);
  CHECK(w.log().empty());
  w.resume();
  CHECK(w.log().size() == 1);
}

TEST_CASE("writing the settings neither resumes nor releases") {
  workbench w;
  auto job = w.publish();
  w.answer(job, answered(429, {"60"}));
  w.pause();
  auto held = w.view().queue.gate;
  w.pass(seconds(1));
  w.change([](auto&) {});
  w.change([](auto& s) { s.concurrency = 7; });
  CHECK(w.view().queue.paused);
  CHECK(w.view().queue.gate == held);
  CHECK(w.store().queue().paused);
  CHECK(w.store().queue().settings.concurrency == 7);
}

// -- concurrency and rate -----------------------------------------------------

TEST_CASE("no more are in flight than the limit, and no slot stays idle") {
  workbench w{with([](auto& s) { s.concurrency = 3; })};
  w.publish_many(10);
  for (auto left = 10; left > 0; --left) {
    CHECK(w.in_flight().size() == static_cast<std::size_t>(std::min(3, left)));
    w.answer(std::size_t{0}, answered(200));
  }
}

TEST_CASE("a lower limit lets what runs finish") {
  workbench w{with([](auto& s) { s.concurrency = 4; })};
  w.publish_many(6);
  w.change([](auto& s) { s.concurrency = 1; });
  CHECK(w.in_flight().size() == 4);
  for (auto n : {3u, 2u, 1u, 1u, 1u, 0u}) {
    w.answer(std::size_t{0}, answered(200));
    CHECK(w.in_flight().size() == n);
  }
}

TEST_CASE("a higher limit is used at once") {
  workbench w;
  w.publish_many(6);
  w.change([](auto& s) { s.concurrency = 5; });
  CHECK(w.in_flight().size() == 5);
}

TEST_CASE("the rate counts starts, whatever becomes of them") {
  workbench w{with([](auto& s) {
    s.concurrency = 10;
    s.rate_limit_max = 2;
    s.rate_limit_window = seconds(10);
  })};
  w.publish_many(5);
  CHECK(w.log().size() == 2);
  w.answer_all(answered(500));
  w.pass(seconds(9.999999));
  CHECK(w.log().size() == 2);
  w.pass(duration{1});
  CHECK(w.log().size() == 4);
}

TEST_CASE("a rate with room again right after a look is not slept through") {
  workbench w;
  w.change([](auto& s) {
    s.rate_limit_max = 1;
    s.rate_limit_window = seconds(2);
  });
  w.publish_many(2);
  auto& queue = w.queue();
  REQUIRE(queue.advance(at(1.999999)).empty());
  REQUIRE(queue.next_wakeup() == at(2).steady);
  CHECK_FALSE(queue.advance(at(2.000001)).empty());
}

TEST_CASE("a restart lets out no more than the rate") {
  workbench w{with([](auto& s) {
    s.concurrency = 10;
    s.rate_limit_max = 2;
    s.rate_limit_window = seconds(10);
  })};
  w.publish_many(5);
  for (auto i = 0; i < 9; ++i) {
    w.restart(seconds(1));
    CHECK(w.log().size() == 2);
  }
  w.pass(seconds(1));
  CHECK(w.log().size() == 4);
}

TEST_CASE("the probe counts against the rate and waits for it") {
  workbench w{with([](auto& s) {
    s.rate_limit_max = 1;
    s.rate_limit_window = seconds(10);
  })};
  auto job = w.publish();
  w.answer(job, answered(429, {"1"}));
  w.pass(seconds(9.999999));
  CHECK(w.log().size() == 1);
  w.pass(duration{1});
  CHECK(w.log().size() == 2);
  CHECK(w.in_flight()[0].probe);
  w.answer(job, answered(500));
  w.pass(seconds(9.999999));
  CHECK(w.log().size() == 2);
}

// -- wall clock ---------------------------------------------------------------

TEST_CASE("a step of the wall clock moves no wait") {
  auto step = GENERATE(std::chrono::hours{1}, std::chrono::hours{-1},
                       std::chrono::hours{24}, std::chrono::hours{-24});
  workbench w{with([](auto& s) { s.concurrency = 1; })};
  auto deferred = w.publish();
  w.answer(deferred, answered(429, {"10"}));
  auto delayed = w.publish(seconds(20));
  w.pass(seconds(5));
  w.step_wall_clock(step);
  w.pass(seconds(4.999999));
  CHECK(w.log().size() == 1);
  w.pass(duration{1});
  REQUIRE(w.log().size() == 2);
  w.answer(deferred, answered(500));
  w.pass(seconds(1));
  REQUIRE(w.log().size() == 3);
  w.answer(deferred, answered(200));
  w.pass(seconds(8.999999));
  CHECK(w.log().size() == 3);
  w.pass(duration{1});
  REQUIRE(w.log().size() == 4);
  CHECK(w.log()[3].what.job == delayed);
}

TEST_CASE("a step of the wall clock moves no lifetime") {
  auto step = GENERATE(std::chrono::hours{24}, std::chrono::hours{-24});
  workbench w{with([](auto& s) { s.lifetime = seconds(10); })};
  w.pause();
  auto job = w.publish();
  w.pass(seconds(5));
  w.step_wall_clock(step);
  w.pass(seconds(4.999999));
  CHECK(w.stored(job).status == job_status::pending);
  w.pass(duration{1});
  CHECK(w.stored(job).dead_reason == dead_reason::lifetime_exceeded);
}

TEST_CASE("a step of the wall clock during the commit moves no delay") {
  auto step = GENERATE(std::chrono::hours{1}, std::chrono::hours{-1});
  workbench w;
  w.keep_commits_back();
  w.publish(seconds(10));
  w.pass(seconds(4));
  w.step_wall_clock(step);
  w.commit();
  w.pass(seconds(5.999999));
  CHECK(w.log().empty());
  w.pass(duration{1});
  CHECK(w.log().size() == 1);
}

TEST_CASE("what waits for nothing goes after a restart, whatever the clock") {
  workbench w;
  w.pause();
  w.publish_many(3);
  w.step_wall_clock(std::chrono::hours{-24});
  w.restart();
  w.resume();
  CHECK(started_jobs(w) == list{1, 2});
}

// -- settings -----------------------------------------------------------------

TEST_CASE("each setting can be seen in what is done") {
  workbench w;
  auto job = w.publish();
  w.change([](auto& s) {
    s.webhook_url = "http://other.example/";
    s.timeout = seconds(3);
    s.headers = {{"x-a", "b"}};
    s.max_attempts = 2;
    s.backoff.delay = 7;
  });
  CHECK(w.in_flight()[0].url == "http://example.com/");
  w.answer(job, answered(500));
  CHECK(w.stored(job).due == at(7).wall);
  w.pass(seconds(7));
  const auto& d = w.in_flight().at(0);
  CHECK(d.url == "http://other.example/");
  CHECK(d.timeout == seconds(3));
  CHECK(d.headers == std::vector<header>{{"x-a", "b"}});
  CHECK(d.max_attempts == 2);
  w.answer(job, answered(500));
  CHECK(w.stored(job).dead_reason == dead_reason::attempts_exhausted);
}

// -- strangers ----------------------------------------------------------------

TEST_CASE("an end that nobody waits for is not heard") {
  workbench w;
  CHECK(w.queue().ended(job_seq{99}, 1, answered(200), 0, w.now()).empty());
  auto job = w.publish();
  w.answer(job, answered(500));
  CHECK(w.queue().ended(job.seq, 1, answered(200), 0, w.now()).empty());
  CHECK(w.stored(job).attempts == 1);
}

TEST_CASE("a store that has none of what it should is not believed") {
  workbench w;
  w.publish_many(3);
  w.keep_loads_back();
  w.restart();
  REQUIRE(w.has_loads());
  CHECK_FALSE(w.queue().loaded({}, w.now()));
}

TEST_CASE("an end of ours is no attempt: the job goes again at once") {
  workbench w;
  auto job = w.publish();
  w.answer(job, unanswered(delivery_errc::aborted));
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].attempt == 1);
  w.answer(job, answered(200));
  CHECK(w.stored(job).attempts == 1);
  CHECK(w.history(job).size() == 1);
}
