// Replays that take long: at their own pace, cancelled, resumed.

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/operations_actor.hpp"
#include "tests/actors/back_office.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

/// An office with somebody who drives operations.
class driven_office : public back_office {
public:
  explicit driven_office(std::uint64_t seed = 0) : back_office(seed) {
    restart();
  }

  ~driven_office() {
    kill(operations_);
  }

  /// Kills whoever drives and what the queues are at, as the death of the
  /// process does, and lets another one take over.
  void restart() {
    if (operations_)
      kill(operations_);
    ++queue(1).life;
    ++queue(2).life;
    operations_ = system().get().spawn(make_operations, env());
    caf::anon_send(operations_, start_operations{directory()});
    system().run();
  }

  template <class Reply, class Message>
  result<Reply> ask(Message what) {
    auto answer = system().ask<Reply>(operations_, std::move(what));
    REQUIRE(answer);
    return std::move(*answer);
  }

  template <class Reply, class Message>
  std::shared_ptr<std::optional<result<Reply>>> begin_ask(Message what) {
    auto answer = system().begin_ask<Reply>(operations_, std::move(what));
    system().run();
    return answer;
  }

  /// Makes jobs 1 to `n` of queue 1 dead letters that died a second ago.
  void add_dead(std::uint64_t n) {
    for (std::uint64_t seq = 1; seq <= n; ++seq)
      disk().add_dead(queue_id{1}, seq, now().wall - 1s);
  }

  operation_record what_to_do(double per_second) {
    operation_record op;
    op.queue = queue_id{1};
    op.project = default_project;
    op.queue_name = "q";
    op.per_second = per_second;
    op.total = disk().ended.size();
    op.started_at = now().wall;
    op.position = job_seq{max_48_bits};
    return op;
  }

  /// Makes messages 1 to `n` of queue 1 dead ones, moved there a second ago.
  void add_dead_messages(std::uint64_t n) {
    for (std::uint64_t seq = 1; seq <= n; ++seq)
      disk().add_dead_message(queue_id{1}, seq, now().wall - 1s);
  }

  operation_record what_to_redrive(double per_second) {
    auto op = what_to_do(per_second);
    op.kind = operation_kind::redrive;
    op.position = {};
    return op;
  }

  operation_record replay(operation_record op) {
    auto answer = ask<operation_record>(start_operation{std::move(op)});
    REQUIRE(answer);
    return std::move(*answer);
  }

  operation_record get(operation_id id) {
    auto answer = ask<operation_record>(get_operation{default_project, id});
    REQUIRE(answer);
    return std::move(*answer);
  }

private:
  operations_full_actor operations_;
};

} // namespace

TEST_CASE("a replay answers at once and goes through all dead letters") {
  driven_office w;
  w.add_dead(250);
  auto op = w.replay(w.what_to_do(1000));
  CHECK(op.id == operation_id{1});
  CHECK(op.state == operation_state::running);
  CHECK(op.total == 250);
  w.advance(1s);
  op = w.get(op.id);
  CHECK(op.state == operation_state::done);
  CHECK(op.done == 250);
  CHECK(op.finished_at);
  CHECK(w.disk().ended.empty());
  CHECK(w.disk().operations.at(op.id) == op);
}

