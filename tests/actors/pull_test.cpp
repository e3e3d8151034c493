// Pull queues with their store, their dead-letter queues and their webhooks.

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "tests/actors/pull_world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;
using kind = settle_message::kind;

namespace {

pull_settings receives(std::uint32_t most) {
  pull_settings result;
  result.max_receive_count = most;
  return result;
}

std::uint64_t waiting(const pull_queue_view& view) {
  return view.available + view.delayed;
}

} // namespace

TEST_CASE(
  "the last lease that ends is in the dead-letter queue at that moment") {
  pull_world w;
  w.create_pull("q", receives(1));
  auto id = w.put("q").id;
  w.consume("q");
  w.advance(299s);
  CHECK(w.stats("q").dead_letters == 0);
  w.advance(1s);
  CHECK(w.stats("q").dead_letters == 1);
  auto dead = w.consume("q.dlq");
  REQUIRE(dead.size() == 1);
  CHECK(id_of(dead[0]) == id);
  CHECK(dead[0].job.attempts == 1);
  CHECK(dead[0].job.source_queue == "q");
}

TEST_CASE("a dead letter is kept as long as its queue says") {
  pull_world w;
  w.create_pull("q", receives(1));
  w.put("q");
  w.consume("q");
  w.advance(300s);
  auto crashes = GENERATE(false, true);
  if (crashes)
    w.crash();
  w.advance(14 * 24h - 1s);
  CHECK(waiting(w.stats("q.dlq")) == 1);
  w.advance(1s);
  CHECK(waiting(w.stats("q.dlq")) == 0);
  CHECK(w.stats("q.dlq").queue.totals.retired == 1);
}

TEST_CASE("what reaches a queue while it is being recovered is not lost") {
  // Both queues have failed, and attach one after the other; the first one goes
  // on and moves a message into the second, which was read together with it.
  auto first = GENERATE(true, false);
  pull_world w;
  w.create_pull("q", receives(1));
  w.create_pull("q.dlq", dead_letter_settings());
  w.put("q");
  w.consume("q");
  w.advance(300s - 500ms);
  w.faults().commits_until_failure = 0;
  auto in_queue = w.pull(first ? "q" : "q.dlq");
  auto in_other = w.pull(first ? "q.dlq" : "q");
  publish_message what;
  what.payload = payload{"2"};
  w.system().begin_ask<message_published>(in_queue, what);
  w.system().begin_ask<message_published>(in_other, what);
  w.advance(10s);
  CHECK(w.stats("q").dead_letters == 1);
  CHECK(w.consume("q.dlq", 10).size() == 1);
}

TEST_CASE("messages that are pushed survive an outage, and none is dead") {
  auto crashes = GENERATE(false, true);
  CAPTURE(crashes);
  pull_world w;
  w.create_pull("q", receives(1));
  w.subscribe("q", 16);
  w.downstream().behave(outage(10s, "2"));
  for (auto n = 0; n < 100; ++n)
    w.put("q");
  w.advance(5s);
  CHECK(w.stats("q").queue.gate.state != gate_state::open);
  if (crashes)
    w.crash();
  w.advance(20s);
  auto view = w.stats("q");
  CHECK(view.queue.gate.state == gate_state::open);
  CHECK(view.queue.totals.acked == 100);
  CHECK(view.queue.totals.received == 100);
  CHECK(view.dead_letters == 0);
  CHECK(waiting(view) + view.in_flight == 0);
  // The first round, and one probe every two seconds.
  CHECK(w.downstream().answered(429) == 16 + 4);
}

TEST_CASE("what is pushed when the process dies is pushed again, not counted") {
  pull_world w;
  w.create_pull("q", receives(1));
  w.subscribe("q");
  w.downstream().behave(always(response{200, {}, 10s}));
  auto id = w.put("q").id;
  w.advance(1s);
  w.crash();
  w.advance(20s);
  auto view = w.stats("q");
  CHECK(view.queue.totals.acked == 1);
  CHECK(view.dead_letters == 0);
  REQUIRE(w.downstream().arrivals().size() == 2);
  for (const auto& a : w.downstream().arrivals()) {
    REQUIRE(a.what.message);
    CHECK(id_of(*a.what.message) == id);
    CHECK(a.what.message->job.attempts == 1);
  }
}

