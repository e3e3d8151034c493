// All short histories of a push queue, and many long ones.

#include <catch2/catch.hpp>

#include <random>

#include "tests/core/broken_rule.hpp"
#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

// -- what may happen ----------------------------------------------------------

struct event {
  const char* name;
  bool (*possible)(const workbench&);
  void (*happen)(workbench&);
};

bool always(const workbench&) {
  return true;
}

bool one_flies(const workbench& w) {
  return !w.in_flight().empty();
}

bool two_fly(const workbench& w) {
  return w.in_flight().size() > 1;
}

bool has_uncommitted(const workbench& w) {
  return w.has_uncommitted();
}

bool has_loads(const workbench& w) {
  return w.has_loads();
}

template <std::uint16_t Status>
void oldest_answers(workbench& w) {
  w.answer(std::size_t{0}, answered(Status, {"2"}));
}

template <std::uint16_t Status>
void newest_answers(workbench& w) {
  w.answer(w.in_flight().size() - 1, answered(Status, {"2"}));
}

template <int Milliseconds>
void time_passes(workbench& w) {
  w.pass(std::chrono::milliseconds{Milliseconds});
}

const event publish_one{"publish", always, [](workbench& w) { w.publish(); }};

const event publish_delayed{"publish delayed", always,
                            [](workbench& w) { w.publish(seconds(1)); }};

const event oldest_200{"oldest 200", one_flies, oldest_answers<200>};
const event oldest_429{"oldest 429", one_flies, oldest_answers<429>};
const event oldest_500{"oldest 500", one_flies, oldest_answers<500>};
const event oldest_404{"oldest 404", one_flies, oldest_answers<404>};
const event newest_200{"newest 200", two_fly, newest_answers<200>};
const event newest_429{"newest 429", two_fly, newest_answers<429>};
const event newest_500{"newest 500", two_fly, newest_answers<500>};
const event newest_404{"newest 404", two_fly, newest_answers<404>};

const event wake_up{"wake up",
                    [](const workbench& w) {
                      return w.queue().next_wakeup(w.now()).has_value();
                    },
                    [](workbench& w) { w.pass_to_wakeup(); }};

const event a_while{"0.7 s", always, time_passes<700>};
const event a_long_while{"3 s", always, time_passes<3000>};

const event pause_or_resume{"pause or resume", always, [](workbench& w) {
                              if (w.view().queue.paused)
                                w.resume();
                              else
                                w.pause();
                            }};

const event restart{"restart", always, [](workbench& w) { w.restart(); }};
const event commit{"commit", has_uncommitted, [](workbench& w) { w.commit(); }};
const event load{"load", has_loads, [](workbench& w) { w.load(); }};

const event new_url{"new URL", always, [](workbench& w) {
                      w.change([](auto& s) { s.webhook_url += "x"; });
                    }};

using alphabet = std::vector<event>;

// -- how it must end ----------------------------------------------------------

/// From here on all goes well. Every job must come to an end, soon.
void require_end(workbench w) {
  auto deadline = w.elapsed() + std::chrono::minutes{10};
  if (w.view().queue.paused)
    w.resume();
  while (w.queue().live_jobs() > 0 || w.has_uncommitted()) {
    must(w.elapsed() < deadline, "in the end every job ends");
    if (w.has_loads())
      w.load();
    else if (w.has_uncommitted())
      w.commit();
    else if (!w.in_flight().empty())
      w.answer(std::size_t{0}, answered(200));
    else if (w.queue().next_wakeup(w.now()))
      w.pass_to_wakeup();
    else
      must(false, "what waits, waits for something");
  }
  must(w.accepted() == w.store().ended().size(), "nothing is lost");
}

// -- all of them --------------------------------------------------------------

/// Walks through every history of some length.
class walk {
public:
  walk(const alphabet& events, std::size_t length)
    : events_(events), length_(length) {
    // nop
  }

  void run(const workbench& w) {
    auto goes_on = path_.size() < length_ && let_happen_in_turn(w);
    if (goes_on)
      return;
    ++count_;
    guard([&] { require_end(w); });
  }

  std::size_t count() const {
    return count_;
  }

private:
  /// Lets happen whatever may; returns whether there was anything.
  bool let_happen_in_turn(const workbench& w) {
    auto any = false;
    for (const auto& e : events_) {
      if (!e.possible(w))
        continue;
      any = true;
      path_.push_back(e.name);
      guard([&] {
        auto next = w;
        e.happen(next);
        run(next);
      });
      path_.pop_back();
    }
    return any;
  }

  /// Adds to what went wrong how it came to that.
  template <class F>
  void guard(F what) {
    try {
      what();
    } catch (const broken_rule& broken) {
      std::string story = broken.what();
      for (auto name : path_)
        story += std::string{" | "} + name;
      FAIL(story);
    }
  }