TEST_CASE("a replay keeps its pace, from a job in ten seconds to thousands") {
  for (double per_second : {0.1, 0.5, 3.0, 45.0, 1000.0, 10'000.0}) {
    driven_office w;
    w.add_dead(30'000);
    auto op = w.replay(w.what_to_do(per_second));
    w.advance(duration{19'999'999});
    auto& slices = w.queue(1).slices;
    INFO(per_second << " jobs a second, " << slices.size() << " slices");
    auto expected = std::min(per_second * 20, 30'000.0);
    auto done = static_cast<double>(w.get(op.id).done);
    CHECK(done <= expected + std::max(1.0, per_second / 10));
    CHECK(done >= 0.95 * expected);
    for (const auto& slice : slices)
      CHECK(slice.jobs <= 100);
  }
}

TEST_CASE("time that slow slices have lost is not made up for in a burst") {
  driven_office w;
  w.add_dead(1000);
  w.queue(1).takes = 3s;
  w.replay(w.what_to_do(100));
  w.advance(10s);
  w.queue(1).takes = 0s;
  w.advance(2s);
  auto before = w.queue(1).slices.size();
  w.advance(1s);
  CHECK(w.queue(1).slices.size() - before <= 11);
  CHECK(w.queue(1).under_way_max == 1);
}

TEST_CASE("the newest dead letters go first, and no more than the limit") {
  driven_office w;
  w.add_dead(100);
  auto what = w.what_to_do(50);
  what.limit = 42;
  auto op = w.replay(what);
  w.advance(10s);
  op = w.get(op.id);
  CHECK(op.state == operation_state::done);
  CHECK(op.done == 42);
  CHECK(w.disk().ended.size() == 58);
  CHECK(w.disk().ended.rbegin()->first == job_seq{58});
}

TEST_CASE("what dies after a replay has begun is not replayed by it") {
  driven_office w;
  w.add_dead(10);
  auto op = w.replay(w.what_to_do(1));
  w.disk().add_dead(queue_id{1}, 3, w.now().wall);
  w.advance(1min);
  CHECK(w.get(op.id).state == operation_state::done);
  CHECK(w.get(op.id).done == 9);
  CHECK(w.disk().ended.count(job_seq{3}) == 1);
}

TEST_CASE("a cancelled replay stops at once and stays cancelled") {
  driven_office w;
  w.add_dead(100);
  auto id = w.replay(w.what_to_do(10)).id;
  w.advance(2s);
  auto answer = w.ask<operation_record>(cancel_operation{default_project, id});
  REQUIRE(answer);
  CHECK(answer->state == operation_state::cancelled);
  CHECK(answer->finished_at == w.now().wall);
  auto done = answer->done;
  CHECK(done > 0);
  w.advance(1min);
  w.restart();
  w.advance(1min);
  CHECK(w.get(id).state == operation_state::cancelled);
  CHECK(w.disk().ended.size() == 100 - done);
  auto again = w.ask<operation_record>(cancel_operation{default_project, id});
  REQUIRE(again);
  CHECK(again->finished_at == answer->finished_at);
}

TEST_CASE("a cancel waits for the slice that is under way and counts it") {
  driven_office w;
  w.add_dead(100);
  w.queue(1).takes = 5s;
  auto id = w.replay(w.what_to_do(100)).id;
  w.advance(1s);
  auto answer =
    w.begin_ask<operation_record>(cancel_operation{default_project, id});
  CHECK_FALSE(*answer);
  w.advance(5s);
  REQUIRE(*answer);
  REQUIRE(**answer);
  CHECK((**answer)->state == operation_state::cancelled);
  CHECK((**answer)->done == 10);
  CHECK(w.queue(1).slices.size() == 1);
}

TEST_CASE("a cancel that comes with the last slice finds the replay done") {
  driven_office w;
  w.add_dead(5);
  w.queue(1).takes = 5s;
  auto id = w.replay(w.what_to_do(100)).id;
  auto answer =
    w.begin_ask<operation_record>(cancel_operation{default_project, id});
  w.advance(5s);
  REQUIRE(*answer);
  REQUIRE(**answer);
  CHECK((**answer)->state == operation_state::done);
  CHECK((**answer)->done == 5);
}

TEST_CASE("a cancel that was not stored is refused, and the replay goes on") {
  driven_office w;
  w.add_dead(20);
  auto id = w.replay(w.what_to_do(1)).id;
  w.advance(1500ms);
  w.disk().commits_until_failure = 0;
  auto answer = w.ask<operation_record>(cancel_operation{default_project, id});
  REQUIRE_FALSE(answer);
  CHECK(answer.reason().code == errc::storage_unavailable);
  w.advance(1min);
  CHECK(w.get(id).state == operation_state::done);
}

TEST_CASE("a slice that fails is made again, stored or not") {
  for (bool kept : {false, true}) {
    for (std::uint64_t n = 1; n < 6; ++n) {
      driven_office w;
      w.add_dead(40);
      w.disk().failure_keeps_data = kept;
      w.disk().commits_until_failure = n;
      auto id = w.replay(w.what_to_do(100)).id;
      w.advance(1min);
      INFO("commit " << n << (kept ? " stored" : " lost"));
      CHECK(w.get(id).state == operation_state::done);
      CHECK(w.get(id).done == 40);
      CHECK(w.disk().replayed.size() == 40);
    }
  }
}

TEST_CASE("a replay that could not be stored is refused") {
  driven_office w;
  w.add_dead(10);
  w.disk().commits_until_failure = 0;
  auto answer = w.ask<operation_record>(start_operation{w.what_to_do(1000)});
  REQUIRE_FALSE(answer);
  CHECK(answer.reason().code == errc::storage_unavailable);
  w.advance(1min);
  CHECK(w.disk().ended.size() == 10);
  auto id = w.replay(w.what_to_do(1000)).id;
  w.advance(1min);
  CHECK(w.get(id).done == 10);
}

TEST_CASE("a replay that was stored although the answer was lost is driven") {
  driven_office w;
  w.add_dead(10);
  w.disk().failure_keeps_data = true;
  w.disk().commits_until_failure = 0;
  CHECK_FALSE(w.ask<operation_record>(start_operation{w.what_to_do(1000)}));
  w.advance(1min);
  CHECK(w.disk().ended.empty());
  CHECK(w.get(operation_id{1}).state == operation_state::done);
}

TEST_CASE("a replay goes on where a crash has interrupted it") {
  driven_office w;
  w.add_dead(100);
  auto id = w.replay(w.what_to_do(10)).id;
  while (w.get(id).state == operation_state::running) {
    w.advance(1700ms);
    w.restart();
  }
  CHECK(w.get(id).done == 100);
  for (auto& [seq, times] : w.disk().replayed)
    CHECK(times == 1);
}

TEST_CASE("the replay of a queue that is gone has failed") {
  driven_office w;
  w.add_dead(100);
  auto id = w.replay(w.what_to_do(10)).id;
  w.advance(1s);
  w.remove_queue(1);
  w.disk().ended.clear();
  w.advance(1s);
  CHECK(w.get(id).state == operation_state::failed);
  CHECK(w.get(id).error == "the queue has been deleted");
  CHECK(w.get(id).finished_at);
}

TEST_CASE("operations of another project are not there") {
  driven_office w;
  auto mine = w.what_to_do(10);
  auto theirs = mine;
  theirs.project = "theirs";
  auto first = w.replay(mine).id;
  auto second = w.replay(theirs).id;
  auto third = w.replay(mine).id;
  auto found = w.ask<operation_record>(get_operation{default_project, second});
  REQUIRE_FALSE(found);
  CHECK(found.reason().code == errc::not_found);
  CHECK_FALSE(
    w.ask<operation_record>(cancel_operation{default_project, second}));
  auto list = w.ask<operation_list>(list_operations{});
  REQUIRE(list);
  REQUIRE(list->items.size() == 2);
  CHECK(list->items[0].id == third);
  CHECK(list->items[1].id == first);
}

TEST_CASE("an operation with nothing to do is only stored") {
  driven_office w;
  auto what = w.what_to_do(10);
  what.state = operation_state::done;
  what.finished_at = w.now().wall;
  auto id = w.replay(what).id;
  w.advance(10s);
  CHECK(w.queue(1).slices.empty());
  CHECK(w.disk().operations.at(id).state == operation_state::done);
}

TEST_CASE("numbers of operations are not used again") {
  driven_office w;
  w.replay(w.what_to_do(10));
  w.disk().last_operation = operation_id{7};
  w.restart();
  CHECK(w.replay(w.what_to_do(10)).id == operation_id{8});
}

TEST_CASE("two replays run side by side") {
  driven_office w;
  w.add_dead(50);
  for (std::uint64_t seq = 101; seq <= 150; ++seq)
    w.disk().add_dead(queue_id{2}, seq, w.now().wall - 1s);
  auto one = w.what_to_do(10);
  auto other = one;
  other.queue = queue_id{2};
  w.replay(one);
  w.replay(other);
  w.advance(3s);
  CHECK(w.queue(1).slices.size() >= 30);
  CHECK(w.queue(2).slices.size() >= 30);
  w.advance(3s);
  CHECK(w.disk().ended.empty());
}

TEST_CASE("without a disk nothing is known, and nothing started") {
  driven_office w;
  w.add_dead(10);
  w.replay(w.what_to_do(1));
  w.disk().down = true;
  w.restart();
  CHECK_FALSE(w.ask<operation_list>(list_operations{}));
  CHECK_FALSE(w.ask<operation_record>(start_operation{w.what_to_do(1)}));
  w.advance(1min);
  w.disk().down = false;
  w.advance(2min);
  CHECK(w.get(operation_id{1}).state == operation_state::done);
}

TEST_CASE("who stands down ends its slice and starts nothing more") {
  driven_office w;
  w.add_dead(100);
  w.queue(1).takes = 100ms;
  auto id = w.replay(w.what_to_do(10)).id;
  w.advance(1050ms);
  auto answer = w.begin_ask<stood_down>(stand_down{});
  CHECK_FALSE(*answer);
  w.advance(100ms);
  REQUIRE(*answer);
  auto done = w.get(id).done;
  w.advance(1min);
  CHECK(w.get(id).done == done);
  auto refused = w.ask<operation_record>(start_operation{w.what_to_do(1)});
  REQUIRE_FALSE(refused);
  CHECK(refused.reason().code == errc::draining);
}

TEST_CASE("whoever waits for an operations actor that ends is answered") {
  driven_office w;
  w.add_dead(10);
  w.queue(1).takes = 1h;
  auto id = w.replay(w.what_to_do(10)).id;
  auto cancelled =
    w.begin_ask<operation_record>(cancel_operation{default_project, id});
  auto stood = w.begin_ask<stood_down>(stand_down{});
  w.restart();
  CHECK(*cancelled);
  CHECK(*stood);
}

TEST_CASE("the oldest messages are redriven first, up to the limit") {
  driven_office w;
  w.add_dead_messages(100);
  auto what = w.what_to_redrive(50);
  what.limit = 42;
  auto id = w.replay(what).id;
  w.advance(500ms);
  CHECK(w.get(id).state == operation_state::running);
  CHECK(w.disk().ended.begin()->first == job_seq{w.get(id).done + 1});
  w.advance(10s);
  CHECK(w.get(id).state == operation_state::done);
  CHECK(w.get(id).done == 42);
  CHECK(w.disk().ended.size() == 58);
  CHECK(w.disk().ended.begin()->first == job_seq{43});
}

TEST_CASE("a message that is given up on again is not redriven again") {
  driven_office w;
  w.add_dead_messages(10);
  auto id = w.replay(w.what_to_redrive(1)).id;
  w.advance(3500ms);
  w.disk().add_dead_message(queue_id{1}, 2, w.now().wall);
  w.disk().add_dead_message(queue_id{1}, 11, w.now().wall);
  w.advance(1min);
  CHECK(w.get(id).state == operation_state::done);
  CHECK(w.get(id).done == 10);
  CHECK(w.disk().replayed.at(job_seq{2}) == 1);
  CHECK(w.disk().ended.size() == 2);
}

TEST_CASE("a redrive goes on where a crash has interrupted it") {
  driven_office w;
  w.add_dead_messages(100);
  auto id = w.replay(w.what_to_redrive(10)).id;
  while (w.get(id).state == operation_state::running) {
    w.advance(1700ms);
    w.restart();
  }
  CHECK(w.get(id).done == 100);
  for (auto& [seq, times] : w.disk().replayed)
    CHECK(times == 1);
}

TEST_CASE("whatever fails when, each dead letter is replayed once") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    driven_office w{seed};
    std::mt19937_64 lots{seed};
    w.add_dead(60);
    std::optional<operation_id> id;
    for (int step = 0; step < 60; ++step) {
      w.disk().failure_keeps_data = lots() % 2 == 0;
      w.queue(1).takes = std::chrono::milliseconds{lots() % 300};
      switch (lots() % 5) {
        case 0:
          w.restart();
          break;
        case 1:
          w.disk().commits_until_failure = lots() % 4;
          break;
        default:
          break;
      }
      if (!id)
        if (auto op = w.ask<operation_record>(start_operation{w.what_to_do(9)}))
          id = op->id;
      w.advance(std::chrono::milliseconds{lots() % 900});
    }
    w.disk().commits_until_failure.reset();
    w.advance(2min);
    INFO("seed " << seed);
    CHECK(w.disk().ended.empty());
    CHECK(w.disk().replayed.size() == 60);
    for (auto& [seq, times] : w.disk().replayed)
      CHECK(times == 1);
    std::uint64_t done = 0;
    for (auto& [n, op] : w.disk().operations) {
      CHECK(op.state == operation_state::done);
      done += op.done;
    }
    CHECK(done == 60);
  }
}
