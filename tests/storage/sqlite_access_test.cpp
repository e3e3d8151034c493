// API keys that are made and revoked beside the server.

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <sqlite3.h>

#include "samples.hpp"
#include "storage/data_file.hpp"
#include "storage/sqlite_access.hpp"
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

void make_version_1(const std::filesystem::path& file) {
  sqlite3* db = nullptr;
  sqlite3_open(file.c_str(), &db);
  auto sql = contents_of(TIDEGATE_VERSION_1);
  REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr)
          == SQLITE_OK);
  sqlite3_close(db);
}

std::vector<api_key_record> keys_of(store& disk) {
  auto keys = open_reader(disk)->api_keys();
  REQUIRE(keys);
  return std::move(*keys);
}

} // namespace

TEST_CASE("a key can be made before the first start") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto key = sample_api_key("first");
  auto id = create_api_key(options, key);
  REQUIRE(id);
  key.id = *id;
  CHECK(*list_api_keys(options) == std::vector{key});
  auto disk = open_good(options);
  CHECK(keys_of(*disk) == std::vector{key});
}

TEST_CASE("a running server notices keys that are made and revoked beside it") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto disk = open_good(options);
  auto reader = open_reader(*disk);
  auto version = reader->api_keys_version();
  auto key = sample_api_key("beside");
  auto id = create_api_key(options, key);
  REQUIRE(id);
  key.id = *id;
  CHECK(*reader->api_keys_version() != *version);
  CHECK(*reader->api_keys() == std::vector{key});
  commit(*disk, {insert_queue{sample_queue(1)}});
  version = reader->api_keys_version();
  CHECK(*revoke_api_key(options, *id));
  CHECK(*reader->api_keys_version() != *version);
  CHECK(reader->api_keys()->empty());
  CHECK_FALSE(*revoke_api_key(options, *id));
  auto answers = commit(*disk, {insert_api_key{sample_api_key("own")}});
  CHECK(answers[0].key == api_key_id{id->value + 1});
}

TEST_CASE("a server goes on committing after a key was made beside it") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto disk = open_good(options);
  commit(*disk, {insert_queue{sample_queue(1)}});
  for (std::uint64_t seq = 1; seq <= 20; ++seq) {
    commit(*disk, {published(sample_job(1, seq))});
    CHECK(create_api_key(options, sample_api_key("n")));
  }
  CHECK_FALSE(disk->reopen());
  CHECK(disk->load_queues()->front().jobs.size() == 20);
  CHECK(keys_of(*disk).size() == 20);
}

TEST_CASE("looking for keys where there is no file makes none") {
  temporary_directory directory;
  auto options = options_in(directory);
  auto keys = list_api_keys(options);
  REQUIRE_FALSE(keys);
  CHECK_THAT(keys.reason().message, Catch::EndsWith("data.db does not exist"));
  CHECK_FALSE(revoke_api_key(options, api_key_id{1}));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a file of version 1 is brought to the present one for its key") {
  temporary_directory directory;
  auto options = options_in(directory);
  make_version_1(options.file);
  CHECK(create_api_key(options, sample_api_key("new")));
  auto disk = open_good(options);
  CHECK(disk->load_queues()->size() == 1);
  CHECK(keys_of(*disk).size() == 1);
}

TEST_CASE("a file of version 1 that a server is using is left to it") {
  temporary_directory directory;
  auto options = options_in(directory);
  make_version_1(options.file);
  auto server = data_file_claim::make(options.file);
  REQUIRE(server);
  auto before = contents_of(options.file);
  auto made = create_api_key(options, sample_api_key("new"));
  REQUIRE_FALSE(made);
  CHECK_THAT(made.reason().message, Catch::Contains("another server is using"));
  CHECK(contents_of(options.file) == before);
}

TEST_CASE("keys are not looked for in the database of another program") {
  temporary_directory directory;
  auto options = options_in(directory);
  std::ofstream{options.file} << "not a database, but long enough to be read";
  auto before = contents_of(options.file);
  CHECK_FALSE(create_api_key(options, sample_api_key("a")));
  CHECK_FALSE(list_api_keys(options));
  CHECK(contents_of(options.file) == before);
}
