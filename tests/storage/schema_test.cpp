// Files of other versions, and files that are none of ours.

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <sqlite3.h>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;
using namespace std::chrono_literals;

namespace {

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void run(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_open(file.c_str(), &db);
  CAPTURE(sqlite3_errmsg(db));
  REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr)
          == SQLITE_OK);
  sqlite3_close(db);
}

// Checks that the file is refused with a reason and not changed by a byte.
std::string refusal_of(const sqlite_options& options) {
  auto before = contents_of(options.file);
  auto opened = open_sqlite_store(options);
  REQUIRE_FALSE(opened);
  CHECK(opened.reason().code == errc::storage_unavailable);
  CHECK(contents_of(options.file) == before);
  return opened.reason().message;
}

sqlite_options options_in(const temporary_directory& directory) {
  sqlite_options options;
  options.file = directory.path() / "data.db";
  return options;
}

// What version 1 did not know has its default.
job of_version_1(job what) {
  job plain;
  what.priority = plain.priority;
  what.limit_key = plain.limit_key;
  what.context = plain.context;
  what.reported = plain.reported;
  what.reported_delivery = plain.reported_delivery;
  return what;
}

queue_record queue_of_version_1() {
  queue_record queue;
  queue.id = queue_id{1};
  queue.project = "default";
  queue.name = "kept";
  auto known = sample_settings();
  queue.settings.webhook_url = known.webhook_url;
  queue.settings.rate_limit_max = known.rate_limit_max;
  queue.settings.backoff = known.backoff;
  queue.settings.headers = known.headers;
  queue.secret = "whsec_c2VjcmV0";
  queue.created_at = at(1);
  queue.updated_at = at(2);
  return queue;
}

queue_record queue_of_version_2() {
  auto queue = sample_queue(1, "kept");
  queue.settings.tls_ca.clear();
  queue.settings.tls_insecure = false;
  queue.gate = sample_gate();
  queue.rate = {{at(1), 4}};
  queue.completed = 1;
  queue.dead = 1;
  return queue;
}

} // namespace

TEST_CASE("a file of version 1 is read with everything in it") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_1));
  auto disk = open_good(options);
  auto live = of_version_1(retried(sample_job(1, 1, "key"), 1).job);
  auto end = completed(sample_job(1, 2), 2);
  auto ended = of_version_1(end.job);
  ended.remove_at = *ended.ended_at + 72h;
  auto queue = queue_of_version_1();
  queue.completed = 1;
  auto found = take_picture(*disk, {live.id, ended.id});
  CHECK(found.queues == std::vector{queue});
  CHECK(found.live[0].size() == 1);
  CHECK(found.limit_keys[0].empty());
  CHECK(found.last_job == job_seq{9});
  CHECK(found.last_queue == queue_id{5});
  CHECK(found.last_operation == operation_id{0});
  CHECK(found.removable == std::vector{ended.id});
  REQUIRE(found.jobs[0]);
  CHECK(found.jobs[0]->job == live);
  CHECK(found.jobs[0]->history == std::vector{sample_entry(1)});
  REQUIRE(found.jobs[1]);
  CHECK(found.jobs[1]->job == ended);
  CHECK(found.jobs[1]->history == std::vector{sample_entry(1), *end.entry});
  auto answers = commit(*disk, {published(sample_job(1, 10, "key"))});
  CHECK(answers[0].existing);
}

TEST_CASE("a file of version 2 is read with everything in it") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_2));
  auto disk = open_good(options);
  auto live = retried(sample_job(1, 1, "key"), 1).job;
  auto end = completed(sample_job(1, 2), 2);
  auto dead = expired(sample_job(1, 3, "dead"));
  auto revival = revived(dead.job);
  auto dead_again = expired(revival.job).job;
  auto found = take_picture(*disk, {live.id, end.job.id, dead.job.id});
  CHECK(found.queues == std::vector{queue_of_version_2()});
  REQUIRE(found.live[0].size() == 1);
  CHECK(found.live[0][0].tag == live.id.tag);
  CHECK(found.live[0][0].attempts == 1);
  CHECK(found.limit_keys[0] == std::vector{sample_limit_key("a")});
  CHECK(found.messages == found.jobs);
  REQUIRE(found.jobs[0]);
  CHECK(found.jobs[0]->job == live);
  CHECK(found.jobs[0]->history == std::vector{sample_entry(1)});
  REQUIRE(found.jobs[1]);
  CHECK(found.jobs[1]->job == end.job);
  CHECK(found.jobs[1]->history == std::vector{sample_entry(1), *end.entry});
  REQUIRE(found.jobs[2]);
  CHECK(found.jobs[2]->job == dead_again);
  CHECK(found.jobs[2]->history == std::vector{revival.entry});
  CHECK(found.dead_letters == std::vector<std::uint64_t>{1});
  CHECK(found.operations == std::vector{sample_operation(1, 1)});
  CHECK(found.api_keys.size() == 1);
  CHECK(found.usage.size() == 3);
  CHECK(found.last_job == job_seq{9});
  CHECK(found.last_queue == queue_id{5});
}

TEST_CASE("a file of version 2 takes pull queues and their messages") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_2));
  auto disk = open_good(options);
  auto old = sample_job(1, 1);
  commit(*disk, {insert_queue{sample_pull_queue(6)}, moved(old, 6)});
  auto expected = moved(sample_job(1, 1, "key"), 6).job;
  expected.id.queue = queue_id{6};
  CHECK(message_of(*disk, old.id) == expected);
  CHECK(disk->load_queues()->back().queue == sample_pull_queue(6));
  auto answers = commit(*disk, {published(sample_job(1, 10, "key")),
                                remove_queue{queue_id{6}},
                                published(sample_job(1, 11, "key"))});
  CHECK(answers[0].existing == expected);
  CHECK_FALSE(answers[2].existing);
}