  const alphabet& events_;
  std::size_t length_;
  std::vector<const char*> path_;
  std::size_t count_ = 0;
};

queue_settings strict_settings() {
  auto result = plain_settings();
  result.max_attempts = 2;
  result.max_defers = 2;
  return result;
}

/// Returns a queue that is busy: two jobs in flight and one waiting.
workbench busy(const queue_settings& settings) {
  workbench result{settings};
  result.publish_many(3);
  return result;
}

/// Returns a queue that is held for 2 s with one job still in flight and one
/// that waits.
workbench held() {
  auto result = busy(strict_settings());
  result.answer(std::size_t{0}, answered(429, {"2"}));
  return result;
}

/// Returns a queue whose probe is out beside a delivery from before the hold.
workbench probing() {
  auto result = held();
  result.pass(seconds(2));
  return result;
}

const alphabet downstream_and_operator = {
  publish_one, publish_delayed, oldest_200, newest_200,     oldest_429,
  newest_429,  oldest_500,      newest_500, oldest_404,     newest_404,
  wake_up,     a_while,         restart,    pause_or_resume};

} // namespace

TEST_CASE("every short history of an idle queue is sound") {
  walk all{downstream_and_operator, 5};
  all.run(workbench{strict_settings()});
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history of a busy queue is sound") {
  walk all{downstream_and_operator, 4};
  all.run(busy(strict_settings()));
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history of a held queue is sound") {
  walk all{downstream_and_operator, 5};
  all.run(held());
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history of a probing queue is sound") {
  walk all{downstream_and_operator, 4};
  all.run(probing());
  CHECK(all.count() > 10'000);
}

TEST_CASE("every history of answers and time is sound, at greater length") {
  alphabet answers = {oldest_200, oldest_429, oldest_500,
                      newest_200, newest_429, wake_up};
  workbench w{strict_settings()};
  w.publish_many(5);
  walk all{answers, 8};
  all.run(w);
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history with a slow disk is sound") {
  alphabet slow = {publish_one, oldest_200, oldest_429, oldest_500,
                   wake_up,     restart,    commit};
  auto w = busy(strict_settings());
  w.keep_commits_back();
  walk all{slow, 6};
  all.run(w);
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history with slow reads is sound") {
  alphabet slow = {publish_one, oldest_200, oldest_429, oldest_500,
                   wake_up,     restart,    load,       pause_or_resume};
  auto w = busy(strict_settings());
  w.keep_loads_back();
  walk all{slow, 6};
  all.run(w);
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history under a rate limit is sound") {
  auto settings = strict_settings();
  settings.rate_limit_max = 2;
  alphabet events = {publish_one, oldest_200, oldest_429,
                     oldest_500,  wake_up,    restart};
  walk all{events, 6};
  all.run(busy(settings));
  CHECK(all.count() > 10'000);
}

TEST_CASE("every short history of jobs that soon expire is sound") {
  auto settings = strict_settings();
  settings.lifetime = seconds(2.5);
  alphabet events = {publish_one, oldest_200,   oldest_429, oldest_500, wake_up,
                     a_while,     a_long_while, restart,    new_url};
  walk all{events, 5};
  all.run(busy(settings));
  CHECK(all.count() > 10'000);
}

// -- many of them -------------------------------------------------------------

namespace {

const alphabet everything = {
  publish_one, publish_delayed, oldest_200, oldest_200, newest_200,
  oldest_429,  newest_429,      oldest_500, newest_500, oldest_404,
  newest_404,  wake_up,         wake_up,    a_while,    a_long_while,
  restart,     commit,          commit,     commit,     load,
  load,        pause_or_resume, new_url};

queue_settings drawn_settings(std::mt19937& random) {
  auto result = plain_settings();
  result.concurrency = 1 + random() % 4;
  result.max_attempts = 1 + random() % 4;
  result.max_defers = random() % 5;
  if (random() % 2)
    result.rate_limit_max = 1 + random() % 4;
  if (random() % 3 == 0)
    result.lifetime = seconds(static_cast<double>(2 + random() % 20));
  if (random() % 3 == 0)
    result.backoff.delay = 0;
  return result;
}

} // namespace

TEST_CASE("long histories are sound, whatever the seed") {
  auto seed = GENERATE(range(0u, 300u));
  std::mt19937 random{seed};
  workbench w{drawn_settings(random)};
  if (random() % 2)
    w.keep_commits_back();
  if (random() % 2)
    w.keep_loads_back();
  std::string last = "nothing";
  try {
    for (auto i = 0; i < 300; ++i) {
      const auto& e = everything[random() % everything.size()];
      if (!e.possible(w))
        continue;
      last = e.name;
      e.happen(w);
    }
    last = "the end";
    require_end(w);
  } catch (const broken_rule& broken) {
    FAIL("seed " << seed << " at " << last << ": " << broken.what());
  }
}