TEST_CASE(
  "a failure of the webhook is retried, and the last one dead-letters") {
  pull_world w;
  w.create_pull("q", receives(3));
  w.subscribe("q");
  w.downstream().behave(always(response{500}));
  w.put("q");
  w.advance(1min);
  CHECK(w.downstream().arrivals().size() == 3);
  CHECK(w.stats("q").dead_letters == 1);
  CHECK(w.stats("q").queue.totals.nacked == 3);
}

TEST_CASE("a subscription that ended pushes nothing more, not after a crash") {
  pull_world w;
  w.create_pull("q");
  w.subscribe("q");
  w.ask<pull_queue_view>(w.pull("q"), unsubscribe_webhook{});
  w.put("q");
  w.crash();
  w.advance(1min);
  CHECK(w.downstream().arrivals().empty());
  CHECK(w.consume("q").size() == 1);
  CHECK(refusal_of(
          [&] { w.ask<pull_queue_view>(w.pull("q"), unsubscribe_webhook{}); })
        == errc::not_found);
}

TEST_CASE("what is pushed stays within what may be in flight over all queues") {
  pull_world w{0, 4};
  w.create_pull("a");
  w.create_pull("b");
  w.create("push");
  w.subscribe("a", 16);
  w.subscribe("b", 16);
  w.downstream().behave(always(response{200, {}, 100ms}));
  for (auto n = 0; n < 50; ++n) {
    w.put("a");
    w.put("b");
    w.world::put("push");
  }
  w.advance(1min);
  CHECK(w.downstream().in_flight_max() == 4);
  CHECK(w.stats("a").queue.totals.acked == 50);
  CHECK(w.stats("b").queue.totals.acked == 50);
  CHECK(w.get("push").counts.completed == 50);
}

TEST_CASE("a queue that loses its memory aborts what it pushes and goes on") {
  pull_world w;
  w.create_pull("q", receives(1));
  w.subscribe("q", 2);
  w.downstream().behave(always(response{200, {}, 500ms}));
  for (auto n = 0; n < 10; ++n)
    w.put("q");
  w.advance(200ms);
  w.faults().commits_until_failure = 0;
  w.system().begin_ask<message_published>(
    w.pull("q"), publish_message{payload{"1"}, {}, 0, {}, {}, false, {}, {}});
  w.advance(1min);
  auto view = w.stats("q");
  CHECK(view.queue.totals.acked == 10);
  CHECK(view.dead_letters == 0);
  CHECK(w.downstream().in_flight_max() <= 2);
}

TEST_CASE("a fifo queue keeps the order of each group across crashes") {
  pull_world w;
  pull_settings settings;
  settings.fifo = true;
  w.create_pull("q", settings);
  for (auto n = 0; n < 6; ++n) {
    publish_message what;
    what.payload = payload{std::to_string(n)};
    what.group = n % 2 == 0 ? "even" : "odd";
    w.put("q", what);
  }
  std::vector<std::string> got;
  while (got.size() < 6) {
    auto round = w.consume("q", 10);
    REQUIRE(round.size() == 2);
    w.crash();
    CHECK(w.consume("q", 10).empty());
    for (const auto& m : round) {
      got.push_back(m.job.payload.bytes());
      w.settle("q", kind::ack, id_of(m), m.handle);
    }
  }
  CHECK(got == std::vector<std::string>{"0", "1", "2", "3", "4", "5"});
}

TEST_CASE("a deduplication id drops repeats for five minutes, acked or not") {
  pull_world w;
  pull_settings settings;
  settings.fifo = true;
  w.create_pull("q", settings);
  publish_message what;
  what.group = "a";
  what.idempotency_key = "once";
  what.deduplicates = true;
  auto first = w.put("q", what);
  auto got = w.consume("q");
  w.settle("q", kind::ack, id_of(got[0]));
  w.advance(5min - 1s);
  auto repeat = w.put("q", what);
  CHECK(repeat.duplicate);
  CHECK(repeat.id == first.id);
  w.advance(2s);
  CHECK_FALSE(w.put("q", what).duplicate);
}

