// What the service tells whoever listens, in virtual time.

#include <catch2/catch.hpp>

#include <algorithm>

#include <caf/send.hpp>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

/// Remembers what it is given, up to `room` pieces.
class recording_sink : public event_sink {
public:
  explicit recording_sink(std::size_t room = 1'000'000) : left(room) {
    // nop
  }

  bool has_room() const override {
    return left > 0;
  }

  void begin(event_id at) override {
    told.push_back("begin " + std::to_string(at.number));
  }

  void put(const numbered_event& what) override {
    --left;
    last = what;
    told.push_back(to_string(what.event.kind));
  }

  void put_gap() override {
    told.push_back("gap");
  }

  void beat() override {
    ++beats;
  }

  void end() override {
    ended = true;
  }

  std::size_t left;
  std::vector<std::string> told;
  numbered_event last;
  int beats = 0;
  bool ended = false;
};

using told = std::vector<std::string>;

std::shared_ptr<recording_sink>
listen(world& w, event_filter filter = {default_project, false, {}, {}},
       std::optional<event_id> after = {}, std::size_t room = 1'000'000) {
  auto result = std::make_shared<recording_sink>(room);
  w.ask<events_subscribed>(w.events_handle(),
                           subscribe_events{std::move(filter), after, result});
  return result;
}

event_filter only(event_kind kind) {
  return {default_project, false, {}, {kind}};
}

} // namespace

TEST_CASE("a hold is told from its begin to its end, and jobs are not") {
  world w;
  w.create("q");
  auto heard = listen(w);
  w.downstream().behave(outage(3s, "2"));
  for (int i = 0; i < 50; ++i)
    w.put("q");
  w.advance(1min);
  CHECK(w.get("q").counts.completed == 50);
  CHECK(heard->told.front() == "begin 1");
  CHECK(heard->told[1] == "queue.held");
  CHECK(heard->told.back() == "queue.opened");
  auto probes = std::count(heard->told.begin(), heard->told.end(),
                           "queue.probing");
  CHECK(probes == 2);
  CHECK(heard->last.event.project == default_project);
  CHECK(heard->last.event.queue == "q");
  CHECK(heard->last.event.verdict == probe_verdict::success);
}

TEST_CASE("jobs that complete tell nothing") {
  world w;
  w.create("q");
  auto heard = listen(w);
  for (int i = 0; i < 20; ++i)
    w.put("q");
  w.advance(1min);
  CHECK(w.get("q").counts.completed == 20);
  CHECK(heard->told == told{"begin 1"});
}

TEST_CASE("what operators do to a queue is told") {
  world w;
  auto heard = listen(w);
  w.create("q");
  w.pause("q");
  w.resume("q");
  queue_settings_patch patch;
  patch.concurrency = 3;
  w.patch("q", patch);
  w.hold("q", 10s, "deploy");
  CHECK(heard->last.event.detail == "deploy");
  CHECK(heard->last.event.release_at == w.now().wall + 10s);
  w.remove("q");
  CHECK(heard->told
        == told{"begin 0", "queue.created", "queue.paused", "queue.resumed",
                "queue.changed", "queue.held", "queue.deleted"});
}

TEST_CASE("a dead job and its replay are told") {
  world w;
  auto settings = some_settings();
  settings.max_attempts = 1;
  w.create("q", settings);
  auto heard = listen(w);
  w.downstream().behave(always({500}));
  auto id = w.put("q").id;
  w.advance(1s);
  CHECK(heard->last.event.reason == dead_reason::attempts_exhausted);
  w.downstream().behave(always({200}));
  w.replay(id);
  w.advance(1s);
  CHECK(heard->told == told{"begin 1", "job.dead", "job.replayed"});
  CHECK(heard->last.event.job == id);
}

TEST_CASE("what an operator removes is told, with how many they were") {
  world w;
  auto settings = some_settings();
  settings.max_attempts = 1;
  w.create("q", settings);
  w.downstream().behave(always({500}));
  for (int i = 0; i < 5; ++i)
    w.put("q");
  w.advance(1s);
  w.pause("q");
  for (int i = 0; i < 3; ++i)
    w.put("q");
  auto heard = listen(w);
  CHECK(w.purge("q") == 3);
  CHECK(heard->last.event.count == 3);
  CHECK(w.purge("q") == 0);
  CHECK(w.delete_dead_letters("q") == 5);
  CHECK(heard->last.event.count == 5);
  CHECK(heard->told == told{"begin 7", "queue.purged", "dead_letters.deleted"});
}

