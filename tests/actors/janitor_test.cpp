// What has ended goes when its time has come.

#include <catch2/catch.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/janitor_actor.hpp"
#include "tests/actors/back_office.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

/// An office with a janitor, who has not begun yet.
class cleaned_office : public back_office {
public:
  explicit cleaned_office(std::uint64_t seed = 0) : back_office(seed) {
    janitor_ = system().get().spawn(make_janitor, env(), directory(),
                                    duration{1s});
  }

  ~cleaned_office() {
    kill(janitor_);
  }

  const janitor_actor& janitor() const {
    return janitor_;
  }

  void begin() {
    caf::anon_send(janitor_, start_janitor{});
    system().run();
  }

  /// Lets jobs 1 to `n` be removable from now on.
  void add_overdue(std::uint64_t n, std::uint32_t queue = 1) {
    for (std::uint64_t seq = 1; seq <= n; ++seq)
      disk().add_dead(queue_id{queue}, seq, now().wall, now().wall);
  }

private:
  janitor_actor janitor_;
};

} // namespace

TEST_CASE("an ended job is removed when its time has come, and not before") {
  cleaned_office w;
  w.disk().add_dead(queue_id{1}, 1, w.now().wall, w.now().wall + 10s);
  w.begin();
  w.advance(9s);
  CHECK(w.disk().ended.size() == 1);
  w.advance(2s);
  CHECK(w.disk().ended.empty());
}

TEST_CASE("many jobs are removed slice by slice, without a pause") {
  cleaned_office w;
  w.add_overdue(1000);
  w.queue(1).takes = 5ms;
  w.begin();
  w.advance(25ms);
  CHECK(w.disk().ended.empty());
  auto& q = w.queue(1);
  CHECK(q.under_way_max == 1);
  REQUIRE(q.removals.size() == 4);
  CHECK(q.removals[0].jobs == removal_slice_max);
  CHECK(q.removals[3].jobs == 1000 - 3 * removal_slice_max);
}

TEST_CASE("a slice that takes long is followed by a smaller one") {
  cleaned_office w;
  w.add_overdue(10'000);
  w.queue(1).takes = 40ms;
  w.begin();
  w.advance(400ms);
  auto& q = w.queue(1);
  REQUIRE(q.removals.size() >= 6);
  CHECK(q.removals[0].jobs == 256);
  CHECK(q.removals[1].jobs == 128);
  CHECK(q.removals[5].jobs == removal_slice_min);
  q.takes = 1ms;
  w.advance(60ms);
  CHECK(q.removals.back().jobs == removal_slice_max);
}

TEST_CASE("each queue is told of its own jobs only") {
  cleaned_office w;
  for (std::uint64_t seq = 1; seq <= 10; ++seq)
    w.disk().add_dead(queue_id{seq <= 3 ? 1u : 2u}, seq, w.now().wall,
                      w.now().wall);
  w.begin();
  CHECK(w.disk().ended.empty());
  REQUIRE(w.queue(1).removals.size() == 1);
  REQUIRE(w.queue(2).removals.size() == 1);
  CHECK(w.queue(1).removals[0].jobs == 3);
  CHECK(w.queue(2).removals[0].jobs == 7);
}

TEST_CASE("what a broken disk keeps is removed when it works again") {
  cleaned_office w;
  w.add_overdue(600);
  w.disk().commits_until_failure = 1;
  w.begin();
  CHECK(w.disk().ended.size() == 600 - removal_slice_max);
  w.disk().down = true;
  w.advance(10s);
  w.disk().down = false;
  w.advance(2s);
  CHECK(w.disk().ended.empty());
}

TEST_CASE("jobs that cannot be removed are asked for once a second") {
  cleaned_office w;
  w.add_overdue(10);
  w.queue(1).passes_over = true;
  w.begin();
  w.advance(10s);
  CHECK(w.disk().reads <= 11);
  w.queue(1).passes_over = false;
  w.advance(1s);
  CHECK(w.disk().ended.empty());
}

TEST_CASE("a queue that is gone holds nobody up") {
  cleaned_office w;
  w.disk().add_dead(queue_id{1}, 1, w.now().wall, w.now().wall);
  w.disk().add_dead(queue_id{2}, 2, w.now().wall, w.now().wall);
  w.remove_queue(1);
  w.begin();
  CHECK(w.disk().ended.count(job_seq{2}) == 0);
}

TEST_CASE("a janitor who stands down ends its slice and begins no other") {
  cleaned_office w;
  w.add_overdue(1000);
  w.queue(1).takes = 5ms;
  w.begin();
  w.advance(7ms);
  auto answer = w.system().begin_ask<stood_down>(w.janitor(), stand_down{});
  w.system().run();
  CHECK_FALSE(*answer);
  w.advance(10s);
  REQUIRE(*answer);
  CHECK(w.queue(1).removals.size() == 2);
  auto again = w.system().ask<stood_down>(w.janitor(), stand_down{});
  CHECK(again);
}

TEST_CASE("a janitor who is ended answers who waits for it to stand down") {
  cleaned_office w;
  w.add_overdue(10);
  w.queue(1).takes = 1h;
  w.begin();
  auto answer = w.system().begin_ask<stood_down>(w.janitor(), stand_down{});
  w.system().run();
  w.kill(w.janitor());
  CHECK(*answer);
}
