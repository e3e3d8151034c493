// Every step that a disk makes for the store fails in turn.

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/resource.h>

#include "failing_vfs.hpp"
#include "random_history.hpp"
#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

using trouble = shaky_disk::trouble;
using fate = shaky_disk::unsynced;

// Runs one history on a disk that fails at one step, and checks after every
// trouble that exactly the acknowledged batches are there.
class ordeal {
public:
  ordeal() {
    options_.file = directory_.path() / "data.db";
    options_.vfs = "failing";
    // So small that the log is moved into the file many times in a history.
    options_.log_pages = 6;
  }

  // Returns whether any step failed.
  bool run(std::uint64_t failing_step, trouble what) {
    disk_.fail_at(failing_step, what);
    open();
    for (auto round = 0; round < 14; ++round) {
      step(history_.next(model_.disk()));
      if (round == 7)
        open();
    }
    auto failed = disk_.has_failed();
    disk_.heal();
    check();
    open();
    check();
    return failed;
  }

private:
  void open() {
    store_.reset();
    auto opened = open_sqlite_store(options_);
    if (opened) {
      store_ = std::move(*opened);
      return;
    }
    REQUIRE(disk_.has_failed());
    disk_.heal();
    store_ = open_good(options_);
  }

  void step(const std::vector<record>& batch) {
    if (store_->commit(batch)) {
      test::commit(model_.disk(), batch);
      return;
    }
    REQUIRE(disk_.has_failed());
    if (store_->reopen())
      REQUIRE_FALSE(store_->commit(batch));
    disk_.heal();
    REQUIRE_FALSE(store_->reopen());
    check();
    check_remains();
  }

  // A power cut right after the reopening does not bring the failed batch back.
  void check_remains() {
    auto expected = take_picture(model_.disk(), history_.ids());
    for (auto what : {fate::lost, fate::kept, fate::drawn}) {
      temporary_directory remains;
      disk_.cut_power(remains.path(), what, random_);
      auto rebuilt = open_good({.file = remains.path() / "data.db"});
      REQUIRE((take_picture(*rebuilt, history_.ids()) == expected));
    }
  }

  void check() {
    REQUIRE((take_picture(*store_, history_.ids())
             == take_picture(model_.disk(), history_.ids())));
  }

  temporary_directory directory_;
  sqlite_options options_;
  shaky_disk disk_;
  failing_vfs layer_{disk_, "failing"};
  memory_world model_;
  random_history history_{7};
  std::mt19937_64 random_{1};
  std::unique_ptr<store> store_;
};

// Lets every step fail, one history each.
void fail_every_step(trouble what) {
  std::uint64_t step = 0;
  while (true) {
    CAPTURE(step);
    if (!ordeal{}.run(step, what))
      break;
    ++step;
  }
  CHECK(step > 100);
}

} // namespace

TEST_CASE(
  "whatever step of the disk fails, only acknowledged batches are "
  "there after the store was reopened") {
  fail_every_step(trouble::once);
}

TEST_CASE(
  "whatever step of the disk is the first of many to fail, only acknowledged "
  "batches are there after the store was reopened") {
  fail_every_step(trouble::lasting);
}

TEST_CASE(
  "whatever step of the disk is done by half, only acknowledged batches are "
  "there after the store was reopened") {
  fail_every_step(trouble::torn);
}

TEST_CASE(
  "a full disk refuses batches and takes them again once there is "
  "room") {
  temporary_directory directory;
  sqlite_options options;
  options.file = directory.path() / "data.db";
  auto disk = open_good(options);
  commit(*disk, {insert_queue{sample_queue(1)}});
  auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit tight{512 * 1024, old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  std::uint64_t stored = 0;
  while (true) {
    auto job = sample_job(1, stored + 1);
    job.payload = payload{std::string(3000, 'x')};
    std::vector<record> batch{published(job)};
    if (!disk->commit(batch))
      break;
    ++stored;
  }
  auto still_full = disk->reopen();
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  CHECK(stored > 5);
  CHECK_FALSE(disk->reopen());
  commit(*disk, {published(sample_job(1, stored + 2))});
  auto queues = disk->load_queues();
  REQUIRE(queues);
  CHECK(queues->front().jobs.size() == stored + 1);
  CHECK_FALSE(find(*disk, sample_job(1, stored + 1).id));
}