TEST_CASE("a replay of many is told by its begin and its end") {
  world w;
  auto settings = some_settings();
  settings.max_attempts = 1;
  w.create("q", settings);
  w.downstream().behave(always({500}));
  for (int i = 0; i < 30; ++i)
    w.put("q");
  w.advance(1s);
  w.downstream().behave(always({200}));
  auto heard = listen(w);
  w.replay_dead_letters("q");
  w.advance(1min);
  CHECK(w.get("q").counts.completed == 30);
  CHECK(heard->told
        == told{"begin 31", "operation.started", "operation.ended"});
  REQUIRE(heard->last.event.operation);
  CHECK(heard->last.event.operation->done == 30);
  CHECK(heard->last.event.operation->state == operation_state::done);
}

TEST_CASE("a reader hears of its own project, queue and types only") {
  world w;
  auto project = listen(w, {"acme", false, {}, {}});
  auto queue = listen(w, {default_project, false, "b", {}});
  auto types = listen(w, only(event_kind::queue_paused));
  for (auto name : {"a", "b"}) {
    w.create(name);
    w.pause(name);
  }
  CHECK(project->told == told{"begin 0"});
  CHECK(queue->told == told{"begin 0", "queue.created", "queue.paused"});
  CHECK(types->told == told{"begin 0", "queue.paused", "queue.paused"});
}

TEST_CASE("only those who may see the whole server hear of its store") {
  world w;
  w.create("q");
  auto own = listen(w);
  auto whole = listen(w, {default_project, true, {}, {}});
  w.faults().down = true;
  CHECK(refusal_of([&] { w.put("q"); }) == errc::storage_unavailable);
  w.faults().down = false;
  w.advance(5s);
  CHECK(own->told == told{"begin 1"});
  CHECK(whole->told == told{"begin 1", "store.failed", "store.recovered"});
}

TEST_CASE("a reader that comes back goes on where it was") {
  world w;
  w.create("a");
  auto first = listen(w, only(event_kind::queue_created));
  w.create("b");
  auto last = first->last.id;
  w.create("c");
  w.create("d");
  auto second = listen(w, only(event_kind::queue_created), last);
  CHECK(second->told == told{"queue.created", "queue.created"});
  CHECK(second->last.event.queue == "d");
}

TEST_CASE(
  "after a restart a reader is told that it may have missed something") {
  world w;
  w.create("a");
  auto first = listen(w);
  w.create("b");
  auto last = first->last.id;
  w.crash(1s);
  w.create("c");
  auto second = listen(w, only(event_kind::queue_created), last);
  CHECK(second->told == told{"gap", "queue.created"});
  CHECK(second->last.event.queue == "c");
  CHECK(last < second->last.id);
}

TEST_CASE("a slow reader goes on when it has room, and misses nothing") {
  world w;
  auto slow = listen(w, only(event_kind::queue_created), {}, 2);
  for (auto name : {"a", "b", "c", "d"})
    w.create(name);
  CHECK(slow->told.size() == 3);
  slow->left = 10;
  caf::anon_send(w.events_handle(), feed_events{slow});
  w.advance(1s);
  CHECK(slow->told.size() == 5);
  CHECK(slow->last.event.queue == "d");
  CHECK_FALSE(slow->ended);
}

TEST_CASE("a reader that falls behind what is kept is dropped") {
  world w;
  w.create("q");
  auto slow = listen(w, {default_project, false, {}, {}}, {}, 1);
  auto quick = listen(w);
  // More than 4 MiB of them.
  for (int i = 1; i <= 10'000 && !slow->ended; ++i)
    w.hold("q", std::chrono::seconds{i}, std::string(500, 'x'));
  CHECK(slow->ended);
  CHECK(slow->told.size() == 2);
  CHECK_FALSE(quick->ended);
  CHECK(quick->told.size() > 2'000);
  auto figures = w.ask<event_figures>(w.events_handle(), get_event_figures{});
  CHECK(figures.dropped == 1);
  CHECK(figures.streams == 1);
}

TEST_CASE("a reader that is gone is not told anything more") {
  world w;
  auto gone = listen(w);
  caf::anon_send(w.events_handle(), unsubscribe_events{gone});
  w.create("q");
  CHECK(gone->told == told{"begin 0"});
  CHECK_FALSE(gone->ended);
}

TEST_CASE("there is a sign of life every 15 s") {
  world w;
  auto heard = listen(w);
  w.advance(1min);
  CHECK(heard->beats == 4);
}

TEST_CASE("more than 100 streams are refused") {
  world w;
  std::vector<std::shared_ptr<recording_sink>> open;
  for (int i = 0; i < 100; ++i)
    open.push_back(listen(w));
  CHECK(refusal_of([&] { listen(w); }) == errc::overloaded);
  caf::anon_send(w.events_handle(), unsubscribe_events{open.back()});
  CHECK_FALSE(refusal_of([&] { listen(w); }));
}
