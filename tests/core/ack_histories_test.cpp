// All short histories of a push queue in ack mode.

#include <catch2/catch.hpp>

#include "tests/core/histories.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

// -- what workers and operators do --------------------------------------------

bool one_is_owed(const workbench& w) {
  return !w.truth().owed().empty();
}

bool one_awaits(const workbench& w) {
  return !w.awaiting().empty();
}

bool one_lives(const workbench& w) {
  return !w.store().live().empty();
}

job_id first_owed(const workbench& w) {
  return w.truth().owed().front();
}

job_id last_owed(const workbench& w) {
  return w.truth().owed().back();
}

/// Returns the oldest job that has been delivered and whose outcome is not
/// owed.
std::optional<job_id> first_waiting(const workbench& w) {
  for (const auto& [seq, r] : w.store().live())
    if (r.job.deliveries > 0 && !w.truth().owed(r.job.id))
      return r.job.id;
  return std::nullopt;
}

bool one_waits(const workbench& w) {
  return first_waiting(w).has_value();
}

bool one_is_dead(const workbench& w) {
  return !w.store().ended().empty()
         && w.store().ended().begin()->second.job.status == job_status::dead;
}

const event acked{"ack", one_is_owed,
                  [](workbench& w) { w.ack(first_owed(w)); }};

const event last_acked{"ack of the last", one_is_owed,
                       [](workbench& w) { w.ack(last_owed(w)); }};

const event nacked{"nack", one_is_owed,
                   [](workbench& w) { w.nack(first_owed(w)); }};

const event nacked_for_good{"nack for good", one_is_owed,
                            [](workbench& w) { w.nack(first_owed(w), false); }};

const event deferred{"defer", one_is_owed,
                     [](workbench& w) { w.defer(first_owed(w), seconds(2)); }};

const event last_deferred{"defer of the last", one_is_owed, [](workbench& w) {
                            w.defer(last_owed(w), seconds(1));
                          }};

const event job_deferred{"defer of the job", one_is_owed, [](workbench& w) {
                           w.defer(first_owed(w), seconds(2), defer_scope::job);
                         }};

const event key_deferred{"defer of the key", one_is_owed, [](workbench& w) {
                           w.defer(first_owed(w), seconds(2), defer_scope::key);
                         }};

const event touched{"touch", one_awaits, [](workbench& w) {
                      w.touch(w.awaiting().front(), seconds(4));
                    }};

const event late_acked{"late ack", one_waits,
                       [](workbench& w) { w.ack(*first_waiting(w)); }};

const event early_acked{"ack of delivery 1", one_lives, [](workbench& w) {
                          w.ack(w.store().live().begin()->second.job.id, 1);
                        }};

const event early_nacked{"nack of delivery 1", one_lives, [](workbench& w) {
                           w.nack(w.store().live().begin()->second.job.id, true,
                                  1);
                         }};

const event early_deferred{"defer of delivery 1", one_lives, [](workbench& w) {
                             w.defer(w.store().live().begin()->second.job.id,
                                     seconds(2), {}, 1);
                           }};

const event late_deferred{"late defer", one_waits, [](workbench& w) {
                            w.defer(*first_waiting(w), seconds(2),
                                    defer_scope::job);
                          }};

const event cancelled{"cancel", one_lives, [](workbench& w) {
                        w.cancel(w.store().live().begin()->second.job.id);
                      }};

const event last_cancelled{"cancel of the last", one_lives, [](workbench& w) {
                             w.cancel(w.store().live().rbegin()->second.job.id);
                           }};

const event run_at_once{"run now", one_waits,
                        [](workbench& w) { w.run_now(*first_waiting(w)); }};

const event replayed{"replay", one_is_dead, [](workbench& w) {
                       w.replay(w.store().ended().begin()->second.job.id);
                     }};

const event purged{"purge", one_lives, [](workbench& w) { w.purge(); }};

const event held_by_hand{"hold", always,
                         [](workbench& w) { w.hold(seconds(1)); }};

const event released{"release", always, [](workbench& w) { w.release(); }};

const event publish_a{"publish a", always,
                      [](workbench& w) { w.publish_for("a"); }};

const event publish_b{"publish b", always,
                      [](workbench& w) { w.publish_for("b"); }};

const event key_released{"release a", always,
                         [](workbench& w) { w.release_key("a"); }};

// -- queues -------------------------------------------------------------------

