// Alerts of a whole service, in virtual time.

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "actors/core/alerts.hpp"
#include "tests/actors/pull_world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

/// Prints what tests look at, as a JSON string.
payload print(const alert& what) {
  auto number = what.count > 0
                  ? what.count
                  : static_cast<std::uint64_t>(to_seconds(what.span));
  return payload{std::string{"\""} + to_string(what.cause) + ' '
                 + to_string(what.state) + ' ' + what.queue + ' '
                 + std::to_string(number) + '"'};
}

world_options with_alerts(std::uint64_t seed = 0,
                          alert_settings settings = {true, 10s, 0, 0s, 60s}) {
  alert_options what;
  what.settings = settings;
  what.webhook_url = "http://operator.test/";
  what.encode = print;
  world_options result;
  result.seed = seed;
  result.alerts = std::move(what);
  return result;
}

using decision = modelled_downstream::decision;

/// Answers alerts and everything else differently.
decision split(decision alerts, decision others) {
  return [=](const delivery& what, moment now) {
    return what.queue_name == alerts_queue ? alerts(what, now)
                                           : others(what, now);
  };
}

/// A queue `mail` whose jobs have one attempt, and an operator who takes
/// alerts.
void begin(world& w, decision others, decision operators = always({200})) {
  w.downstream().behave(split(std::move(operators), std::move(others)));
  auto settings = some_settings();
  settings.max_attempts = 1;
  w.create("mail", settings);
  w.advance(2s);
}

using told = std::vector<std::string>;

/// Returns what has arrived at the operator's webhook, without the quotes, each
/// alert once.
told heard(world& w) {
  told result;
  std::set<job_id> seen;
  for (const auto& a : w.downstream().arrivals())
    if (a.what.queue_name == alerts_queue && seen.insert(a.what.job).second) {
      const auto& text = a.what.payload.bytes();
      result.push_back(text.substr(1, text.size() - 2));
    }
  return result;
}

void put_many(world& w, int count) {
  for (int i = 0; i < count; ++i)
    w.put("mail");
}

} // namespace

TEST_CASE("without alerts there is no queue for them") {
  world w;
  w.advance(2s);
  CHECK(refusal_of([&] { w.get(alerts_queue); }) == errc::queue_not_found);
}

TEST_CASE("the queue for alerts is there from the start, and calls the URL") {
  world w{with_alerts()};
  w.advance(2s);
  const auto settings = w.get(alerts_queue).queue.settings;
  CHECK(settings.webhook_url == "http://operator.test/");
  CHECK(settings.max_attempts == 20);
}

TEST_CASE("after a restart only the URL is as it was configured") {
  world w{with_alerts()};
  w.advance(2s);
  queue_settings_patch patch;
  patch.webhook_url = "http://elsewhere.test/";
  patch.concurrency = 7;
  w.patch(alerts_queue, patch);
  w.crash();
  w.advance(2s);
  const auto settings = w.get(alerts_queue).queue.settings;
  CHECK(settings.webhook_url == "http://operator.test/");
  CHECK(settings.concurrency == 7);
}

TEST_CASE("many dead jobs are one alert, and the next ones another") {
  auto seed = GENERATE(range(0u, 5u));
  world w{with_alerts(seed)};
  begin(w, always({500}));
  put_many(w, 50);
  w.advance(5s);
  CHECK(heard(w) == told{"job_dead firing mail 50"});
  put_many(w, 3);
  w.advance(30s);
  CHECK(heard(w).size() == 1);
  w.advance(30s);
  CHECK(heard(w) == told{"job_dead firing mail 50", "job_dead firing mail 3"});
}

TEST_CASE("a hold is told when it has lasted, and when it is over") {
  auto seed = GENERATE(range(0u, 5u));
  world w{with_alerts(seed)};
  begin(w, always({}));
  w.downstream().behave(split(always({200}), outage(25s, "2")));
  w.put("mail");
  w.advance(9s);
  CHECK(heard(w).empty());
  w.advance(2s);
  CHECK(heard(w) == told{"queue_held firing mail 10"});
  w.advance(60s);
  REQUIRE(heard(w).size() == 2);
  CHECK(heard(w)[1].starts_with("queue_held resolved mail 2"));
}

TEST_CASE("depth and age are looked at, of push and pull queues") {
  world w{with_alerts(0, {true, 0s, 5, 100s, 60s})};
  begin(w, always({}));
  w.pause("mail");
  put_many(w, 6);
  auto pull = w.ask<pull_queue_actor>(
    w.registry(), find_pull_queue{default_project, "inbox", true});
  for (int i = 0; i < 7; ++i) {
    publish_message message;
    message.payload = payload{"1"};
    w.ask<message_published>(pull, std::move(message));
  }
  w.advance(11s);
  auto all = heard(w);
  std::sort(all.begin(), all.end());
  CHECK(all == told{"queue_depth firing inbox 7", "queue_depth firing mail 6"});
  w.resume("mail");
  w.advance(11s);
  CHECK(heard(w).back() == "queue_depth resolved mail 0");
  w.advance(100s);
  all = heard(w);
  CHECK(std::count_if(all.begin(), all.end(),
                      [](const std::string& x) {
                        return x.starts_with("queue_age firing inbox 10");
                      })
        == 1);
}

