#include "tests/core/histories.hpp"

#include <catch2/catch.hpp>

namespace tidegate::testing {

bool one_flies(const workbench& w) {
  return !w.in_flight().empty();
}

bool two_fly(const workbench& w) {
  return w.in_flight().size() > 1;
}

void require_end(workbench w) {
  auto deadline = w.elapsed() + std::chrono::minutes{10};
  w.rivals_leave();
  if (w.view().queue.paused)
    w.resume();
  while (w.queue().live_jobs() > 0 || w.has_uncommitted() || w.has_loads()
         || !w.in_flight().empty()) {
    must(w.elapsed() < deadline, "in the end every job ends");
    if (w.has_loads())
      w.load();
    else if (w.has_uncommitted())
      w.commit();
    else if (!w.in_flight().empty())
      w.answer(std::size_t{0}, answered(200));
    else if (!w.awaiting().empty())
      w.ack(w.awaiting().front());
    else if (w.queue().next_wakeup())
      w.pass_to_wakeup();
    else
      must(false, "what waits, waits for something");
  }
  must(w.queue().in_flight() == 0, "in the end every slot is free");
  must(w.accepted() == w.store().ended().size() + w.store().removed(),
       "nothing is lost");
  for (const auto& answer : w.answers())
    must(!answer.empty() || w.restarts() > 0, "every question is answered");
}

void require_long_history(const alphabet& events, dice& lots, workbench w,
                          progress& p) {
  for (; p.step < 300; ++p.step) {
    const auto& e = lots.any(events);
    if (!e.possible(w))
      continue;
    p.last = e.name;
    e.happen(w);
  }
  p.last = "the end began";
  require_end(w);
}

void walk::run(const workbench& w) {
  auto goes_on = path_.size() < length_ && let_happen_in_turn(w);
  if (goes_on)
    return;
  ++count_;
  guard([&] { require_end(w); });
}

/// Lets happen whatever may; returns whether there was anything.
bool walk::let_happen_in_turn(const workbench& w) {
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
void walk::guard(F what) {
  try {
    what();
  } catch (const broken_rule& broken) {
    std::string story = broken.what();
    for (auto name : path_)
      story += std::string{" | "} + name;
    FAIL(story);
  }
}

} // namespace tidegate::testing
