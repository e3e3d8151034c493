// The order that a fifo queue keeps within its groups.

#include <catch2/catch.hpp>

#include "tests/core/pull_bench.hpp"

using namespace tidegate;
using namespace tidegate::testing;
using kind = settle_message::kind;

namespace {

pull_settings fifo(std::uint32_t receives = 3) {
  pull_settings result;
  result.fifo = true;
  result.max_receive_count = receives;
  return result;
}

publish_message of_group(const std::string& name) {
  publish_message result;
  result.payload = payload{"1"};
  result.group = name;
  return result;
}

std::vector<job_seq> seqs_of(const std::vector<message_view>& messages) {
  std::vector<job_seq> result;
  for (const auto& m : messages)
    result.push_back(m.job.id.seq);
  return result;
}

std::string complaint_about(pull_bench& w, const publish_message& what) {
  auto made = w.value().make_message(what, {job_seq{99}, 1}, w.now());
  auto reason = std::get_if<error>(&made);
  return reason ? reason->message : std::string{};
}

} // namespace

TEST_CASE("a group hands out one message at a time, in order") {
  pull_bench w{fifo()};
  auto first = w.publish(of_group("a"));
  auto second = w.publish(of_group("a"));
  CHECK(seqs_of(w.consume(10)) == std::vector{first.seq});
  CHECK(w.consume(10).empty());
  w.say(kind::ack, first);
  CHECK(seqs_of(w.consume(10)) == std::vector{second.seq});
}

TEST_CASE("groups do not delay each other, and take turns") {
  pull_bench w{fifo()};
  auto a = w.publish(of_group("a"));
  w.publish(of_group("a"));
  auto b = w.publish(of_group("b"));
  auto c = w.publish(of_group("c"));
  CHECK(seqs_of(w.consume(2)) == std::vector{a.seq, b.seq});
  CHECK(seqs_of(w.consume(10)) == std::vector{c.seq});
}

TEST_CASE("a redelivery keeps its place, with a delay and after a restart") {
  auto restarts = GENERATE(false, true);
  pull_bench w{fifo()};
  auto first = w.publish(of_group("a"));
  auto second = w.publish(of_group("a"));
  w.consume();
  if (restarts)
    w.restart();
  CHECK(w.consume(10).empty());
  w.say(kind::nack, first, {}, std::chrono::seconds{10});
  if (restarts)
    w.restart();
  CHECK(w.consume(10).empty());
  auto view = w.value().view(w.now());
  CHECK(view.available == 1);
  CHECK(view.delayed == 1);
  w.pass(std::chrono::seconds{10});
  CHECK(seqs_of(w.consume(10)) == std::vector{first.seq});
  w.pass(std::chrono::seconds{300});
  CHECK(seqs_of(w.consume(10)) == std::vector{first.seq});
  w.say(kind::release, first);
  CHECK(seqs_of(w.consume(10)) == std::vector{first.seq});
  w.say(kind::ack, first);
  CHECK(seqs_of(w.consume(10)) == std::vector{second.seq});
}

TEST_CASE("somebody who waits gets the message of a group that comes back") {
  pull_bench w{fifo()};
  auto first = w.publish(of_group("a"));
  w.consume();
  w.say(kind::nack, first, {}, std::chrono::seconds{5});
  auto waiter = w.wait(1, std::chrono::seconds{20});
  w.pass(std::chrono::seconds{5});
  CHECK(seqs_of(w.handed().at(waiter)) == std::vector{first.seq});
}

TEST_CASE("a dead-lettered head frees its group") {
  pull_bench w{fifo(1)};
  auto first = w.publish(of_group("a"));
  auto second = w.publish(of_group("a"));
  w.consume();
  w.say(kind::nack, first);
  CHECK(w.row(first).id.queue == queue_id{2});
  CHECK(seqs_of(w.consume(10)) == std::vector{second.seq});
}

TEST_CASE("a delayed head that is purged frees its group") {
  pull_bench w{fifo()};
  auto first = w.publish(of_group("a"));
  w.consume();
  w.say(kind::nack, first, {}, std::chrono::hours{1});
  due_heap::idle_range all;
  w.value().purge(all, 10);
  auto next = w.publish(of_group("a"));
  CHECK(seqs_of(w.consume(10)) == std::vector{next.seq});
}

TEST_CASE("a message that cannot be moved at once keeps the group's order") {
  pull_bench w{fifo(1)};
  auto first = w.publish(of_group("a"));
  auto second = w.publish(of_group("a"));
  w.publish(of_group("a"));
  w.consume();
  w.slow_disk = true;
  w.failing_moves = 1;
  w.say(kind::nack, first);
  auto waiter = w.wait(1, std::chrono::seconds{20});
  w.catch_up();
  CHECK(w.row(first).id.queue == queue_id{2});
  CHECK(seqs_of(w.handed().at(waiter)) == std::vector{second.seq});
  CHECK(w.consume().empty());
}

TEST_CASE("groups that come and go leave nothing behind") {
  pull_bench w{fifo()};
  for (auto n = 0; n < 1000; ++n) {
    auto id = w.publish(of_group("g" + std::to_string(n)));
    w.consume();
    w.say(kind::ack, id);
  }
  CHECK(w.value().live_messages() == 0);
  CHECK(w.value().groups() == 0);
}

TEST_CASE("what a fifo queue does not take is named") {
  pull_bench w{fifo()};
  publish_message what;
  what.payload = payload{"1"};
  CHECK(complaint_about(w, what)
        == "message_group_id is required on a fifo queue");
  what.group = "a";
  what.delay = std::chrono::seconds{1};
  CHECK(complaint_about(w, what) == "delay_seconds must be 0 on a fifo queue");
  what.delay = duration{0};
  CHECK(complaint_about(w, what).empty());
  pull_bench other;
  CHECK(complaint_about(other, what) == "message_group_id is for fifo queues");
}

TEST_CASE("a deduplication id is no idempotency key") {
  pull_bench w{fifo()};
  auto what = of_group("a");
  what.idempotency_key = "k";
  auto plain = w.publish(what);
  what.deduplicates = true;
  auto other = w.publish(what);
  CHECK(w.row(plain).idempotency_key != w.row(other).idempotency_key);
}
