// Messages that go back from a dead-letter queue to where they came from: at
// once or at a pace, over crashes, and never twice.

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/actors/pull_world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

publish_message message(std::string bytes) {
  publish_message result;
  result.payload = payload{std::move(bytes)};
  return result;
}

/// A world with dead letters.
class redrive_world : public pull_world {
public:
  using pull_world::pull_world;

  /// Makes a queue whose messages are given up on after one receive.
  void make(const std::string& name) {
    pull_settings settings;
    settings.max_receive_count = 1;
    create_pull(name, settings);
  }

  void drop(const std::string& name) {
    ask<queue_deleted>(registry(), delete_queue{name, true, default_project,
                                                queue_kind::pull});
  }

  std::vector<message_id> publish(const std::string& name, std::size_t count) {
    std::vector<message_id> ids;
    while (ids.size() < count) {
      publish_messages batch;
      while (batch.messages.size()
             < std::min<std::size_t>(count - ids.size(), 1000))
        batch.messages.push_back(
          message(std::to_string(ids.size() + batch.messages.size())));
      auto stored = ask<message_batch_published>(pull(name), batch);
      for (const auto& each : stored.results)
        ids.push_back(std::get<message_published>(each).id);
    }
    return ids;
  }

  /// Receives all messages of a queue and nacks them. They are in the
  /// dead-letter queue a second later.
  void give_up_all(const std::string& name) {
    for (;;) {
      consume_messages what;
      what.limit = 10;
      auto got = ask<messages_received>(pull(name), what);
      if (got.items.empty())
        break;
      settle_messages nacks;
      for (const auto& m : got.items) {
        auto& nack = nacks.entries.emplace_back();
        nack.what = settle_message::kind::nack;
        nack.id = {m.job.id.seq, m.job.id.tag};
      }
      ask<messages_settled>(pull(name), nacks);
    }
    advance(1s);
  }

  std::vector<message_id> make_dead(const std::string& name,
                                    std::size_t count) {
    auto ids = publish(name, count);
    give_up_all(name);
    return ids;
  }

  redrive_result redrive(const std::string& name, redrive_messages what = {}) {
    return ask<redrive_result>(pull(name), what);
  }

  operation_id redrive_slowly(const std::string& name, double per_second) {
    redrive_messages what;
    what.per_second = per_second;
    auto begun = redrive(name, what);
    REQUIRE(begun.operation);
    return begun.operation->id;
  }

  /// The messages of a queue in the order in which they are received.
  std::vector<message_view> peek(const std::string& name) {
    return ask<message_page>(pull(name), peek_messages{100'000}).items;
  }

  std::set<message_id> ids_in(const std::string& name) {
    std::set<message_id> result;
    for (const auto& m : peek(name))
      result.insert({m.job.id.seq, m.job.id.tag});
    return result;
  }
};

std::set<message_id> set_of(const std::vector<message_id>& ids) {
  return {ids.begin(), ids.end()};
}

redrive_messages named(std::vector<message_id> ids) {
  redrive_messages result;
  result.ids = std::move(ids);
  return result;
}

} // namespace

TEST_CASE("a redrive of a few moves them before it is answered") {
  redrive_world w;
  w.make("q");
  auto ids = w.make_dead("q", 30);
  CHECK(w.stats("q.dlq").available == 30);
  redrive_messages some;
  some.limit = 10;
  auto done = w.redrive("q.dlq", some);
  CHECK(done.count == 10);
  CHECK_FALSE(done.operation);
  CHECK(w.ids_in("q") == std::set(ids.begin(), ids.begin() + 10));
  CHECK(w.redrive("q.dlq").count == 20);
  for (const auto& m : w.peek("q")) {
    CHECK(m.job.replays == 1);
    CHECK(m.job.attempts == 0);
  }
  CHECK(w.operations().empty());
}

TEST_CASE("what fits behind a thousand that do not is found") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 1100);
  auto since = w.now().wall;
  w.advance(1s);
  auto late = w.make_dead("q", 20);
  redrive_messages what;
  what.since = since;
  what.dry_run = true;
  auto plan = w.redrive("q.dlq", what);
  CHECK(plan.count == 20);
  CHECK(plan.sample.size() == 10);
  what.dry_run = false;
  CHECK(w.redrive("q.dlq", what).count == 20);
  CHECK(w.ids_in("q") == set_of(late));
}

