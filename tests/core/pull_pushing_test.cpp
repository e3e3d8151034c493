// A pull queue that pushes its messages to a webhook.

#include <catch2/catch.hpp>

#include "tests/core/pull_bench.hpp"
#include "tests/core/replies.hpp"

using namespace tidegate;
using namespace tidegate::testing;
using kind = settle_message::kind;

namespace {

pull_settings receives(std::uint32_t most) {
  pull_settings result;
  result.max_receive_count = most;
  return result;
}

} // namespace

TEST_CASE("a message that is pushed is leased, and a 2xx is its ack") {
  pull_bench w;
  w.subscribe();
  auto id = w.publish();
  REQUIRE(w.under_way().size() == 1);
  const auto& d = w.under_way()[0];
  REQUIRE(d.message);
  CHECK(d.message->job.attempts == 1);
  CHECK_FALSE(d.message->handle);
  CHECK(w.consume().empty());
  w.pass(std::chrono::hours{1});
  CHECK(w.value().view(w.now()).in_flight == 1);
  w.answer(answered(200));
  CHECK(w.value().live_messages() == 0);
  CHECK(w.row(id).status == job_status::completed);
  CHECK(w.value().view(w.now()).queue.totals.acked == 1);
}

TEST_CASE("429 holds the queue, one probe goes out, and nothing is burned") {
  pull_bench w{receives(1)};
  w.subscribe(4);
  for (auto n = 0; n < 10; ++n)
    w.publish();
  REQUIRE(w.under_way().size() == 4);
  for (auto n = 0; n < 4; ++n)
    w.answer(answered(429, {"2"}));
  CHECK(w.under_way().empty());
  auto view = w.value().view(w.now());
  CHECK(view.queue.gate.state == gate_state::held);
  CHECK(view.available == 10);
  CHECK(view.queue.totals.received == 0);
  w.pass(std::chrono::seconds{2});
  REQUIRE(w.under_way().size() == 1);
  CHECK(w.under_way()[0].probe);
  w.pass(std::chrono::seconds{1});
  CHECK(w.under_way().size() == 1);
  w.answer(answered(429, {"3"}));
  w.pass(std::chrono::seconds{3});
  REQUIRE(w.under_way().size() == 1);
  w.answer(answered(200));
  CHECK(w.under_way().size() == 4);
  while (!w.under_way().empty())
    w.answer(answered(200));
  CHECK(w.value().view(w.now()).queue.totals.acked == 10);
}

TEST_CASE("a failure is a nack with backoff, and the last one dead-letters") {
  pull_bench w{receives(2)};
  w.subscribe();
  auto id = w.publish();
  w.answer(answered(500));
  CHECK(w.under_way().empty());
  CHECK(w.value().view(w.now()).delayed == 1);
  w.pass(std::chrono::seconds{1});
  REQUIRE(w.under_way().size() == 1);
  CHECK(w.under_way()[0].attempt == 2);
  w.answer(answered(500));
  CHECK(w.row(id).id.queue == queue_id{2});
  CHECK(w.value().view(w.now()).queue.totals.nacked == 2);
}

TEST_CASE("a probe that told nothing lets another message have a try") {
  pull_bench w{receives(0)};
  w.subscribe(1);
  w.publish();
  w.publish();
  w.answer(answered(429, {"1"}));
  w.pass(std::chrono::seconds{1});
  auto first = w.under_way().at(0).job;
  w.answer(answered(500));
  w.pass(std::chrono::seconds{1});
  REQUIRE(w.under_way().size() == 1);
  CHECK(w.under_way()[0].probe);
  CHECK(w.under_way()[0].job != first);
}

TEST_CASE("a push that the process did not survive does not count") {
  pull_bench w{receives(1)};
  w.subscribe();
  auto id = w.publish();
  REQUIRE(w.under_way().size() == 1);
  auto number = w.under_way()[0].number;
  w.restart();
  REQUIRE(w.under_way().size() == 1);
  CHECK(w.under_way()[0].number == number + 1);
  CHECK(w.under_way()[0].attempt == 1);
  w.answer(answered(200));
  CHECK(w.row(id).status == job_status::completed);
}

