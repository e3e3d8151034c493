// Copies of a data file that is in use.

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include "samples.hpp"
#include "tidegate/sqlite_backup.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

sqlite_options options_in(const temporary_directory& directory) {
  sqlite_options options;
  options.file = directory.path() / "data.db";
  return options;
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::size_t files_in(const std::filesystem::path& directory) {
  std::filesystem::directory_iterator all{directory};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Returns everything that a store has which is opened on a file.
picture picture_of(const std::filesystem::path& file,
                   const std::vector<job_id>& ids) {
  return take_picture(*open_good({.file = file}), ids);
}

} // namespace

TEST_CASE("a copy has what was committed, and the store goes on") {
  temporary_directory directory;
  temporary_directory elsewhere;
  auto options = options_in(directory);
  auto disk = open_good(options);
  std::vector<job_id> ids;
  commit(*disk, {insert_queue{sample_queue(1)}});
  for (std::uint64_t n = 1; n <= 300; ++n) {
    auto job = sample_job(1, n);
    ids.push_back(job.id);
    commit(*disk, {published(job)});
  }
  auto expected = take_picture(*disk, ids);
  auto copy = elsewhere.path() / "copy.db";
  REQUIRE_FALSE(back_up(options, copy));
  commit(*disk, {published(sample_job(1, 301))});
  CHECK(files_in(elsewhere.path()) == 1);
  CHECK((picture_of(copy, ids) == expected));
}

TEST_CASE("a copy can be made of what no server is using") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto job = sample_job(1, 1);
  commit(*open_good(options), {insert_queue{sample_queue(1)}, published(job)});
  auto copy = directory.path() / "copy.db";
  REQUIRE_FALSE(back_up(options, copy));
  CHECK((picture_of(copy, {job.id}) == picture_of(options.file, {job.id})));
}

TEST_CASE("only its owner can read a copy") {
  temporary_directory directory;
  auto options = options_in(directory);
  open_good(options).reset();
  auto copy = directory.path() / "copy.db";
  REQUIRE_FALSE(back_up(options, copy));
  using std::filesystem::perms;
  CHECK(std::filesystem::status(copy).permissions()
        == (perms::owner_read | perms::owner_write));
}

TEST_CASE("a copy takes no other file's place") {
  temporary_directory directory;
  auto options = options_in(directory);
  open_good(options).reset();
  auto taken = directory.path() / "taken";
  std::ofstream{taken} << "something else";
  auto before = files_in(directory.path());
  auto refused = back_up(options, taken);
  REQUIRE(refused);
  CHECK(refused->message
        == taken.string() + " exists already and is not overwritten");
  CHECK(contents_of(taken) == "something else");
  CHECK(files_in(directory.path()) == before);
  CHECK(back_up(options, options.file));
}

TEST_CASE("a name that leads nowhere is taken, too") {
  temporary_directory directory;
  auto options = options_in(directory);
  open_good(options).reset();
  auto link = directory.path() / "link";
  std::filesystem::create_symlink(directory.path() / "nowhere", link);
  CHECK(back_up(options, link));
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("what cannot be copied leaves nothing behind") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto copy = directory.path() / "copy.db";
  auto missing = back_up(options, copy);
  REQUIRE(missing);
  CHECK(missing->message == options.file.string() + " does not exist");
  std::ofstream{options.file} << "this is no database, it is a text of a page";
  CHECK(back_up(options, copy));
  CHECK(files_in(directory.path()) == 1);
  CHECK(back_up(options, directory.path() / "no" / "such" / "folder"));
}