queue_settings strict() {
  auto result = ack_settings();
  result.max_attempts = 2;
  result.max_defers = 2;
  result.ack_timeout = seconds(3);
  return result;
}

workbench busy(const queue_settings& settings = strict(),
               std::optional<std::uint32_t> permits = {}) {
  workbench result{settings, permits};
  result.publish_many(3);
  return result;
}

/// Returns a queue that is held for 2 s with one job still in flight and one
/// that waits.
workbench held() {
  auto result = busy();
  result.answer(std::size_t{0}, answered(429, {"2"}));
  return result;
}

/// Returns a queue whose probe is out beside a delivery from before the hold.
workbench probing() {
  auto result = held();
  result.pass(seconds(2));
  return result;
}

/// Returns a queue whose probe awaits its ack and that has two more jobs.
workbench probe_awaits() {
  auto result = held();
  result.answer(std::size_t{0}, answered(200));
  result.ack(result.awaiting().front());
  result.publish();
  result.pass(seconds(2));
  result.answer(std::size_t{0}, answered(200));
  return result;
}

void require_sound(const alphabet& events, std::size_t length,
                   const workbench& w) {
  walk all{events, length};
  all.run(w);
  CHECK(all.count() > 1'000);
}

const alphabet of_workers = {publish_one,     oldest_200, oldest_429,
                             oldest_500,      acked,      nacked,
                             nacked_for_good, deferred,   touched,
                             job_deferred,    wake_up,    restart,
                             cancelled};

const alphabet of_probes = {oldest_200,      newest_200,     newest_429,
                            newest_500,      last_acked,     nacked,
                            last_deferred,   job_deferred,   key_deferred,
                            nacked_for_good, wake_up,        a_while,
                            restart,         last_cancelled, cancelled};

} // namespace

TEST_CASE("every short history of a busy queue in ack mode is sound") {
  require_sound(of_workers, 4, busy());
}

TEST_CASE("every short history of a held queue in ack mode is sound") {
  require_sound(of_workers, 4, held());
}

TEST_CASE("every short history of a probing queue in ack mode is sound") {
  require_sound(of_probes, 4, probing());
}

TEST_CASE("every short history of a probe that awaits its ack is sound") {
  require_sound(of_probes, 4, probe_awaits());
}

TEST_CASE("every short history of late and fenced reports is sound") {
  alphabet events = {oldest_200,   oldest_500,     late_acked,    early_acked,
                     early_nacked, early_deferred, late_deferred, run_at_once,
                     nacked,       wake_up,        cancelled,     replayed};
  require_sound(events, 4, busy());
}

TEST_CASE("every short history of a worker that is faster than its answer") {
  alphabet events = {acked,      nacked,     deferred, oldest_200, oldest_429,
                     oldest_500, newest_200, wake_up,  cancelled};
  require_sound(events, 5, busy());
}

TEST_CASE("every short history in ack mode with a slow disk is sound") {
  alphabet slow = {oldest_200, oldest_429, acked,   nacked, deferred,
                   cancelled,  wake_up,    restart, commit};
  auto w = busy();
  w.keep_commits_back();
  require_sound(slow, 5, w);
}

TEST_CASE("every short history in ack mode with slow reads is sound") {
  alphabet slow = {oldest_200,  oldest_500, late_acked, early_acked, cancelled,
                   run_at_once, wake_up,    restart,    load};
  auto w = busy();
  w.keep_loads_back();
  require_sound(slow, 5, w);
}

TEST_CASE("every short history of replays with slow disk and reads is sound") {
  auto settings = strict();
  settings.max_attempts = 1;
  auto w = busy(settings);
  w.keep_commits_back();
  w.keep_loads_back();
  alphabet slow = {oldest_500, replayed, cancelled, early_acked,
                   commit,     load,     purged,    wake_up};
  require_sound(slow, 6, w);
}

TEST_CASE("every short history of aborted deliveries is sound") {
  auto w = probing();
  w.keep_aborted_flying();
  alphabet events = {oldest_200, newest_200,     newest_429,
                     cancelled,  last_cancelled, acked,
                     wake_up,    publish_one,    replayed};
  require_sound(events, 4, w);
}

TEST_CASE("every short history of limit keys is sound") {
  auto settings = strict();
  settings.backpressure_scope = backpressure_scope::key;
  settings.key_concurrency = 1;
  workbench w{settings};
  w.publish_many(2, "a");
  w.publish_many(2, "b");
  alphabet events = {oldest_200, oldest_429,   newest_429, oldest_500,
                     acked,      key_deferred, deferred,   wake_up,
                     restart,    key_released, cancelled};
  require_sound(events, 4, w);
}

