// What every store promises about reading many jobs. Each case runs on memory
// and SQLite.

#include <catch2/catch.hpp>

#include <algorithm>

#include "samples.hpp"
#include "storage/paging.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

// Commits jobs 1 to `count` of queue 1, of which those that `divisor` divides
// belong to queue 2, and ends those that 3 divides: dead ones and completed
// ones in turn.
template <class World>
std::vector<job>
fill(World& world, std::uint64_t count, std::uint64_t divisor) {
  std::vector<job> theirs;
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)}});
  for (std::uint64_t seq = 1; seq <= count; ++seq) {
    auto job = sample_job(seq % divisor == 0 ? 2 : 1, seq);
    commit(world.disk(), {published(job)});
    auto end = seq % 2 == 0 ? expired(job) : completed(job, 1);
    if (seq % 3 == 0)
      commit(world.disk(), {end});
    auto& last = seq % 3 == 0 ? end.job : job;
    if (last.id.queue == queue_id{1})
      theirs.insert(theirs.begin(), last);
  }
  return theirs;
}

std::vector<std::uint64_t> numbers(const std::vector<job>& jobs) {
  std::vector<std::uint64_t> all;
  for (auto& job : jobs)
    all.push_back(job.id.seq.value);
  return all;
}

job_page list(store& where, const job_page_query& query) {
  auto page = open_reader(where)->list(query);
  REQUIRE(page);
  return std::move(*page);
}

std::vector<std::uint64_t> listed(store& where, const job_filter& filter,
                                  bool dead_letters = false) {
  job_page_query query;
  query.queue = queue_id{1};
  query.filter = filter;
  query.dead_letters = dead_letters;
  auto page = list(where, query);
  CHECK_FALSE(page.next_before);
  auto count = open_reader(where)->count_dead_letters(queue_id{1}, filter);
  REQUIRE(count);
  if (dead_letters)
    CHECK(*count == page.jobs.size());
  return numbers(page.jobs);
}

job_filter only(job_status status) {
  job_filter filter;
  filter.status = status;
  return filter;
}

job_filter only(dead_reason reason) {
  job_filter filter;
  filter.reason = reason;
  return filter;
}

job_filter only(const char* limit_key) {
  job_filter filter;
  filter.limit_key = limit_key;
  return filter;
}

job_filter only(std::optional<wall_time> since,
                std::optional<wall_time> until) {
  job_filter filter;
  filter.since = since;
  filter.until = until;
  return filter;
}

using seqs = std::vector<std::uint64_t>;

} // namespace

// -- pages --------------------------------------------------------------------

TEMPLATE_TEST_CASE("pages have all jobs of a queue, newest first, live or not",
                   "", memory_world, sqlite_world) {
  auto limit = GENERATE(1, 2, 5, 100);
  auto rows_max = GENERATE(1, 3, 1000);
  auto payloads = GENERATE(false, true);
  CAPTURE(limit, rows_max, payloads);
  TestType world;
  auto expected = fill(world, 20, 4);
  if (!payloads)
    for (auto& job : expected)
      job.payload = payload{};
  job_page_query query;
  query.queue = queue_id{1};
  query.limit = static_cast<std::size_t>(limit);
  query.rows_max = static_cast<std::size_t>(rows_max);
  query.payloads = payloads;
  std::vector<job> found;
  for (auto more = true; more;) {
    auto page = list(world.disk(), query);
    CHECK(page.jobs.size() <= query.limit);
    found.insert(found.end(), page.jobs.begin(), page.jobs.end());
    more = page.next_before.has_value();
    if (more) {
      REQUIRE(*page.next_before < query.before);
      query.before = *page.next_before;
    }
  }
  CHECK(found == expected);
}

TEMPLATE_TEST_CASE("a full page with nothing after it is the last one", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto expected = fill(world, 8, 8);
  job_page_query query;
  query.queue = queue_id{1};
  query.limit = expected.size();
  CHECK_FALSE(list(world.disk(), query).next_before);
  query.limit -= 1;
  auto page = list(world.disk(), query);
  CHECK(page.jobs.size() == query.limit);
  CHECK(page.next_before == page.jobs.back().id.seq);
}

TEMPLATE_TEST_CASE("a page looks at no more rows than allowed", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          published(sample_job(1, 1))});
  for (std::uint64_t seq = 2; seq <= 30; ++seq)
    commit(world.disk(), {published(sample_job(2, seq))});
  job_page_query query;
  query.queue = queue_id{1};
  query.rows_max = 10;
  auto page = list(world.disk(), query);
  CHECK(page.jobs.empty());
  REQUIRE(page.next_before);
  CHECK(*page.next_before == job_seq{21});
}

TEMPLATE_TEST_CASE("a page with payloads ends once they come to 4 MiB", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    auto job = sample_job(1, seq);
    auto size = seq == 3 ? page_bytes_max + 1 : page_bytes_max / 2;
    job.payload = payload{std::string(size, 'p')};
    commit(world.disk(), {published(job)});
  }
  job_page_query query;
  query.queue = queue_id{1};
  CHECK(list(world.disk(), query).jobs.size() == 5);
  query.payloads = true;
  auto page = list(world.disk(), query);
  CHECK(numbers(page.jobs) == seqs{5, 4});
  CHECK(page.next_before == job_seq{4});
  query.before = *page.next_before;
  page = list(world.disk(), query);
  CHECK(numbers(page.jobs) == seqs{3});
  CHECK(page.next_before == job_seq{3});
  query.before = *page.next_before;
  page = list(world.disk(), query);
  CHECK(numbers(page.jobs) == seqs{2, 1});
  CHECK_FALSE(page.next_before);
}

