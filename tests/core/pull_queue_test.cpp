// Who receives which message of a pull queue, and what becomes of it.

#include <catch2/catch.hpp>

#include "tests/core/pull_bench.hpp"

using namespace tidegate;
using namespace tidegate::testing;
using kind = settle_message::kind;

namespace {

pull_settings receives(std::uint32_t most) {
  pull_settings result;
  result.max_receive_count = most;
  return result;
}

bool is(const settle_decision& what, errc code) {
  auto reason = std::get_if<error>(&what);
  return reason && reason->code == code;
}

bool is_done(const settle_decision& what, bool duplicate = false) {
  auto done = std::get_if<message_settled>(&what);
  return done && done->duplicate == duplicate;
}

} // namespace

TEST_CASE("a message is handed out once, and gone when it is acked") {
  pull_bench w;
  auto id = w.publish();
  auto got = w.consume(10);
  REQUIRE(got.size() == 1);
  CHECK(got[0].job.attempts == 1);
  CHECK(w.consume(10).empty());
  CHECK(is_done(w.say(kind::ack, id, got[0].handle)));
  CHECK(is_done(w.say(kind::ack, id, got[0].handle), true));
  CHECK(is(w.say(kind::ack, id), errc::message_not_in_flight));
  CHECK(w.value().live_messages() == 0);
}

TEST_CASE("a lease that runs out makes the message available again") {
  pull_bench w;
  w.publish();
  auto first = w.consume();
  w.pass(std::chrono::seconds{299});
  CHECK(w.consume().empty());
  w.pass(std::chrono::seconds{1});
  auto second = w.consume();
  REQUIRE(second.size() == 1);
  CHECK(second[0].job.attempts == 2);
  CHECK(second[0].handle != first[0].handle);
}

TEST_CASE("the last lease that ends without an ack moves the message at once") {
  pull_bench w{receives(2)};
  auto id = w.publish();
  w.say(kind::nack, id, w.consume()[0].handle);
  w.consume();
  w.pass(std::chrono::seconds{300});
  CHECK(w.row(id).id.queue == queue_id{2});
  CHECK(w.row(id).source_queue == "q");
  CHECK(w.row(id).source_receives == 2);
  CHECK(w.row(id).attempts == 0);
  CHECK(w.value().live_messages() == 0);
  CHECK(is(w.say(kind::ack, id), errc::message_not_in_flight));
}

TEST_CASE("a message whose dead-letter queue is gone waits for a new one") {
  pull_bench w{receives(1)};
  auto id = w.publish();
  auto got = w.consume();
  w.failing_moves = 1;
  w.say(kind::nack, id, got[0].handle);
  CHECK(w.asked_for_dead_letters == 2);
  CHECK(w.row(id).id.queue == queue_id{2});
  CHECK(w.row(id).source_receives == 1);
  CHECK(w.value().view(w.now()).queue.totals.dead_lettered == 1);
  auto other = w.publish();
  auto again = w.consume();
  REQUIRE(again.size() == 1);
  w.say(kind::nack, other, again[0].handle);
  CHECK(w.asked_for_dead_letters == 2);
  CHECK(w.row(other).id.queue == queue_id{2});
}

TEST_CASE("a release does not count, and the message keeps its place") {
  pull_bench w;
  auto id = w.publish();
  w.publish();
  auto got = w.consume();
  CHECK(got[0].job.id.seq == id.seq);
  CHECK(is_done(w.say(kind::release, id, got[0].handle)));
  auto again = w.consume();
  CHECK(again[0].job.id.seq == id.seq);
  CHECK(again[0].job.attempts == 1);
  CHECK(again[0].job.deliveries == 2);
}

TEST_CASE("a message is found in its queue and where that gave up on it") {
  pull_bench w;
  auto id = w.publish();
  settle_message what;
  what.id = id;
  auto say = [&](const job& stored) {
    pull_transition t;
    auto decision = w.value().settle(what, job_record{stored, {}}, w.now(), t);
    CHECK(t.empty());
    return decision;
  };
  auto here = w.row(id);
  CHECK(is(say(here), errc::message_not_in_flight));
  auto elsewhere = here;
  elsewhere.id.queue = queue_id{3};
  CHECK(is(say(elsewhere), errc::message_not_found));
  elsewhere.source_queue = "other";
  CHECK(is(say(elsewhere), errc::message_not_found));
  elsewhere.source_queue = "q";
  CHECK(is(say(elsewhere), errc::message_not_in_flight));
  here.id.tag ^= 1;
  CHECK(is(say(here), errc::message_not_found));
}

