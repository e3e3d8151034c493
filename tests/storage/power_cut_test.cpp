// The power is cut at every step of the disk, which then has what was synced
// and any part of the rest.

#include <catch2/catch.hpp>

#include <optional>

#include "failing_vfs.hpp"
#include "random_history.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

using fate = shaky_disk::unsynced;

// A history that ends at a step of the disk, and what it had stored by then.
class last_day {
public:
  explicit last_day(std::uint64_t last_step) {
    disk_.fail_at(last_step, shaky_disk::trouble::torn);
    options_.file = directory_.path() / "data.db";
    options_.vfs = "doomed";
    options_.log_pages = 6;
    auto opened = open_sqlite_store(options_);
    if (opened)
      live_on(**opened);
  }

  bool died() const {
    return disk_.has_failed();
  }

  // Checks one of the disks that the power cut may have left.
  void check_remains(fate what, std::mt19937_64& random) {
    temporary_directory remains;
    disk_.cut_power(remains.path(), what, random);
    auto rebuilt = open_good({.file = remains.path() / "data.db"});
    auto found = take_picture(*rebuilt, history_.ids());
    auto with_last = found == after_last_;
    REQUIRE((with_last || found == acknowledged_));
  }

private:
  // The batch that the power cut interrupts was not acknowledged: it may be
  // there, but only as a whole.
  void live_on(store& disk) {
    for (auto round = 0; round < 14; ++round) {
      auto batch = history_.next(model_.disk());
      acknowledged_ = take_picture(model_.disk(), history_.ids());
      test::commit(model_.disk(), batch);
      after_last_ = take_picture(model_.disk(), history_.ids());
      if (!disk.commit(batch))
        return;
      acknowledged_ = after_last_;
    }
  }

  temporary_directory directory_;
  sqlite_options options_;
  shaky_disk disk_;
  failing_vfs layer_{disk_, "doomed"};
  memory_world model_;
  random_history history_{11};
  picture acknowledged_;
  picture after_last_;
};

} // namespace

TEST_CASE(
  "whenever the power is cut, every acknowledged batch is there and no "
  "batch is there in part") {
  std::mt19937_64 random{1};
  std::uint64_t step = 0;
  while (true) {
    CAPTURE(step);
    last_day day{step};
    for (auto what : {fate::lost, fate::kept, fate::drawn, fate::drawn})
      day.check_remains(what, random);
    if (!day.died())
      break;
    ++step;
  }
  CHECK(step > 100);
}
