// The data file as a file: who may use it, and who else may look.

#include <catch2/catch.hpp>

#include <sqlite3.h>
#include <sys/stat.h>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

sqlite_options options_in(const temporary_directory& directory) {
  sqlite_options options;
  options.file = directory.path() / "data.db";
  return options;
}

std::int64_t count_jobs(sqlite3* db) {
  sqlite3_stmt* query = nullptr;
  sqlite3_prepare_v2(db, "SELECT count(*) FROM jobs", -1, &query, nullptr);
  REQUIRE(sqlite3_step(query) == SQLITE_ROW);
  auto count = sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  return count;
}

} // namespace

TEST_CASE(
  "a second server on the same data is refused until the first is "
  "gone") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto first = open_good(options);
  auto second = open_sqlite_store(options);
  REQUIRE_FALSE(second);
  CHECK(second.reason().code == errc::storage_unavailable);
  CHECK_THAT(second.reason().message,
             Catch::StartsWith("another server is using"));
  first.reset();
  CHECK(open_sqlite_store(options));
}

TEST_CASE("nobody but the owner may read any file of the store") {
  temporary_directory directory;
  auto disk = open_good(options_in(directory));
  commit(*disk, {insert_queue{sample_queue(1)}});
  auto files = 0;
  for (auto& entry : std::filesystem::directory_iterator{directory.path()}) {
    CAPTURE(entry.path());
    struct stat found;
    REQUIRE(::stat(entry.path().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    ++files;
  }
  CHECK(files == 4);
}

TEST_CASE("a store that was closed in order leaves one file and its lock") {
  temporary_directory directory;
  commit(*open_good(options_in(directory)), {insert_queue{sample_queue(1)}});
  auto files = 0;
  for (auto& entry : std::filesystem::directory_iterator{directory.path()}) {
    CAPTURE(entry.path());
    auto name = entry.path().filename();
    CHECK((name == "data.db" || name == "data.db.lock"));
    ++files;
  }
  CHECK(files == 2);
}

TEST_CASE("a directory that is not there is an error that names it") {
  sqlite_options options;
  options.file = "/nowhere/at/all/data.db";
  auto opened = open_sqlite_store(options);
  REQUIRE_FALSE(opened);
  CHECK_THAT(opened.reason().message, Catch::Contains("/nowhere/at/all"));
}

TEST_CASE("another program that sits in a read transaction blocks no commit") {
  temporary_directory directory;
  auto options = options_in(directory);
  options.log_pages = 20;
  auto disk = open_good(options);
  commit(*disk, {insert_queue{sample_queue(1)}, published(sample_job(1, 1))});
  sqlite3* backup = nullptr;
  sqlite3_open_v2(options.file.c_str(), &backup, SQLITE_OPEN_READONLY, nullptr);
  sqlite3_exec(backup, "BEGIN", nullptr, nullptr, nullptr);
  CHECK(count_jobs(backup) == 1);
  for (std::uint64_t seq = 2; seq <= 100; ++seq)
    commit(*disk, {published(sample_job(1, seq))});
  CHECK_FALSE(disk->reopen());
  CHECK(count_jobs(backup) == 1);
  sqlite3_exec(backup, "COMMIT", nullptr, nullptr, nullptr);
  CHECK(count_jobs(backup) == 100);
  sqlite3_close(backup);
  CHECK(find(*disk, sample_job(1, 100).id));
}

TEST_CASE(
  "an idle reader does not keep the log from being moved into the "
  "file") {
  temporary_directory directory;
  auto options = options_in(directory);
  options.log_pages = 20;
  auto disk = open_good(options);
  commit(*disk, {insert_queue{sample_queue(1)}});
  auto reader = disk->open_reader();
  REQUIRE(reader);
  for (std::uint64_t seq = 1; seq <= 300; ++seq) {
    commit(*disk, {published(sample_job(1, seq))});
    auto found = (*reader)->find(sample_job(1, seq).id);
    REQUIRE(found);
    REQUIRE(found->has_value());
  }
  auto log = options.file;
  log += "-wal";
  CHECK(std::filesystem::file_size(log) < 40 * 4200);
}

TEST_CASE("a file that was damaged is noticed when the store is reopened") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto disk = open_good(options);
  commit(*disk, {insert_queue{sample_queue(1)}});
  sqlite3* vandal = nullptr;
  sqlite3_open(options.file.c_str(), &vandal);
  sqlite3_exec(vandal,
               "PRAGMA writable_schema = ON;"
               "UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'jobs'",
               nullptr, nullptr, nullptr);
  sqlite3_close(vandal);
  auto reason = disk->reopen();
  REQUIRE(reason);
  CHECK(reason->code == errc::storage_unavailable);
  CHECK_FALSE(disk->commit({}));
}