TEST_CASE("a dead letter of a fifo queue goes back to its place") {
  pull_world w;
  auto settings = receives(1);
  settings.fifo = true;
  w.create_pull("q", settings);
  publish_message what;
  what.group = "a";
  auto first = w.put("q", what).id;
  auto second = w.put("q", what).id;
  w.settle("q", kind::nack, id_of(w.consume("q")[0]));
  CHECK(w.ask<redrive_result>(w.pull("q.dlq"), redrive_messages{}).count == 1);
  auto got = w.consume("q", 10);
  REQUIRE(got.size() == 1);
  CHECK(id_of(got[0]) == first);
  CHECK(got[0].job.limit_key == "a");
  w.settle("q", kind::ack, first);
  CHECK(id_of(w.consume("q", 10).at(0)) == second);
}

// -- one copy, whatever fails and whenever ------------------------------------

namespace {

/// Returns how many messages there are in these queues.
std::uint64_t copies(pull_world& w, std::initializer_list<const char*> queues) {
  std::uint64_t result = 0;
  for (auto queue : queues) {
    auto view = w.stats(queue);
    result += waiting(view) + view.in_flight;
  }
  return result;
}

/// Runs `step` in worlds that `begin` has made, each time with another commit
/// that fails, and with a death right after it; then calls `check`.
template <class Begin, class Step, class Check>
void fail_everywhere(Begin begin, Step step, Check check) {
  for (auto stored : {false, true})
    for (auto crashes : {false, true})
      for (std::uint64_t good = 0; good < 8; ++good) {
        CAPTURE(stored, crashes, good);
        pull_world w;
        w.create_pull("q", receives(1));
        w.create_pull("next");
        w.create_pull("q.dlq", dead_letter_settings());
        auto id = w.put("q").id;
        begin(w, id);
        w.faults().failure_keeps_data = stored;
        w.faults().commits_until_failure = good;
        step(w, id);
        w.faults().commits_until_failure.reset();
        if (crashes)
          w.crash();
        w.advance(5s);
        check(w, id);
      }
}

template <class Reply, class Message>
void say(pull_world& w, const char* queue, Message what) {
  w.system().begin_ask<Reply>(w.pull(queue), what);
  w.advance(10ms);
}

} // namespace

TEST_CASE("a dead-letter move leaves one copy, whatever fails") {
  fail_everywhere([](pull_world& w, message_id) { w.consume("q"); },
                  [](pull_world& w, message_id id) {
                    settle_message nack;
                    nack.what = kind::nack;
                    nack.id = id;
                    say<message_settled>(w, "q", nack);
                  },
                  [](pull_world& w, message_id id) {
                    CHECK(copies(w, {"q", "q.dlq"}) == 1);
                    w.advance(400s);
                    CHECK(copies(w, {"q"}) == 0);
                    auto dead = w.consume("q.dlq", 10);
                    REQUIRE(dead.size() == 1);
                    CHECK(id_of(dead[0]) == id);
                  });
}

TEST_CASE("an ack that publishes leaves one copy, whatever fails") {
  auto to = GENERATE(as<std::string>{}, "next", "q");
  fail_everywhere([](pull_world& w, message_id) { w.consume("q"); },
                  [&](pull_world& w, message_id id) {
                    settle_message ack;
                    ack.id = id;
                    ack.successor = publish_message{};
                    ack.successor->payload = payload{"2"};
                    ack.successor_queue = to;
                    say<message_settled>(w, "q", ack);
                  },
                  [](pull_world& w, message_id) {
                    CHECK(copies(w, {"q", "next", "q.dlq"}) == 1);
                    w.advance(400s);
                    CHECK(copies(w, {"q", "next", "q.dlq"}) == 1);
                  });
}

TEST_CASE("a redrive leaves one copy, whatever fails") {
  fail_everywhere(
    [](pull_world& w, message_id id) {
      w.consume("q");
      w.settle("q", kind::nack, id);
      w.advance(1s);
    },
    [](pull_world& w, message_id) {
      say<redrive_result>(w, "q.dlq", redrive_messages{});
    },
    [](pull_world& w, message_id id) {
      CHECK(copies(w, {"q", "q.dlq"}) == 1);
      auto got = w.consume("q");
      if (got.empty())
        got = w.consume("q.dlq");
      REQUIRE(got.size() == 1);
      CHECK(id_of(got[0]) == id);
      CHECK(got[0].job.attempts == 1);
    });
}