TEST_CASE("every short history of keys in standard mode is sound") {
  auto settings = plain_settings();
  settings.backpressure_scope = backpressure_scope::key;
  settings.key_rate_limit_max = 2;
  settings.max_attempts = 2;
  settings.concurrency = 3;
  workbench w{settings};
  w.publish_many(2, "a");
  w.publish_many(2, "b");
  alphabet events = {publish_a,  publish_b,    oldest_200, oldest_429,
                     newest_429, held_by_hand, wake_up,    restart,
                     released,   purged};
  require_sound(events, 4, w);
}

TEST_CASE("every short history under a cap of the server is sound") {
  auto w = busy(strict(), 1);
  alphabet events = {
    publish_one,
    oldest_200,
    oldest_429,
    acked,
    nacked,
    cancelled,
    wake_up,
    pause_or_resume,
    restart,
    event{"a rival takes",
          [](const workbench& x) { return x.free_permits() > 0; },
          [](workbench& x) { x.rivals_take(1); }}};
  require_sound(events, 4, w);
}

TEST_CASE("every short history of a ramp is sound") {
  auto settings = plain_settings();
  settings.concurrency = 5;
  settings.recovery.mode = recovery_settings::kind::ramp;
  workbench w{settings};
  w.publish_many(9);
  w.answer(std::size_t{0}, answered(429, {"1"}));
  w.answer_all(answered(200));
  w.pass(seconds(1));
  alphabet events = {oldest_200, newest_200, oldest_429,   oldest_500,
                     wake_up,    restart,    held_by_hand, released};
  require_sound(events, 5, w);
}

// -- long ones ----------------------------------------------------------------

namespace {

const alphabet everything = {
  publish_one,     publish_a,      publish_a,     publish_b,
  publish_delayed, oldest_200,     oldest_200,    newest_200,
  oldest_429,      newest_429,     oldest_500,    newest_404,
  acked,           acked,          last_acked,    nacked,
  nacked_for_good, deferred,       last_deferred, job_deferred,
  key_deferred,    touched,        late_acked,    early_acked,
  early_nacked,    early_deferred, late_deferred, cancelled,
  last_cancelled,  run_at_once,    replayed,      purged,
  held_by_hand,    released,       key_released,  wake_up,
  wake_up,         wake_up,        a_while,       a_long_while,
  restart,         commit,         commit,        commit,
  commit,          load,           load,          load,
  pause_or_resume, new_url};

queue_settings drawn_settings(dice& d) {
  auto result = d.one_in(4) ? plain_settings() : ack_settings();
  result.concurrency = d.from_1_to(4);
  result.max_attempts = d.from_1_to(4);
  result.max_defers = d.below(5);
  result.ack_timeout = seconds(1) + d.seconds_below(5);
  if (d.one_in(2))
    result.backpressure_scope = backpressure_scope::key;
  if (d.one_in(2))
    result.key_concurrency = d.from_1_to(2);
  if (d.one_in(3))
    result.key_rate_limit_max = d.from_1_to(3);
  if (d.one_in(3))
    result.rate_limit_max = d.from_1_to(4);
  if (d.one_in(3))
    result.lifetime = seconds(2) + d.seconds_below(20);
  if (d.one_in(3))
    result.backoff.delay = 0;
  if (d.one_in(3))
    result.recovery.mode = recovery_settings::kind::ramp;
  if (d.one_in(4))
    result.max_hold = seconds(1.5);
  if (d.one_in(4))
    result.ack_timeout_action = ack_timeout_action::dead;
  return result;
}

} // namespace

TEST_CASE("long histories of everything are sound, whatever the seed") {
  auto seed = GENERATE(range(0u, 400u));
  dice d{seed};
  auto settings = drawn_settings(d);
  std::optional<std::uint32_t> permits;
  if (d.one_in(3))
    permits = d.from_1_to(3);
  workbench w{settings, permits};
  if (d.one_in(2))
    w.keep_commits_back();
  if (d.one_in(2))
    w.keep_loads_back();
  if (d.one_in(3))
    w.keep_aborted_flying();
  tell_of_seed(seed, [&](progress& p) {
    require_long_history(everything, d, std::move(w), p);
  });
}
