// All short histories of a push queue, and many long ones.

#include <catch2/catch.hpp>

#include "tests/core/histories.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

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

queue_settings drawn_settings(dice& d) {
  auto result = plain_settings();
  result.concurrency = d.from_1_to(4);
  result.max_attempts = d.from_1_to(4);
  result.max_defers = d.below(5);
  if (d.one_in(2))
    result.rate_limit_max = d.from_1_to(4);
  if (d.one_in(3))
    result.lifetime = seconds(2) + d.seconds_below(20);
  if (d.one_in(3))
    result.backoff.delay = 0;
  return result;
}

} // namespace

TEST_CASE("long histories are sound, whatever the seed") {
  auto seed = GENERATE(range(0u, 300u));
  dice d{seed};
  workbench w{drawn_settings(d)};
  if (d.one_in(2))
    w.keep_commits_back();
  if (d.one_in(2))
    w.keep_loads_back();
  tell_of_seed(seed, [&](progress& p) {
    require_long_history(everything, d, std::move(w), p);
  });
}