TEST_CASE("what changes while a redrive reads is not moved as it was before") {
  pull_settings settings;
  settings.max_receive_count = 0;
  pull_bench w{settings};
  auto nacked = w.publish();
  auto leased = w.publish();
  auto third = w.publish();
  std::vector<pull_queue::redrive_target> targets;
  for (auto id : {nacked, leased, third})
    targets.push_back({w.row(id), queue_id{2}});
  w.value().begin_redrive();
  w.consume(2);
  w.say(kind::nack, nacked);
  auto t = w.value().redrive(targets, w.now());
  w.value().end_redrive();
  std::vector<job_seq> moved;
  for (const auto& r : t.records)
    if (auto move = std::get_if<move_message>(&r))
      moved.push_back(move->job.id.seq);
  CHECK(moved == std::vector{third.seq});
  CHECK(w.value().is_live(leased.seq));
  // What has changed before the next one begins is known to whoever reads.
  w.value().begin_redrive();
  targets.clear();
  targets.push_back({w.row(nacked), queue_id{2}});
  CHECK_FALSE(w.value().redrive(targets, w.now()).empty());
  w.value().end_redrive();
}

TEST_CASE("a redrive to a queue that is gone leaves the message where it is") {
  pull_bench w{receives(1)};
  auto id = w.publish();
  w.failing_moves = 1;
  w.redrive(id);
  CHECK(w.row(id).id.queue == queue_id{1});
  CHECK(w.value().view(w.now()).available == 1);
  CHECK(w.value().view(w.now()).queue.totals.redriven == 0);
  CHECK(w.asked_for_dead_letters == 0);
  w.redrive(id);
  CHECK(w.row(id).id.queue == queue_id{2});
  CHECK(w.value().view(w.now()).queue.totals.redriven == 1);
}

TEST_CASE("a lease that has ended stays so until its message can be moved") {
  auto expires = GENERATE(false, true);
  pull_bench w{receives(1)};
  w.knows_dead_letters = false;
  auto id = w.publish();
  auto got = w.consume();
  if (expires)
    w.pass(std::chrono::seconds{300});
  else
    w.say(kind::nack, id, got[0].handle);
  w.restart();
  CHECK(w.consume().empty());
  w.pass(std::chrono::hours{1});
  CHECK(w.value().view(w.now()).in_flight == 1);
  w.knows_dead_letters = true;
  w.restart();
  CHECK(w.row(id).id.queue == queue_id{2});
  CHECK(w.row(id).source_receives == 1);
  auto totals = w.value().view(w.now()).queue.totals;
  CHECK(totals.nacked == (expires ? 0 : 1));
  CHECK(totals.expired == (expires ? 1 : 0));
  CHECK(totals.dead_lettered == 1);
}

TEST_CASE("a handle of an earlier lease changes nothing") {
  pull_bench w;
  auto id = w.publish();
  auto first = w.consume();
  w.say(kind::nack, id, first[0].handle);
  auto second = w.consume();
  CHECK(is(w.say(kind::ack, id, first[0].handle), errc::message_not_in_flight));
  CHECK(is_done(w.say(kind::nack, id, first[0].handle), true));
  CHECK(is_done(w.say(kind::ack, id, second[0].handle)));
}