TEST_CASE("all of many queues are looked at, a few at a time") {
  world w{with_alerts(0, {false, 0s, 1, 0s, 60s})};
  w.advance(2s);
  for (int i = 0; i < 200; ++i) {
    auto name = "q" + std::to_string(i);
    w.create(name);
    w.pause(name);
    w.put(name);
    w.put(name);
  }
  w.advance(15s);
  CHECK(heard(w).size() == 200);
}

TEST_CASE("a restart in the window repeats nothing") {
  auto seed = GENERATE(range(0u, 5u));
  world w{with_alerts(seed)};
  begin(w, always({429, "600"}));
  w.put("mail");
  w.advance(12s);
  CHECK(heard(w).size() == 1);
  w.crash(5s);
  w.advance(40s);
  CHECK(heard(w).size() == 1);
  // The window is over, and the queue is held still.
  w.advance(15s);
  CHECK(heard(w).size() == 2);
  CHECK(heard(w).back().starts_with("queue_held firing mail 7"));
}

TEST_CASE("deaths that were not told before a restart are told after it") {
  auto seed = GENERATE(range(0u, 5u));
  world w{with_alerts(seed)};
  begin(w, always({500}));
  put_many(w, 2);
  w.advance(5s);
  put_many(w, 7);
  w.advance(5s);
  w.crash(1s);
  w.advance(2s);
  w.crash(1s);
  put_many(w, 3);
  w.advance(2min);
  CHECK(heard(w) == told{"job_dead firing mail 2", "job_dead firing mail 10"});
  w.crash(1s);
  w.advance(2min);
  CHECK(heard(w).size() == 2);
}

TEST_CASE("the first death of a queue is told, also by the next process") {
  auto seed = GENERATE(range(0u, 5u));
  world w{with_alerts(seed)};
  begin(w, always({500}));
  w.create("sms");
  put_many(w, 2);
  w.advance(300ms);
  CHECK(heard(w).empty());
  w.crash(2h);
  w.advance(5s);
  CHECK(heard(w) == told{"job_dead firing mail 2"});
  for (int i = 0; i < 2; ++i) {
    w.crash(1s);
    w.advance(2min);
    CHECK(heard(w).size() == 1);
  }
}

TEST_CASE("what died before alerts were kept is not told") {
  world w{with_alerts()};
  begin(w, always({500}));
  w.advance(1s);
  w.remove(alerts_queue, true);
  put_many(w, 2);
  w.advance(100ms);
  w.crash(1s);
  w.advance(1min);
  CHECK(heard(w).empty());
}

TEST_CASE("the first dead message of a queue is told by the next process") {
  pull_world w{with_alerts()};
  w.downstream().behave(always({200}));
  w.advance(2s);
  pull_settings once;
  once.max_receive_count = 1;
  w.create_pull("inbox", once);
  once.dead_letter_queue = "inbox.dlq";
  w.create_pull("outbox", once);
  for (auto queue : {"inbox", "inbox", "outbox"}) {
    w.put(queue);
    auto got = w.consume(queue);
    REQUIRE(got.size() == 1);
    w.settle(queue, settle_message::kind::nack, id_of(got[0]));
  }
  w.advance(300ms);
  CHECK(heard(w).empty());
  w.crash(1s);
  w.advance(5s);
  auto all = heard(w);
  std::sort(all.begin(), all.end());
  CHECK(all == told{"job_dead firing inbox 2", "job_dead firing outbox 1"});
  w.crash(1s);
  w.advance(2min);
  CHECK(heard(w).size() == 2);
}

TEST_CASE(
  "deaths that the next process tells have their job, reason and times") {
  auto options = with_alerts();
  std::vector<alert> said;
  options.alerts->encode = [&said](const alert& what) {
    said.push_back(what);
    return print(what);
  };
  world w{std::move(options)};
  begin(w, always({500}));
  w.put("mail");
  w.advance(100ms);
  auto last = w.put("mail").id;
  w.advance(400ms);
  auto died = w.get(last).record.job.ended_at;
  w.crash(1s);
  w.advance(5s);
  REQUIRE(said.size() == 1);
  CHECK(said[0].count == 2);
  CHECK(said[0].job == last);
  CHECK(said[0].reason == dead_reason::attempts_exhausted);
  REQUIRE(died);
  CHECK(said[0].until == *died);
  CHECK(said[0].since < *died);
  CHECK(said[0].since + 1s > *died);
}