TEST_CASE("a dry run counts all that fit, and moves none") {
  redrive_world w;
  w.make("q");
  auto ids = w.make_dead("q", 1500);
  redrive_messages what;
  what.dry_run = true;
  auto plan = w.redrive("q.dlq", what);
  CHECK(plan.count == 1500);
  REQUIRE(plan.sample.size() == 10);
  CHECK(plan.sample[0].job.id.seq == ids[0].seq);
  CHECK(plan.sample[0].job.payload.bytes() == "0");
  CHECK(w.stats("q.dlq").available == 1500);
  what.limit = 1200;
  CHECK(w.redrive("q.dlq", what).count == 1200);
}

TEST_CASE("those that are named are moved if that is their whole name") {
  redrive_world w;
  w.make("q");
  auto ids = w.make_dead("q", 5);
  auto made_up = ids[0];
  made_up.tag ^= 1;
  auto what = named({ids[3], made_up, ids[1], ids[3]});
  what.dry_run = true;
  CHECK(w.redrive("q.dlq", what).count == 2);
  what.dry_run = false;
  CHECK(w.redrive("q.dlq", what).count == 2);
  CHECK(w.ids_in("q") == std::set{ids[1], ids[3]});
}

TEST_CASE("named messages are all moved, however long they are") {
  redrive_world w;
  w.make("q");
  publish_messages batch;
  for (auto n = 0; n < 5; ++n)
    batch.messages.push_back(message("\"" + std::string(700'000, 'x') + "\""));
  auto stored = w.ask<message_batch_published>(w.pull("q"), batch);
  std::vector<message_id> ids;
  for (const auto& each : stored.results)
    ids.push_back(std::get<message_published>(each).id);
  w.give_up_all("q");
  CHECK(w.redrive("q.dlq", named(ids)).count == 5);
}

TEST_CASE("more than a thousand are moved by an operation, oldest first") {
  redrive_world w;
  w.make("q");
  auto ids = w.make_dead("q", 2500);
  redrive_messages what;
  what.limit = 2400;
  auto begun = w.redrive("q.dlq", what);
  REQUIRE(begun.operation);
  CHECK(begun.count == 2400);
  CHECK(begun.operation->kind == operation_kind::redrive);
  CHECK(begun.operation->queue_name == "q.dlq");
  CHECK(begun.operation->total == 2400);
  w.advance(1s);
  auto done = w.get(begun.operation->id).done;
  CHECK(done > 500);
  CHECK(done < 1500);
  CHECK(
    w.ids_in("q")
    == std::set(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(done)));
  w.advance(10s);
  auto op = w.get(begun.operation->id);
  CHECK(op.state == operation_state::done);
  CHECK(op.done == 2400);
  CHECK(w.ids_in("q.dlq") == std::set(ids.begin() + 2400, ids.end()));
  CHECK(w.stats("q.dlq").queue.totals.redriven == 2400);
}

TEST_CASE("a redrive that survives crashes moves each message once") {
  redrive_world w;
  w.make("q");
  auto ids = w.make_dead("q", 60);
  auto id = w.redrive_slowly("q.dlq", 30);
  for (int i = 0; i < 12; ++i) {
    w.advance(190ms);
    w.crash();
  }
  w.advance(10s);
  CHECK(w.get(id).state == operation_state::done);
  CHECK(w.get(id).done == 60);
  CHECK(w.ids_in("q") == set_of(ids));
  CHECK(w.ids_in("q.dlq").empty());
  for (const auto& m : w.peek("q"))
    CHECK(m.job.replays == 1);
}

TEST_CASE("a redrive goes on when the disk works again") {
  for (bool kept : {false, true}) {
    for (std::uint64_t n = 0; n < 8; ++n) {
      redrive_world w{n + 1};
      w.make("q");
      auto ids = w.make_dead("q", 30);
      auto id = w.redrive_slowly("q.dlq", 50);
      w.faults().failure_keeps_data = kept;
      w.faults().commits_until_failure = n;
      w.advance(20s);
      INFO("commit " << n << (kept ? " stored" : " lost"));
      CHECK(w.get(id).state == operation_state::done);
      CHECK(w.get(id).done == 30);
      CHECK(w.ids_in("q") == set_of(ids));
      for (const auto& m : w.peek("q"))
        CHECK(m.job.replays == 1);
    }
  }
}

TEST_CASE("what was published in a dead-letter queue goes where it is said") {
  auto slowly = GENERATE(false, true);
  redrive_world w;
  w.make("q");
  auto moved = w.make_dead("q", 1);
  w.publish("q.dlq", 2);
  w.advance(1s);
  redrive_messages what;
  what.moved_only = true;
  what.source = "q";
  what.dry_run = true;
  CHECK(w.redrive("q.dlq", what).count == 1);
  what.moved_only = false;
  CHECK(w.redrive("q.dlq", what).count == 3);
  what.dry_run = false;
  if (slowly)
    what.per_second = 10;
  w.redrive("q.dlq", what);
  if (slowly)
    w.crash();
  w.advance(10s);
  CHECK(w.ids_in("q.dlq").empty());
  CHECK(w.ids_in("q").size() == 3);
  for (const auto& m : w.peek("q")) {
    CHECK(m.job.replays == 1);
    CHECK(m.job.source_queue.empty());
  }
}

TEST_CASE("what was published there stays where nobody says where to") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 1);
  auto by_hand = w.publish("q.dlq", 2);
  CHECK(w.redrive("q.dlq").count == 1);
  CHECK(w.ids_in("q.dlq") == set_of(by_hand));
}

TEST_CASE("a cancelled redrive leaves the rest where it is") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 30);
  auto id = w.redrive_slowly("q.dlq", 10);
  w.advance(1s);
  auto op = w.cancel(id);
  CHECK(op.state == operation_state::cancelled);
  CHECK(op.done > 0);
  w.crash();
  w.advance(10s);
  CHECK(w.get(id).state == operation_state::cancelled);
  CHECK(w.stats("q").available == op.done);
  CHECK(w.stats("q.dlq").available == 30 - op.done);
}