TEST_CASE("what is said again is answered as it was, whatever came after") {
  pull_bench w{receives(3)};
  auto id = w.publish();
  std::vector<std::pair<settle_message, wall_time>> said;
  auto say = [&](kind what, duration wait) {
    auto got = w.consume();
    REQUIRE(got.size() == 1);
    auto decision = w.say(what, id, got[0].handle, wait);
    REQUIRE(is_done(decision));
    settle_message call;
    call.what = what;
    call.handle = got[0].handle;
    said.emplace_back(call, std::get<message_settled>(decision).visible_at);
  };
  auto check = [&] {
    for (const auto& [call, visible_at] : said) {
      auto again = w.say(call.what, id, call.handle);
      REQUIRE(is_done(again, true));
      CHECK(std::get<message_settled>(again).visible_at == visible_at);
      auto other = call.what == kind::nack ? kind::release : kind::nack;
      for (auto what : {kind::ack, kind::extend, other})
        CHECK(is(w.say(what, id, call.handle), errc::message_not_in_flight));
    }
  };
  say(kind::nack, std::chrono::seconds{10});
  check();
  w.pass(std::chrono::seconds{10});
  say(kind::release, duration{0});
  check();
  say(kind::nack, std::chrono::seconds{20});
  w.pass(std::chrono::seconds{60});
  check();
  say(kind::nack, std::chrono::seconds{30});
  check();
  CHECK(w.row(id).id.queue == queue_id{2});
  w.restart();
  check();
  CHECK(w.value().view(w.now()).queue.totals.nacked == 3);
}

TEST_CASE("an ack is said again while it is kept, by its handle alone") {
  pull_bench w;
  auto id = w.publish();
  auto first = w.consume()[0].handle;
  w.say(kind::nack, id, first);
  auto second = w.consume()[0].handle;
  w.say(kind::ack, id, second);
  w.restart();
  CHECK(is_done(w.say(kind::ack, id, second), true));
  CHECK(is_done(w.say(kind::nack, id, first), true));
  CHECK(is(w.say(kind::ack, id, first), errc::message_not_in_flight));
  CHECK(is(w.say(kind::ack, id), errc::message_not_in_flight));
}

TEST_CASE("a nack with a delay and an extension move the time") {
  pull_bench w;
  auto id = w.publish();
  w.say(kind::nack, id, w.consume()[0].handle, std::chrono::seconds{10});
  w.pass(std::chrono::seconds{9});
  CHECK(w.consume().empty());
  w.pass(std::chrono::seconds{1});
  auto got = w.consume();
  REQUIRE(got.size() == 1);
  w.say(kind::extend, id, got[0].handle, std::chrono::seconds{1000});
  w.pass(std::chrono::seconds{999});
  CHECK(w.consume().empty());
  w.pass(std::chrono::seconds{1});
  CHECK(w.consume().size() == 1);
}

TEST_CASE("waiters are served in the order of their arrival") {
  pull_bench w;
  auto first = w.wait(1, std::chrono::seconds{20});
  auto second = w.wait(1, std::chrono::seconds{20});
  w.publish();
  CHECK(w.handed().at(first).size() == 1);
  CHECK(w.handed().count(second) == 0);
  w.pass(std::chrono::seconds{20});
  CHECK(w.handed().at(second).empty());
}

TEST_CASE("who is gone is given nothing and counts nothing") {
  pull_bench w;
  auto gone = std::make_shared<std::atomic<bool>>(false);
  w.wait(1, std::chrono::seconds{20}, gone);
  auto waiter = w.wait(1, std::chrono::seconds{20});
  gone->store(true);
  auto id = w.publish();
  REQUIRE(w.handed().at(waiter).size() == 1);
  CHECK(w.row(id).attempts == 1);
}

TEST_CASE("what has not reached anybody does not count") {
  pull_bench w{receives(1)};
  auto id = w.publish();
  auto got = w.consume();
  w.give_back({{{id, *got[0].handle}}});
  auto again = w.consume();
  REQUIRE(again.size() == 1);
  CHECK(again[0].job.attempts == 1);
}

TEST_CASE("leases and counts are there after a restart") {
  pull_bench w{receives(2)};
  auto id = w.publish();
  w.consume();
  w.restart();
  CHECK(w.consume().empty());
  w.pass(std::chrono::seconds{300});
  CHECK(w.consume()[0].job.attempts == 2);
  w.restart();
  w.pass(std::chrono::seconds{300});
  CHECK(w.row(id).id.queue == queue_id{2});
}