TEST_CASE("a hold that goes on over a restart has the times of before") {
  auto options = with_alerts();
  std::vector<alert> said;
  options.alerts->encode = [&said](const alert& what) {
    said.push_back(what);
    return print(what);
  };
  world w{std::move(options)};
  begin(w, always({429, "600"}));
  w.put("mail");
  w.advance(12s);
  w.crash(5s);
  w.advance(1min);
  REQUIRE(said.size() == 2);
  CHECK(said[1].since == said[0].since);
  CHECK(said[0].until);
  CHECK(said[1].until == said[0].until);
}

TEST_CASE("since when a queue is deep is read out of what was said") {
  auto options = with_alerts(0, {true, 0s, 2, 0s, 60s});
  std::vector<alert> said;
  options.alerts->encode = [&said](const alert& what) {
    said.push_back(what);
    return payload{std::to_string(what.since.time_since_epoch().count())};
  };
  options.alerts->read_since = [](const payload& text) {
    return std::optional{wall_time{duration{std::stoll(text.bytes())}}};
  };
  world w{std::move(options)};
  begin(w, always({200}));
  w.pause("mail");
  put_many(w, 3);
  w.advance(15s);
  w.crash(5s);
  w.advance(10s);
  CHECK(said.size() == 1);
  put_many(w, 4);
  w.advance(1min);
  REQUIRE(said.size() == 2);
  CHECK(said[1].since == said[0].since);
  CHECK(said[1].count == 7);
}

TEST_CASE("a hold that began before a restart counts from its beginning") {
  world w{with_alerts()};
  begin(w, always({429, "600"}));
  w.put("mail");
  w.advance(5s);
  w.crash(1s);
  w.advance(5s);
  CHECK(heard(w) == told{"queue_held firing mail 10"});
}

TEST_CASE("that a queue is gone is told once, over restarts, too") {
  world w{with_alerts()};
  begin(w, always({429, "600"}));
  w.put("mail");
  w.advance(12s);
  w.remove("mail", true);
  for (int i = 0; i < 3; ++i) {
    w.crash(1s);
    w.advance(2min);
    CHECK(heard(w).size() == 2);
  }
  CHECK(heard(w).back().starts_with("queue_held resolved mail"));
}

TEST_CASE("an operator who says \"not now\" gets alerts later, and no more") {
  world w{with_alerts()};
  begin(w, in_turn({{500}, {500}, {500}, {200}}), outage(40s, "20"));
  put_many(w, 3);
  w.advance(15s);
  CHECK(w.get(alerts_queue).queue.gate.state == gate_state::held);
  w.hold("mail", 20s);
  w.put("mail");
  w.advance(2min);
  CHECK(w.get(alerts_queue).counts.completed == 3);
  CHECK(heard(w)
        == told{"job_dead firing mail 3", "queue_held firing mail 10",
                "queue_held resolved mail 20"});
}

TEST_CASE("an operator who says \"not now\" for hours gets alerts after that") {
  world w{with_alerts(0, {true, 0s, 0, 0s, 60s})};
  begin(w, always({500}), outage(2h, "10"));
  put_many(w, 3);
  w.advance(1h);
  CHECK(w.get(alerts_queue).counts.completed == 0);
  CHECK(w.downstream().answered(429) > 300);
  w.advance(2h);
  CHECK(w.get(alerts_queue).counts.completed == 1);
  CHECK(w.get(alerts_queue).counts.dead == 0);
}

TEST_CASE("alerts that die are no reason for alerts") {
  world w{with_alerts(0, {true, 5s, 1, 5s, 10s})};
  w.advance(2s);
  queue_settings_patch patch;
  patch.max_attempts = 1;
  w.patch(alerts_queue, patch);
  begin(w, always({500}), always({500}));
  put_many(w, 3);
  w.advance(5min);
  auto own = w.get(alerts_queue);
  CHECK(own.counts.dead == 1);
  CHECK(heard(w).size() == 1);
  w.hold(alerts_queue, 1h);
  w.put(alerts_queue);
  w.put(alerts_queue);
  w.advance(5min);
  CHECK(heard(w).size() == 1);
}

TEST_CASE("an alert waits for a store that is out of order") {
  world w{with_alerts()};
  begin(w, always({500}));
  put_many(w, 2);
  w.advance(500ms);
  w.faults().down = true;
  w.advance(20s);
  CHECK(heard(w).empty());
  w.faults().down = false;
  w.advance(10s);
  CHECK(heard(w) == told{"job_dead firing mail 2"});
}

TEST_CASE("a queue for alerts that somebody deletes comes back when needed") {
  world w{with_alerts()};
  begin(w, always({500}));
  w.remove(alerts_queue, true);
  w.put("mail");
  w.advance(10s);
  CHECK(heard(w) == told{"job_dead firing mail 1"});
  CHECK(w.get(alerts_queue).counts.completed == 1);
}
