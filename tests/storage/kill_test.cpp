// The process is killed at any moment.

#include <catch2/catch.hpp>

#include <csignal>
#include <random>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

constexpr std::uint64_t batch_size = 5;

job job_of(std::uint64_t batch, std::uint64_t n) {
  auto what = sample_job(1, batch * batch_size + n + 1);
  what.payload = payload{std::string(600, 'p')};
  return what;
}

// Batch n publishes five jobs and completes those of batch n - 1.
std::vector<record> batch_of(std::uint64_t batch) {
  std::vector<record> records;
  for (std::uint64_t n = 0; n < batch_size; ++n) {
    records.push_back(published(job_of(batch, n)));
    if (batch > 0)
      records.push_back(completed(job_of(batch - 1, n), 1));
  }
  return records;
}

// Commits batches from `first` on until it is killed, and reports each.
[[noreturn]] void work(const sqlite_options& options, std::uint64_t first,
                       int reports) {
  auto opened = open_sqlite_store(options);
  for (auto batch = first; opened; ++batch) {
    if (!(*opened)->commit(batch_of(batch)))
      break;
    if (::write(reports, &batch, sizeof(batch)) != sizeof(batch))
      break;
  }
  ::_exit(1);
}

// Returns how many batches were reported in all, from `first` on.
std::uint64_t kill_after(const sqlite_options& options, std::uint64_t first,
                         std::uint64_t reports_wanted) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    work(options, first, ends[1]);
  }
  ::close(ends[1]);
  auto reported = first;
  std::uint64_t batch = 0;
  while (::read(ends[0], &batch, sizeof(batch)) == sizeof(batch)) {
    reported = batch + 1;
    if (reported - first == reports_wanted)
      ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  return reported;
}

std::string integrity(const std::filesystem::path& file) {
  sqlite3* db = nullptr;
  sqlite3_open(file.c_str(), &db);
  sqlite3_stmt* query = nullptr;
  sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &query, nullptr);
  std::string verdict = "no row";
  if (sqlite3_step(query) == SQLITE_ROW)
    verdict = reinterpret_cast<const char*>(sqlite3_column_text(query, 0));
  sqlite3_finalize(query);
  sqlite3_close(db);
  return verdict;
}

} // namespace

TEST_CASE("a process that is killed leaves every batch that it reported") {
  temporary_directory directory;
  sqlite_options options;
  options.file = directory.path() / "data.db";
  options.log_pages = 50;
  commit(*open_good(options), {insert_queue{sample_queue(1)}});
  std::mt19937_64 random{1};
  std::uint64_t batches = 0;
  for (auto round = 0; round < 30; ++round) {
    CAPTURE(round);
    auto reported = kill_after(options, batches, 1 + random() % 40);
    auto disk = open_good(options);
    auto queues = disk->load_queues();
    REQUIRE(queues);
    // One batch more may have been committed and not yet reported.
    auto last = disk->last_job_seq();
    REQUIRE(last);
    REQUIRE(last->value % batch_size == 0);
    batches = last->value / batch_size;
    REQUIRE((batches == reported || batches == reported + 1));
    REQUIRE(queues->front().jobs.size() == batch_size);
    REQUIRE(queues->front().queue.completed == (batches - 1) * batch_size);
  }
  for (std::uint64_t batch = 0; batch < batches; ++batch)
    for (std::uint64_t n = 0; n < batch_size; ++n) {
      auto found = find(*open_good(options), job_of(batch, n).id);
      REQUIRE(found);
      REQUIRE(found->job.payload == job_of(batch, n).payload);
      REQUIRE((found->job.status == job_status::completed)
              == (batch + 1 < batches));
    }
  CHECK(integrity(options.file) == "ok");
}