TEST_CASE("a hold and its probe are there after a restart") {
  auto in_probe = GENERATE(false, true);
  pull_bench w;
  w.subscribe(2);
  w.publish();
  w.publish();
  w.publish();
  w.answer(answered(503, {"10"}));
  w.answer(answered(503, {"10"}));
  w.pass(std::chrono::seconds{in_probe ? 10 : 9});
  CHECK(w.under_way().size() == (in_probe ? 1 : 0));
  w.restart();
  w.pass(std::chrono::seconds{1});
  REQUIRE(w.under_way().size() == 1);
  CHECK(w.under_way()[0].probe);
}

TEST_CASE("who consumes by hand goes first, held or not") {
  pull_bench w;
  w.subscribe(1);
  w.publish();
  auto waiter = w.wait(1, std::chrono::seconds{20});
  w.publish();
  CHECK(w.handed().at(waiter).size() == 1);
  w.answer(answered(429, {"60"}));
  CHECK(w.consume().size() == 1);
}

TEST_CASE("what was settled by hand is not settled by its answer") {
  pull_bench w;
  w.subscribe();
  auto id = w.publish();
  w.say(kind::ack, id);
  CHECK(w.row(id).status == job_status::completed);
  w.answer(answered(500));
  CHECK(w.value().view(w.now()).posts == 0);
  CHECK(w.value().view(w.now()).queue.totals.nacked == 0);
}

TEST_CASE("what is under way finishes when a subscription ends") {
  pull_bench w;
  w.subscribe(2);
  w.publish();
  auto id = w.publish();
  w.publish();
  w.answer(answered(429, {"60"}));
  w.unsubscribe();
  CHECK(w.value().view(w.now()).queue.gate.state == gate_state::open);
  CHECK(w.under_way().size() == 1);
  w.answer(answered(200));
  CHECK(w.row(id).status == job_status::completed);
  w.pass(std::chrono::hours{1});
  CHECK(w.under_way().empty());
  w.subscribe(2);
  CHECK(w.under_way().size() == 2);
}

TEST_CASE("a push that may go right after a look is not slept through") {
  pull_bench w;
  w.subscribe(10, 1);
  w.publish();
  w.publish();
  auto& queue = w.value();
  auto may_go = queue.next_wakeup();
  REQUIRE(may_go);
  auto before = w.now();
  auto gap = *may_go - before.steady;
  auto a_moment = seconds(0.000001);
  queue.advance({*may_go - a_moment, before.wall + gap - a_moment});
  REQUIRE(queue.next_wakeup() == may_go);
  queue.advance({*may_go + a_moment, before.wall + gap + a_moment});
  CHECK(queue.posts() == 2);
}

TEST_CASE("a delayed message is pushed when its time has come") {
  pull_bench w;
  w.subscribe();
  publish_message what;
  what.payload = payload{"1"};
  what.delay = std::chrono::seconds{5};
  w.publish(what);
  w.pass(std::chrono::seconds{4});
  CHECK(w.under_way().empty());
  w.pass(std::chrono::seconds{1});
  CHECK(w.under_way().size() == 1);
}

TEST_CASE("a fifo queue is pushed one message of a group at a time") {
  pull_settings settings;
  settings.fifo = true;
  pull_bench w{settings};
  w.subscribe();
  publish_message what;
  what.payload = payload{"1"};
  what.group = "a";
  auto first = w.publish(what);
  w.publish(what);
  REQUIRE(w.under_way().size() == 1);
  w.answer(answered(500));
  w.pass(std::chrono::seconds{1});
  REQUIRE(w.under_way().size() == 1);
  CHECK(w.under_way()[0].job.seq == first.seq);
  w.answer(answered(200));
  CHECK(w.under_way().size() == 1);
}
