#include "tests/testkit/virtual_system.hpp"

#include <algorithm>
#include <utility>

#include <caf/atom.hpp>
#include <caf/logger.hpp>

namespace tidegate::testkit {

namespace {

duration since_origin(const caf::scheduler::test_coordinator& scheduler) {
  auto& clock =
    const_cast<caf::scheduler::test_coordinator&>(scheduler).clock();
  return std::chrono::duration_cast<duration>(
    clock.current_time.time_since_epoch());
}

} // namespace

virtual_system::virtual_system(moment start, std::uint64_t seed)
  : lots_(seed), shuffled_(seed != 0) {
  config_.set("scheduler.policy", caf::atom("testing"));
  system_ = std::make_unique<caf::actor_system>(config_);
  steady_offset_ = start.steady.time_since_epoch() - since_origin(scheduler());
  wall_offset_ = start.wall.time_since_epoch() - since_origin(scheduler());
}

virtual_system::~virtual_system() {
  alarms_.clear();
  scheduler().clock().cancel_all();
  run();
}

caf::scheduler::test_coordinator& virtual_system::scheduler() const {
  return static_cast<caf::scheduler::test_coordinator&>(system_->scheduler());
}

moment virtual_system::now() const {
  auto t = since_origin(scheduler());
  return {steady_time{t + steady_offset_}, wall_time{t + wall_offset_}};
}

void virtual_system::pick_next() {
  auto& jobs = scheduler().jobs;
  if (!shuffled_ || jobs.size() < 2)
    return;
  std::swap(jobs.front(), jobs[lots_() % jobs.size()]);
}

void virtual_system::run() {
  while (scheduler().has_job()) {
    pick_next();
    // What CAF notes of each actor for its log is a twentieth of all work. Each
    // spawn lets it begin again.
    caf::logger::set_current_actor_system(nullptr);
    scheduler().run_once();
  }
}

bool virtual_system::fire_next(clock_time until) {
  auto& clock = scheduler().clock();
  auto timer = clock.has_pending_timeout() ? clock.schedule().begin()->first
                                           : clock_time::max();
  auto alarm = alarms_.empty() ? clock_time::max() : alarms_.begin()->first;
  if (std::min(timer, alarm) > until)
    return false;
  if (timer < alarm || (timer == alarm && shuffled_ && lots_() % 2 == 0)) {
    clock.trigger_timeout();
    return true;
  }
  auto first = alarms_.extract(alarms_.begin());
  clock.current_time = std::max(clock.current_time, first.key());
  first.mapped()();
  return true;
}

void virtual_system::advance(duration by) {
  auto until = scheduler().clock().current_time + by;
  do
    run();
  while (fire_next(until));
  scheduler().clock().current_time = until;
}

void virtual_system::after(duration wait, std::function<void()> what) {
  alarms_.emplace(scheduler().clock().current_time + wait, std::move(what));
}

} // namespace tidegate::testkit