TEST_CASE("a file of version 3 is read with everything in it") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_3));
  auto disk = open_good(options);
  auto queues = disk->load_queues();
  REQUIRE(queues);
  REQUIRE(queues->size() == 1);
  const auto& found = queues->front();
  pull_settings settings;
  settings.dead_letter_queue = "dead";
  settings.max_receive_count = 5;
  settings.message_retention = 7 * 24h;
  settings.visibility_timeout = 60s;
  settings.delay = 2s;
  settings.enable_priority = true;
  CHECK(found.queue.kind == queue_kind::pull);
  CHECK(found.queue.name == "kept");
  CHECK(found.queue.pull == settings);
  CHECK(found.queue.totals.published == 3);
  CHECK(found.queue.totals.received == 2);
  REQUIRE(found.jobs.size() == 3);
  CHECK(found.jobs[0].status == job_status::awaiting_ack);
  CHECK(found.jobs[0].priority == 3);
  CHECK(found.jobs[0].attempts == 1);
  CHECK(found.jobs[2].waits_for == wait_kind::delay);
  CHECK(found.jobs[2].eligible_at == found.jobs[2].due);
}

TEST_CASE("a file of version 5 is read, and its queues trust as before") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_5));
  auto disk = open_good(options);
  auto live = retried(sample_job(1, 1, "key"), 1).job;
  auto end = completed(sample_job(1, 2), 2);
  auto found = take_picture(*disk, {live.id, end.job.id});
  CHECK(found.queues == std::vector{queue_of_version_2()});
  REQUIRE(found.jobs[0]);
  CHECK(found.jobs[0]->job == live);
  CHECK(found.jobs[0]->history == std::vector{sample_entry(1)});
  REQUIRE(found.jobs[1]);
  CHECK(found.jobs[1]->job == end.job);
  CHECK(found.limit_keys[0] == std::vector{sample_limit_key("a")});
  CHECK(found.api_keys.size() == 1);
}

TEST_CASE("a dead job of version 1 is a dead letter") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_1));
  run(options.file,
      "UPDATE ended SET status = 3, dead_reason = 1;"
      "UPDATE counters SET completed = 0, dead = 1");
  auto disk = open_good(options);
  auto reader = open_reader(*disk);
  CHECK(*reader->count_dead_letters(queue_id{1}, {}) == 1);
  job_page_query query;
  query.queue = queue_id{1};
  query.dead_letters = true;
  auto page = reader->list(query);
  REQUIRE(page);
  REQUIRE(page->jobs.size() == 1);
  auto answers = commit(*disk, {revived(page->jobs[0])});
  CHECK(answers[0].dead == 1);
  CHECK(find(*disk, sample_job(1, 2).id)->history.size() == 3);
  CHECK(disk->load_queues()->front().queue.dead == 0);
}

TEST_CASE("a name of version 1 is taken in the default project only") {
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, contents_of(TIDEGATE_VERSION_1));
  auto disk = open_good(options);
  commit(*disk, {insert_queue{sample_queue(6, "kept")}});
  auto taken = sample_queue(7, "kept");
  taken.project = "default";
  std::vector<record> batch{insert_queue{taken}};
  CHECK_FALSE(disk->commit(batch));
}

TEST_CASE("a file of a newer version is refused and left as it is") {
  temporary_directory directory;
  auto options = options_in(directory);
  open_good(options);
  run(options.file, "PRAGMA user_version = 1000");
  CHECK_THAT(refusal_of(options), Catch::Contains("version 1000"));
}

TEST_CASE("a newer file that was not closed in order keeps its log") {
  temporary_directory directory;
  auto options = options_in(directory);
  open_good(options);
  sqlite3* other = nullptr;
  sqlite3_open(options.file.c_str(), &other);
  sqlite3_exec(other, "PRAGMA user_version = 1000", nullptr, nullptr, nullptr);
  temporary_directory copy;
  auto copied = options_in(copy);
  std::filesystem::copy_file(options.file, copied.file);
  auto log = copied.file;
  log += "-wal";
  std::filesystem::copy_file(options.file.string() + "-wal", log);
  sqlite3_close(other);
  auto before = contents_of(log);
  CHECK_THAT(refusal_of(copied), Catch::Contains("version 1000"));
  CHECK(contents_of(log) == before);
}

TEST_CASE("a file that is no database is refused and left as it is") {
  auto garbage = GENERATE(std::string{"xx"}, std::string{"not a database"},
                          std::string(5000, 'x'), std::string(100'000, '\0'));
  temporary_directory directory;
  auto options = options_in(directory);
  std::ofstream{options.file, std::ios::binary} << garbage;
  CHECK_THAT(refusal_of(options), Catch::Contains("not a database"));
}

TEST_CASE("a database of another program is refused and left as it is") {
  auto sql = GENERATE("CREATE TABLE bookmarks (url TEXT)",
                      "PRAGMA application_id = 7", "PRAGMA user_version = 1");
  temporary_directory directory;
  auto options = options_in(directory);
  run(options.file, sql);
  CHECK_THAT(refusal_of(options), Catch::Contains("another program"));
}

TEST_CASE("an empty file becomes a store") {
  temporary_directory directory;
  auto options = options_in(directory);
  std::ofstream{options.file};
  commit(*open_good(options), {insert_queue{sample_queue(1)}});
  CHECK(open_good(options)->load_queues()->size() == 1);
}