TEST_CASE("what comes back while a redrive runs stays") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 20);
  auto id = w.redrive_slowly("q.dlq", 10);
  for (auto n = 0; n < 5; ++n)
    w.give_up_all("q");
  CHECK(w.get(id).state == operation_state::done);
  CHECK(w.get(id).done == 20);
  auto back = w.peek("q.dlq");
  CHECK(back.size() == 20);
  for (const auto& m : back)
    CHECK(m.job.replays == 1);
}

TEST_CASE("what has nowhere to go is passed over and not counted as done") {
  redrive_world w;
  w.make("q");
  w.make("gone");
  w.ask<pull_queue_view>(w.pull("gone"), [] {
    patch_pull_queue change;
    change.patch.dead_letter_queue = "q.dlq";
    return change;
  }());
  w.make_dead("q", 20);
  auto stay = w.make_dead("gone", 7);
  w.make_dead("q", 20);
  w.drop("gone");
  auto id = w.redrive_slowly("q.dlq", 100);
  w.advance(5s);
  auto op = w.get(id);
  CHECK(op.state == operation_state::done);
  CHECK(op.total == 47);
  CHECK(op.done == 40);
  CHECK(w.ids_in("q.dlq") == set_of(stay));
  CHECK(w.redrive("q.dlq").count == 0);
}

TEST_CASE("a queue that is deleted while messages go back to it gets none") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 30);
  auto id = w.redrive_slowly("q.dlq", 10);
  w.advance(1s);
  w.drop("q");
  w.advance(10s);
  auto op = w.get(id);
  CHECK(op.state == operation_state::done);
  CHECK(op.done < 30);
  CHECK(w.stats("q.dlq").available == 30 - op.done);
}

TEST_CASE("a redrive fails with the dead-letter queue") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 30);
  auto id = w.redrive_slowly("q.dlq", 10);
  w.advance(1s);
  w.drop("q.dlq");
  w.advance(2s);
  CHECK(w.get(id).state == operation_state::failed);
  CHECK(w.get(id).error == "the queue has been deleted");
}

TEST_CASE("messages in flight stay") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 10);
  w.publish("q.dlq", 3);
  consume_messages what;
  what.limit = 4;
  REQUIRE(w.ask<messages_received>(w.pull("q.dlq"), what).items.size() == 4);
  redrive_messages dry;
  dry.dry_run = true;
  CHECK(w.redrive("q.dlq", dry).count == 9);
  dry.moved_only = true;
  CHECK(w.redrive("q.dlq", dry).count == 6);
  CHECK(w.redrive("q.dlq").count == 6);
  auto left = w.stats("q.dlq");
  CHECK(left.available == 3);
  CHECK(left.in_flight == 4);
}

TEST_CASE("an operation with nothing to move is done at once") {
  redrive_world w;
  w.make("q");
  w.make_dead("q", 1);
  w.redrive("q.dlq");
  auto id = w.redrive_slowly("q.dlq", 1);
  w.advance(1s);
  CHECK(w.get(id).state == operation_state::done);
  CHECK(w.get(id).total == 0);
}
