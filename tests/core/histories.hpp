// Histories of a queue on the workbench, all of them up to some length.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/core/broken_rule.hpp"
#include "tests/core/dice.hpp"
#include "tests/core/workbench.hpp"

namespace tidegate::testing {

/// Something that may happen to a queue.
struct event {
  const char* name;
  bool (*possible)(const workbench&);
  void (*happen)(workbench&);
};

using alphabet = std::vector<event>;

inline bool always(const workbench&) {
  return true;
}

bool one_flies(const workbench& w);
bool two_fly(const workbench& w);

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

// -- what happens to any queue ------------------------------------------------

inline const event publish_one{"publish", always,
                               [](workbench& w) { w.publish(); }};

inline const event publish_delayed{"publish delayed", always,
                                   [](workbench& w) { w.publish(seconds(1)); }};

inline const event oldest_200{"oldest 200", one_flies, oldest_answers<200>};
inline const event oldest_429{"oldest 429", one_flies, oldest_answers<429>};
inline const event oldest_500{"oldest 500", one_flies, oldest_answers<500>};
inline const event oldest_404{"oldest 404", one_flies, oldest_answers<404>};
inline const event newest_200{"newest 200", two_fly, newest_answers<200>};
inline const event newest_429{"newest 429", two_fly, newest_answers<429>};
inline const event newest_500{"newest 500", two_fly, newest_answers<500>};
inline const event newest_404{"newest 404", two_fly, newest_answers<404>};

inline const event wake_up{"wake up",
                           [](const workbench& w) {
                             return w.queue().next_wakeup().has_value();
                           },
                           [](workbench& w) { w.pass_to_wakeup(); }};

inline const event a_while{"0.7 s", always, time_passes<700>};
inline const event a_long_while{"3 s", always, time_passes<3000>};

inline const event pause_or_resume{"pause or resume", always, [](workbench& w) {
                                     if (w.view().queue.paused)
                                       w.resume();
                                     else
                                       w.pause();
                                   }};

inline const event restart{"restart", always,
                           [](workbench& w) { w.restart(); }};

inline const event commit{
  "commit", [](const workbench& w) { return w.has_uncommitted(); },
  [](workbench& w) { w.commit(); }};

inline const event load{"load",
                        [](const workbench& w) { return w.has_loads(); },
                        [](workbench& w) { w.load(); }};

inline const event new_url{"new URL", always, [](workbench& w) {
                             w.change([](auto& s) { s.webhook_url += "x"; });
                           }};

// -- how it must end ----------------------------------------------------------

/// From here on all goes well. Every job must come to an end, soon.
void require_end(workbench w);

/// Lets 300 of these events happen, as the dice have it, and the queue end.
void require_long_history(const alphabet& events, dice& lots, workbench w,
                          progress& p);

/// Walks through every history of some length.
class walk {
public:
  walk(const alphabet& events, std::size_t length)
    : events_(events), length_(length) {
    // nop
  }

  void run(const workbench& w);

  std::size_t count() const {
    return count_;
  }

private:
  bool let_happen_in_turn(const workbench& w);

  template <class F>
  void guard(F what);

  const alphabet& events_;
  std::size_t length_;
  std::vector<const char*> path_;
  std::size_t count_ = 0;
};

} // namespace tidegate::testing