TEMPLATE_TEST_CASE(
  "jobs that end or come back between two pages are neither "
  "skipped nor repeated",
  "", memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  std::vector<job> jobs;
  for (std::uint64_t seq = 1; seq <= 12; ++seq) {
    jobs.push_back(sample_job(1, seq));
    commit(world.disk(), {published(jobs.back())});
  }
  for (auto i : {1, 5, 9, 11})
    commit(world.disk(), {expired(jobs[static_cast<std::size_t>(i)])});
  job_page_query query;
  query.queue = queue_id{1};
  query.limit = 4;
  seqs found;
  for (auto round = 0; round < 3; ++round) {
    auto page = list(world.disk(), query);
    for (auto number : numbers(page.jobs))
      found.push_back(number);
    if (round == 0)
      commit(world.disk(),
             {completed(jobs[2], 1), completed(jobs[8], 1), revived(jobs[5]),
              revived(jobs[11]), published(sample_job(1, 13))});
    if (page.next_before)
      query.before = *page.next_before;
  }
  CHECK(found == seqs{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
}

// -- filters ------------------------------------------------------------------

TEMPLATE_TEST_CASE("a filter takes what fits all of its parts", "",
                   memory_world, sqlite_world) {
  TestType world;
  fill(world, 14, 7);
  auto& disk = world.disk();
  CHECK(listed(disk, {}) == seqs{13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2, 1});
  CHECK(listed(disk, only(job_status::completed)) == seqs{9, 3});
  CHECK(listed(disk, only(job_status::dead)) == seqs{12, 6});
  CHECK(listed(disk, only(job_status::pending))
        == seqs{13, 11, 10, 8, 5, 4, 2, 1});
  CHECK(listed(disk, only(job_status::awaiting_ack)).empty());
  CHECK(listed(disk, only("tenant 1")) == seqs{13, 10, 4, 1});
  CHECK(listed(disk, only("")).empty());
  CHECK(listed(disk, only(dead_reason::lifetime_exceeded)) == seqs{12, 6});
  CHECK(listed(disk, only(dead_reason::cancelled)).empty());
  CHECK(listed(disk, only(at(4), at(9))) == seqs{8, 6, 5, 4});
  CHECK(listed(disk, {job_status::dead, "tenant 0",
                      dead_reason::lifetime_exceeded, at(7), at(13)})
        == seqs{12});
}

TEMPLATE_TEST_CASE("a job without a limit key is found by the empty one", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 2);
  job.limit_key.clear();
  commit(world.disk(), {insert_queue{sample_queue(1)},
                        published(sample_job(1, 1)), published(job)});
  CHECK(listed(world.disk(), only("")) == seqs{2});
}

// -- dead letters -------------------------------------------------------------

TEMPLATE_TEST_CASE("dead letters are the dead jobs that say so, by their end",
                   "", memory_world, sqlite_world) {
  TestType world;
  fill(world, 30, 7);
  auto cancelled = expired(sample_job(1, 40));
  cancelled.job.dead_letter = false;
  auto late = expired(sample_job(1, 41));
  late.job.ended_at = at(31000);
  late.job.dead_reason = dead_reason::ack_timeout;
  commit(world.disk(), {published(sample_job(1, 40)),
                        published(sample_job(1, 41)), cancelled, late});
  auto& disk = world.disk();
  CHECK(listed(disk, {}, true) == seqs{41, 30, 24, 18, 12, 6});
  CHECK(listed(disk, only(at(30001), std::nullopt), true) == seqs{41});
  CHECK(listed(disk, only(std::nullopt, at(31000)), true)
        == seqs{30, 24, 18, 12, 6});
  CHECK(listed(disk, only(dead_reason::ack_timeout), true) == seqs{41});
  CHECK(listed(disk, only("tenant 2"), true) == seqs{41});
  CHECK(listed(disk, only(job_status::completed), true).empty());
  CHECK(*open_reader(disk)->count_dead_letters(queue_id{2}, {}) == 0);
  CHECK(*open_reader(disk)->count_dead_letters(queue_id{9}, {}) == 0);
}

TEMPLATE_TEST_CASE("pages of dead letters look at nothing else", "",
                   memory_world, sqlite_world) {
  TestType world;
  fill(world, 30, 7);
  job_page_query query;
  query.queue = queue_id{1};
  query.dead_letters = true;
  query.rows_max = 2;
  auto page = list(world.disk(), query);
  CHECK(numbers(page.jobs) == seqs{30, 24});
  REQUIRE(page.next_before);
  query.before = *page.next_before;
  CHECK(numbers(list(world.disk(), query).jobs) == seqs{18, 12});
}

// -- single jobs --------------------------------------------------------------

TEMPLATE_TEST_CASE("a job is found by its idempotency key, live or ended", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 1, "live");
  auto ended = sample_job(1, 2, "ended");
  auto end = completed(ended, 1);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(live),
                        published(ended), end});
  auto reader = open_reader(world.disk());
  CHECK(*reader->find_by_key(queue_id{1}, "live") == live);
  CHECK(*reader->find_by_key(queue_id{1}, "ended") == end.job);
  CHECK_FALSE(reader->find_by_key(queue_id{1}, "other")->has_value());
  CHECK_FALSE(reader->find_by_key(queue_id{2}, "live")->has_value());
  CHECK_FALSE(reader->find_by_key(queue_id{1}, "")->has_value());
}
