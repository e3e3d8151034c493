// What the random lives of queues of all kinds have in common.

#pragma once

#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/actors/pull_world.hpp"
#include "tests/core/dice.hpp"
#include "tests/simulation/flood_watch.hpp"

namespace tidegate::testkit {

/// A queue and everything that its users, its operator, its downstream, its
/// disk and its clock may do. What goes wrong is noted.
class life {
public:
  virtual ~life() = default;

  /// See `live`.
  std::vector<std::string> run(unsigned steps);

protected:
  /// Nothing is removed and nobody else changes keys: looking for that every
  /// second would take longer than all the rest. Every third seed has messages
  /// handled in the order of their sending.
  explicit life(std::uint64_t seed);

  /// Something happens.
  virtual void step() = 0;

  /// What holds at any time. Everything that was sent has been handled.
  virtual void check() = 0;

  /// Everybody is well again: everything must end.
  virtual void end_well() = 0;

  void expect(bool holds, const std::string& otherwise);

  /// Returns whether `f` was answered. It may be refused, or have no answer,
  /// while the disk fails.
  template <class F>
  bool try_request(F f) {
    try {
      f();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  // -- what happens to every queue --------------------------------------------

  /// The process dies, and starts again within five seconds.
  void crash();

  /// The wall clock steps by less than `most`, in either direction.
  void step_clock(std::chrono::seconds most);

  /// One of the next commits fails; perhaps only its answer is lost.
  void spoil_disk();

  /// Lets one of `spans` pass.
  template <std::size_t N>
  void pass_one_of(const duration (&spans)[N]) {
    w_.advance(dice_.any(spans));
  }

  /// The process has died, or has forgotten what it could not store, and tells
  /// all over again what is to come.
  virtual void memory_lost() = 0;

  /// The wall clock has been set.
  virtual void clock_set() = 0;

  /// What was not committed is forgotten, holds as well; called before anything
  /// is concluded from what was answered.
  void notice_failures();

  // -- what is delivered ------------------------------------------------------

  /// A delivery begins: notes what is wrong with that, by what was answered
  /// before it.
  void watch(const delivery& what, const response& answer, moment now);

  testing::dice dice_;
  pull_world w_;
  flood_watch watch_;

private:
  std::vector<std::string> complaints_;
  unsigned steps_ = 0;
  std::uint64_t failures_ = 0;
  std::optional<steady_time> failed_at_;
};

std::unique_ptr<life> make_push_life(std::uint64_t seed);
std::unique_ptr<life> make_pull_life(std::uint64_t seed);

} // namespace tidegate::testkit
