// Jobs that share a limit key: turns, gates, slots and rates of their own.

#include "actors/core/limit_keys.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

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

queue_settings by_key() {
  return with([](auto& s) {
    s.backpressure_scope = backpressure_scope::key;
    s.concurrency = 4;
  });
}

std::size_t flying(const workbench& w, const std::string& key) {
  return w.truth().flying(key);
}

std::size_t started(const workbench& w, const std::string& key) {
  return static_cast<std::size_t>(
    std::count_if(w.log().begin(), w.log().end(),
                  [&](const auto& s) { return s.key == key; }));
}

/// Returns a queue whose key "a" is held for `wait` seconds by its one job.
workbench key_held(const std::string& wait = "10") {
  workbench w{by_key()};
  auto job = w.publish_for("a");
  w.answer(job, answered(429, {wait}));
  return w;
}

job_id number(std::uint64_t n) {
  return {queue_id{1}, job_seq{n}, n * 7};
}

} // namespace

// -- turns --------------------------------------------------------------------

TEST_CASE("a burst of 10,000 of one key does not delay another key's job") {
  workbench w{with([](auto& s) { s.concurrency = 1; })};
  w.pause();
  w.publish_many(10'000, "a");
  auto other = w.publish_for("b");
  w.resume();
  for (auto i = 0; i < 10 && !w.flies(other); ++i)
    w.answer(std::size_t{0}, answered(200));
  CHECK(w.flies(other));
  CHECK(w.log().size() <= 10);
}

TEST_CASE("keys take turns, and jobs without one are a key as well") {
  workbench w{with([](auto& s) { s.concurrency = 1; })};
  w.pause();
  w.publish_many(3, "a");
  w.publish_many(3, "b");
  w.publish_many(3);
  w.resume();
  while (!w.in_flight().empty())
    w.answer(std::size_t{0}, answered(200));
  std::vector<std::string> order;
  for (const auto& s : w.log())
    order.push_back(s.key);
  CHECK(order
        == std::vector<std::string>{"a", "b", "", "a", "b", "", "a", "b", ""});
}

// -- holds --------------------------------------------------------------------

TEST_CASE("a 429 of one key leaves rate and concurrency of others untouched") {
  auto settings = by_key();
  settings.key_concurrency = 3;
  settings.key_rate_limit_max = 3;
  workbench w{settings};
  w.publish_many(5, "a");
  w.publish_many(5, "b");
  CHECK(flying(w, "a") == 3);
  CHECK(flying(w, "b") == 1);
  w.answer(number(1), answered(429, {"10"}));
  CHECK(w.gate() == gate_state::open);
  CHECK(w.key_gate("a").state == gate_state::held);
  CHECK(flying(w, "b") == 2);
  w.answer(number(2), answered(200));
  w.answer(number(3), answered(200));
  CHECK(flying(w, "a") == 0);
  CHECK(flying(w, "b") == 3);
  CHECK(w.blocked(number(4))
        == std::vector<std::string>{"key_hold", "key_rate"});
  CHECK(w.blocked(number(9))
        == std::vector<std::string>{"key_concurrency", "key_rate"});
}

TEST_CASE("a held key is held after a restart until the same time") {
  auto w = key_held("10");
  auto other = w.publish_for("b");
  w.answer(other, answered(200));
  w.restart(seconds(3));
  CHECK(w.key_gate("a").state == gate_state::held);
  w.pass(seconds(6.999999));
  CHECK(started(w, "a") == 1);
  w.pass(duration{1});
  CHECK(started(w, "a") == 2);
  CHECK(w.in_flight()[0].probe);
  w.answer(number(1), answered(200));
  CHECK(w.key_gate("a").state == gate_state::open);
  CHECK(w.store().keys().empty());
}

TEST_CASE("the first probe of a key goes alone, whatever else of it is due") {
  auto w = key_held("1");
  w.publish_many(3, "a");
  w.pass(seconds(1));
  CHECK(flying(w, "a") == 1);
  CHECK(w.blocked(number(4)) == std::vector<std::string>{"key_probe"});
  w.publish_for("b");
  CHECK(flying(w, "b") == 1);
  w.answer(w.in_flight()[0].job, answered(200));
  CHECK(flying(w, "a") == 3);
}

TEST_CASE("scope key without a key acts on the queue") {
  workbench w{ack_settings()};
  auto job = w.publish();
  CHECK(w.defer(job, seconds(5), defer_scope::key) == "ok");
  CHECK(w.gate() == gate_state::held);
  workbench other{by_key()};
  auto plain = other.publish();
  other.answer(plain, answered(429, {"5"}));
  CHECK(other.gate() == gate_state::held);
  CHECK(other.store().keys().empty());
}

TEST_CASE("a key that is released probes, and its deferred jobs are due") {
  auto w = key_held("3600");
  w.release_key("a");
  auto released = std::find_if(w.events().begin(), w.events().end(),
                               [](const service_event& e) {
                                 return e.kind == event_kind::queue_released;
                               });
  REQUIRE(released != w.events().end());
  CHECK(released->limit_key == "a");
  CHECK(w.key_gate("a").state == gate_state::probing);
  REQUIRE(w.in_flight().size() == 1);
  CHECK(w.in_flight()[0].probe);
  w.answer(number(1), answered(200));
  CHECK(w.key_gate("a").state == gate_state::open);
}

TEST_CASE("what a released key made due is due after a restart as well") {
  auto w = key_held("3600");
  w.pause();
  w.release_key("a");
  w.restart();
  w.resume();
  CHECK(w.flies(number(1)));
}

TEST_CASE("a release of a key that nobody knows does nothing") {
  auto w = key_held();
  w.release_key("b");
  w.release_key("");
  CHECK(w.key_gate("a").state == gate_state::held);
  CHECK(w.queue().release_key("b", w.now()).empty());
}

TEST_CASE("a release of the queue does not release its keys") {
  auto w = key_held("10");
  w.release();
  CHECK(w.key_gate("a").state == gate_state::held);
  CHECK(w.log().size() == 1);
}

TEST_CASE("one delivery probes queue and key at once, and both take its word") {
  struct ending {
    delivery_reply reply;
    gate_state queue;
    gate_state key;
  };
  auto e = GENERATE(ending{answered(200), gate_state::open, gate_state::open},
                    ending{answered(404), gate_state::open, gate_state::open},
                    ending{answered(500), gate_state::held, gate_state::held});
  auto w = key_held("2");
  w.publish_for("b");
  w.hold(seconds(3));
  w.answer_all(answered(200));
  w.pass(seconds(3));
  CHECK(w.gate() == gate_state::probing);
  CHECK(w.key_gate("a").state == gate_state::probing);
  CHECK(w.in_flight().size() == 1);
  w.answer(number(1), e.reply);
  CHECK(w.gate() == e.queue);
  CHECK(w.key_gate("a").state == e.key);
}

TEST_CASE("not now of a key says nothing about the queue: another one probes") {
  auto w = key_held("2");
  w.hold(seconds(3));
  w.pass(seconds(3));
  auto other = w.publish_for("b");
  CHECK_FALSE(w.flies(other));
  w.answer(number(1), answered(429, {"60"}));
  CHECK(w.key_gate("a").state == gate_state::held);
  CHECK(w.flies(other));
  CHECK(w.gate() == gate_state::probing);
  w.answer(other, answered(200));
  CHECK(w.gate() == gate_state::open);
}

TEST_CASE("a new URL releases the keys, too") {
  auto w = key_held("3600");
  w.change([](auto& s) { s.webhook_url = "http://other.example/"; });
  CHECK(w.key_gate("a").state == gate_state::probing);
  CHECK(w.flies(number(1)));
}

TEST_CASE("events of a key's gate name the key") {
  auto w = key_held("1");
  w.pass(seconds(1));
  w.answer(number(1), answered(200));
  REQUIRE(w.events().size() == 3);
  for (const auto& e : w.events())
    CHECK(e.limit_key == "a");
  CHECK(w.events()[0].kind == event_kind::queue_held);
  CHECK(w.events()[0].release_at == at(1).wall);
  CHECK(w.events()[1].kind == event_kind::queue_probing);
  CHECK(w.events()[2].kind == event_kind::queue_opened);
  CHECK(w.events()[2].verdict == probe_verdict::success);
}

// -- limits -------------------------------------------------------------------

TEST_CASE("no more of a key are in flight than its limit, others go past it") {
  workbench w{with([](auto& s) {
    s.concurrency = 10;
    s.key_concurrency = 2;
  })};
  w.publish_many(5, "a");
  w.publish_many(5, "b");
  w.publish_many(5);
  CHECK(flying(w, "a") == 2);
  CHECK(flying(w, "b") == 2);
  CHECK(flying(w, "") == 5);
  w.answer(number(1), answered(500));
  CHECK(flying(w, "a") == 2);
  w.change([](auto& s) { s.key_concurrency.reset(); });
  CHECK(flying(w, "a") + flying(w, "b") == 5);
}

TEST_CASE("the rate of a key is kept in any window, also over a restart") {
  workbench w{with([](auto& s) {
    s.concurrency = 20;
    s.key_rate_limit_max = 2;
    s.rate_limit_window = seconds(10);
  })};
  w.publish_many(6, "a");
  w.publish_many(3, "b");
  CHECK(started(w, "a") == 2);
  CHECK(started(w, "b") == 2);
  for (auto i = 0; i < 9; ++i) {
    w.restart(seconds(1));
    CHECK(started(w, "a") == 2);
  }
  w.pass(seconds(1));
  CHECK(started(w, "a") == 4);
  w.pass(seconds(9.999999));
  CHECK(started(w, "a") == 4);
  w.pass(duration{1});
  CHECK(started(w, "a") == 6);
}

TEST_CASE("a spent rate of a key is forgotten when it counts no more") {
  workbench w{with([](auto& s) { s.key_rate_limit_max = 5; })};
  auto job = w.publish_for("a");
  w.answer(job, answered(200));
  CHECK(w.queue().memory().limit_keys == 1);
  CHECK(w.store().keys().size() == 1);
  w.pass(seconds(1));
  CHECK(w.queue().memory().limit_keys == 0);
  CHECK(w.queue().memory().lanes == 0);
  CHECK(w.store().keys().empty());
}

// -- what is told and what is kept --------------------------------------------

TEST_CASE("the keys that are held, probing or busy are told by name") {
  auto w = key_held("100");
  w.publish_for("c");
  w.publish_for("b");
  w.publish(seconds(50));
  list_limit_keys which;
  auto all = w.queue().view(which, w.now());
  REQUIRE(all.items.size() == 3);
  CHECK(all.items[0].key == "a");
  CHECK(all.items[0].gate.state == gate_state::held);
  CHECK(all.items[0].blocked.at(0).gate == gate_kind::key_hold);
  CHECK(all.items[1].key == "b");
  CHECK(all.items[1].in_flight == 1);
  CHECK(all.items[2].key == "c");
  CHECK(all.next_after.empty());
  which.limit = 2;
  auto page = w.queue().view(which, w.now());
  CHECK(page.items.size() == 2);
  CHECK(page.next_after == "b");
  which.after = page.next_after;
  page = w.queue().view(which, w.now());
  REQUIRE(page.items.size() == 1);
  CHECK(page.items[0].key == "c");
}

TEST_CASE("what keys that are held have in memory is bounded") {
  workbench w{with([](auto& s) {
    s.backpressure_scope = backpressure_scope::key;
    s.concurrency = 8;
  })};
  w.pause();
  constexpr std::size_t keys = 1500;
  for (std::size_t n = 0; n < keys; ++n)
    w.publish_many(2, "k" + std::to_string(n));
  w.resume();
  for (std::size_t n = 0; n < keys / 8 + 1; ++n)
    w.answer_all(answered(429, {"3600"}));
  list_limit_keys which;
  which.limit = keys + 1;
  CHECK(w.queue().view(which, w.now()).items.size() == keys);
  CHECK(w.queue().memory().residents <= 1024 + 64);
}

TEST_CASE("a key that nobody uses is forgotten an hour after its hold") {
  workbench w{with([](auto& s) {
    s.backpressure_scope = backpressure_scope::key;
    s.max_defers = 0;
  })};
  w.answer(w.publish_for("a"), answered(429, {"10"}));
  CHECK(w.queue().live_jobs() == 0);
  w.pass(seconds(10 + 3599));
  CHECK(w.queue().memory().limit_keys == 1);
  w.pass(seconds(1));
  CHECK(w.queue().memory().limit_keys == 0);
  CHECK(w.store().keys().empty());
}

TEST_CASE("a key that is released long before its time is forgotten as soon") {
  workbench w{with([](auto& s) {
    s.backpressure_scope = backpressure_scope::key;
    s.max_defers = 0;
  })};
  w.answer(w.publish_for("a"), answered(429, {"1000000"}));
  w.release_key("a");
  w.pass(seconds(3601));
  CHECK(w.queue().memory().limit_keys == 0);
  CHECK(w.store().keys().empty());
}

TEST_CASE("a probe that dies leaves the key to the next of its jobs") {
  auto w = key_held("1");
  w.change([](auto& s) { s.max_attempts = 1; });
  w.pass(seconds(1));
  w.answer(number(1), answered(500));
  CHECK(w.stored(number(1)).status == job_status::dead);
  w.publish_many(2, "a");
  w.pass(seconds(1));
  CHECK(flying(w, "a") == 1);
  w.answer(std::size_t{0}, answered(200));
  CHECK(w.key_gate("a").state == gate_state::open);
}

TEST_CASE("a million keys that come and go leave nothing behind") {
  auto settings = with([](auto& s) { s.key_concurrency = 1; });
  due_heap jobs;
  limit_keys keys;
  auto now = at(0).steady;
  for (std::uint64_t n = 1; n <= 1'000'000; ++n) {
    due_heap::entry e;
    e.seq = job_seq{n};
    e.due = now;
    e.expires = at(60).steady;
    jobs.add(e, "tenant " + std::to_string(n));
    jobs.mature(now);
    auto lane = *jobs.first_lane();
    jobs.take_out(e.seq);
    keys.start(lane, settings, jobs, now);
    if (n % 7 == 0)
      keys.shut(lane, jobs, now);
    jobs.erase(e.seq);
    keys.give_back(lane, jobs, now);
  }
  CHECK(jobs.keyed_lanes() == 0);
  CHECK(keys.size() == 0);
  CHECK_FALSE(keys.next_wakeup());
}

TEST_CASE("keys that are all there at once leave nothing behind either") {
  due_heap jobs;
  for (std::uint64_t n = 1; n <= 100'000; ++n) {
    due_heap::entry e;
    e.seq = job_seq{n};
    e.due = at(0).steady;
    e.expires = at(60).steady;
    jobs.add(e, std::to_string(n));
  }
  CHECK(jobs.keyed_lanes() == 100'000);
  for (std::uint64_t n = 1; n <= 100'000; ++n)
    jobs.erase(job_seq{n});
  CHECK(jobs.keyed_lanes() == 0);
  CHECK(jobs.size() == 0);
  due_heap::entry e;
  e.seq = job_seq{100'001};
  jobs.add(e, "again");
  CHECK(jobs.key_of(*jobs.find_lane("again")) == "again");
}