TEST_CASE("a raised receive count counts for messages that are there") {
  pull_bench w{receives(2)};
  auto id = w.publish();
  for (std::uint64_t n = 1; n <= 4; ++n) {
    auto got = w.consume();
    REQUIRE(got.size() == 1);
    CHECK(got[0].job.attempts == n);
    w.value().change_settings(receives(4), w.now());
    w.say(kind::nack, id, got[0].handle);
  }
  CHECK(w.row(id).id.queue == queue_id{2});
}

TEST_CASE("a message that waits too long is removed, a leased one is not") {
  pull_settings settings;
  settings.message_retention = std::chrono::hours{24};
  settings.visibility_timeout = std::chrono::hours{12};
  pull_bench w{settings};
  w.publish();
  auto leased = w.publish();
  w.pass(std::chrono::hours{20});
  auto got = w.consume(2);
  w.say(kind::release, {got[0].job.id.seq, got[0].job.id.tag}, got[0].handle);
  w.pass(std::chrono::hours{5});
  CHECK(w.value().live_messages() == 1);
  CHECK(is_done(w.say(kind::ack, leased, got[1].handle)));
}

TEST_CASE("the higher priority is received first, where there are any") {
  pull_settings settings;
  settings.enable_priority = true;
  pull_bench w{settings};
  publish_message what;
  what.priority = 2;
  w.publish();
  auto id = w.publish(what);
  CHECK(w.consume()[0].job.id.seq == id.seq);
  pull_bench plain;
  what.payload = payload{"1"};
  CHECK(std::holds_alternative<error>(
    plain.value().make_message(what, {job_seq{1}, 1}, plain.now())));
}

TEST_CASE("ids and receipts are read as they are printed, and no others") {
  message_id id{job_seq{max_48_bits}, 12345};
  CHECK(to_string(id).size() == 29);
  CHECK(parse_message_id(to_string(id)) == id);
  CHECK_FALSE(parse_message_id("qmsg_" + std::string(24, 'z')));
  CHECK_FALSE(parse_message_id("job_" + std::string(24, '0')));
  auto handle = make_receipt(id, 7);
  CHECK(parse_receipt(to_string(handle)) == handle);
  CHECK(make_receipt(id, 8).check != handle.check);
  CHECK_FALSE(parse_receipt("rcpt_07_0000000000000000"));
}

TEST_CASE("messages are kept as long as the queue says where they are") {
  pull_settings settings;
  settings.message_retention = std::chrono::hours{24};
  pull_bench w{settings};
  auto id = w.publish();
  w.pass(std::chrono::hours{20});
  live_job other;
  other.seq = job_seq{50};
  other.tag = 1;
  other.eligible_at = w.now().wall;
  other.due = other.eligible_at;
  w.value().arrived({other}, w.now());
  auto restarts = GENERATE(false, true);
  if (restarts)
    w.restart();
  w.pass(std::chrono::hours{3});
  CHECK(w.value().is_live(id.seq));
  w.pass(std::chrono::hours{1});
  CHECK_FALSE(w.value().is_live(id.seq));
  if (!restarts)
    CHECK(w.value().is_live(other.seq));
}

TEST_CASE("another retention counts at once for messages that are there") {
  pull_bench w;
  auto id = w.publish();
  w.pass(std::chrono::hours{30});
  pull_settings settings;
  settings.message_retention = std::chrono::hours{48};
  w.change(settings);
  w.pass(std::chrono::hours{17});
  CHECK(w.value().is_live(id.seq));
  w.pass(std::chrono::hours{1});
  CHECK_FALSE(w.value().is_live(id.seq));
}

TEST_CASE("a release after a restart makes a message available at once") {
  pull_bench w;
  auto id = w.publish();
  w.consume();
  w.restart();
  w.say(kind::release, id);
  CHECK(w.consume().size() == 1);
}

TEST_CASE("nothing is believed that was read before a change was stored") {
  pull_bench w{receives(2)};
  auto id = w.publish();
  auto got = w.consume();
  w.slow_disk = true;
  w.say(kind::release, id, got[0].handle);
  auto waiter = w.wait(1, std::chrono::seconds{20});
  w.catch_up();
  REQUIRE(w.handed().at(waiter).size() == 1);
  CHECK(w.handed().at(waiter)[0].job.attempts == 1);
  CHECK(is_done(w.say(kind::release, id, got[0].handle), true));
}
