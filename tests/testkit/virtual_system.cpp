#include "tests/testkit/virtual_system.hpp"

#include <utility>

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/logger.hpp>
#include <caf/send.hpp>

using call_ptr = std::shared_ptr<std::function<void()>>;

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(call_ptr)

namespace tidegate::testkit {

namespace {

caf::behavior keep_time(caf::event_based_actor*) {
  return {[](const call_ptr& what) { (*what)(); }};
}

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
  // What CAF notes of each actor for its log is a twentieth of all work.
  caf::logger::set_current_actor_system(nullptr);
  steady_offset_ = start.steady.time_since_epoch() - since_origin(scheduler());
  wall_offset_ = start.wall.time_since_epoch() - since_origin(scheduler());
  timekeeper_ = system_->spawn(keep_time);
}

virtual_system::~virtual_system() {
  caf::anon_send_exit(timekeeper_, caf::exit_reason::user_shutdown);
  timekeeper_ = nullptr;
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
    scheduler().run_once();
  }
}

void virtual_system::advance(duration by) {
  auto& clock = scheduler().clock();
  auto until = clock.current_time + by;
  run();
  while (clock.has_pending_timeout()
         && clock.schedule().begin()->first <= until) {
    clock.trigger_timeout();
    run();
  }
  clock.current_time = until;
}

void virtual_system::after(duration wait, std::function<void()> what) {
  caf::delayed_anon_send(
    timekeeper_, wait,
    std::make_shared<std::function<void()>>(std::move(what)));
}

} // namespace tidegate::testkit
