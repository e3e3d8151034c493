// What every store promises about jobs. Each case runs on memory and SQLite.

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::vector<job> load(store& where, std::vector<job_seq> seqs,
                      std::size_t bytes_max = 1 << 20) {
  auto reader = where.open_reader();
  REQUIRE(reader);
  auto jobs = (*reader)->load(queue_id{1}, seqs, bytes_max);
  REQUIRE(jobs);
  return std::move(*jobs);
}

queue_snapshot only_queue(store& where) {
  auto queues = where.load_queues();
  REQUIRE(queues);
  REQUIRE(queues->size() == 1);
  return queues->front();
}

} // namespace

// -- publish ------------------------------------------------------------------

TEMPLATE_TEST_CASE("a job comes back with every field after a restart", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, max_48_bits, "key");
  job.id.tag = max_48_bits;
  job.attempts = 1;
  job.defers = 2;
  job.deliveries = 3;
  job.started_delivery = 4;
  job.status = job_status::awaiting_ack;
  job.replays = 5;
  job.background = true;
  job.reported = callback_kind::defer;
  job.reported_delivery = 6;
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job)});
  world.restart();
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == job);
  CHECK(found->history.empty());
  CHECK(load(world.disk(), {job.id.seq}) == std::vector{job});
  CHECK(*world.disk().last_job_seq() == job_seq{max_48_bits});
}

TEMPLATE_TEST_CASE("any bytes come back as they were stored", "", memory_world,
                   sqlite_world) {
  TestType world;
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte)
    every_byte += static_cast<char>(byte);
  auto job = sample_job(1, 1, every_byte.substr(0, 255));
  job.payload = payload{every_byte};
  auto empty = sample_job(1, 2);
  empty.payload = payload{};
  auto large = sample_job(1, 3);
  large.payload = payload{std::string(300'000, '\0') + "end"};
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job),
                        published(empty), published(large)});
  world.restart();
  CHECK(find(world.disk(), job.id)->job == job);
  CHECK(find(world.disk(), empty.id)->job == empty);
  CHECK((find(world.disk(), large.id)->job == large));
}

TEMPLATE_TEST_CASE("a job without anything optional comes back so", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  job.limit_key.clear();
  job.context = job_context{};
  auto traced = sample_job(1, 2);
  traced.context = job_context{{{}, "", "vendor=1"}};
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(job), published(traced)});
  world.restart();
  CHECK(find(world.disk(), job.id)->job == job);
  CHECK(find(world.disk(), traced.id)->job == traced);
}

TEMPLATE_TEST_CASE("an id with a wrong tag or queue finds nothing", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  auto done = sample_job(1, 2);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          published(job), published(done), completed(done, 1)});
  for (auto id : {job.id, done.id}) {
    CHECK(find(world.disk(), id));
    CHECK_FALSE(find(world.disk(), {id.queue, id.seq, id.tag + 1}));
    CHECK_FALSE(find(world.disk(), {queue_id{2}, id.seq, id.tag}));
    CHECK_FALSE(find(world.disk(), {id.queue, job_seq{3}, id.tag}));
  }
}

TEMPLATE_TEST_CASE("live jobs are listed in the order of their numbers", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto first = sample_job(1, 4);
  auto second = sample_job(1, 9);
  auto gone = sample_job(1, 6);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(second),
                        published(first), published(gone), completed(gone, 1)});
  world.restart();
  auto jobs = only_queue(world.disk()).jobs;
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0]
        == live_job{first.id.seq, first.due, first.expires_at, first.created_at,
                    first.waits_for, first.status, 0, first.priority, false,
                    first.limit_key, first.eligible_at, first.id.tag, 0, 0, 0});
  CHECK(jobs[1].seq == second.id.seq);
}

TEMPLATE_TEST_CASE("loading follows the order asked for and leaves gaps out",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto two = sample_job(1, 2);
  auto ended = sample_job(1, 3);
  auto foreign = sample_job(2, 4);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          published(one), published(two), published(ended), published(foreign),
          completed(ended, 1)});
  auto jobs = load(world.disk(), {job_seq{5}, job_seq{4}, job_seq{3},
                                  job_seq{2}, job_seq{1}});
  CHECK(jobs == std::vector{two, one});
}

TEMPLATE_TEST_CASE("loading stops when the payloads come to the limit", "",
                   memory_world, sqlite_world) {
  TestType world;
  std::vector<record> batch{insert_queue{sample_queue(1)}};
  for (std::uint64_t seq = 1; seq <= 4; ++seq) {
    auto job = sample_job(1, seq);
    job.payload = payload{std::string(10, 'x')};
    batch.push_back(published(job));
  }
  commit(world.disk(), batch);
  std::vector<job_seq> all{job_seq{8}, job_seq{1}, job_seq{2}, job_seq{3},
                           job_seq{4}};
  CHECK(load(world.disk(), all, 0).size() == 1);
  CHECK(load(world.disk(), all, 10).size() == 1);
  CHECK(load(world.disk(), all, 11).size() == 2);
  CHECK(load(world.disk(), all, 40).size() == 4);
}

// -- idempotency --------------------------------------------------------------

TEMPLATE_TEST_CASE(
  "a repeat of an idempotency key answers the job that is "
  "there",
  "", memory_world, sqlite_world) {
  TestType world;
  auto first = sample_job(1, 1, "key");
  auto repeat = sample_job(1, 2, "key");
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(first)});
  world.restart();
  auto answers = commit(world.disk(), {published(repeat)});
  REQUIRE(answers[0].existing);
  CHECK(*answers[0].existing == first);
  CHECK_FALSE(find(world.disk(), repeat.id));
  CHECK(only_queue(world.disk()).jobs.size() == 1);
}

TEMPLATE_TEST_CASE("two publishes with one key in one batch store one job", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto first = sample_job(1, 1, "key");
  auto repeat = sample_job(1, 2, "key");
  auto answers = commit(world.disk(), {insert_queue{sample_queue(1)},
                                       published(first), published(repeat)});
  CHECK_FALSE(answers[1].existing);
  REQUIRE(answers[2].existing);
  CHECK(*answers[2].existing == first);
  CHECK(only_queue(world.disk()).jobs.size() == 1);
}

TEMPLATE_TEST_CASE("a key stays taken after its job has ended", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto first = sample_job(1, 1, "key");
  auto end = completed(first, 1);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(first), end});
  world.restart();
  auto answers = commit(world.disk(), {published(sample_job(1, 2, "key"))});
  REQUIRE(answers[0].existing);
  CHECK(*answers[0].existing == end.job);
}

TEMPLATE_TEST_CASE("a key belongs to its queue, and no key is no key", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto answers = commit(
    world.disk(),
    {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
     published(sample_job(1, 1, "key")), published(sample_job(2, 2, "key")),
     published(sample_job(1, 3)), published(sample_job(1, 4)),
     published(sample_job(1, 5, std::string{"key\0", 4}))});
  for (auto& answer : answers)
    CHECK_FALSE(answer.existing);
}

// -- deliveries ---------------------------------------------------------------

TEMPLATE_TEST_CASE("an update replaces what deliveries change and nothing else",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1, "key");
  auto update = retried(job, 1);
  update.job.defers = 4;
  update.job.started_delivery = 2;
  update.job.expires_at = at(77);
  auto expected = update.job;
  update.job.payload = payload{"other"};
  update.job.idempotency_key = "other";
  update.job.created_at = at(0);
  update.job.priority = 0;
  update.job.limit_key.clear();
  update.job.context = job_context{};
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job)});
  commit(world.disk(), {update});
  world.restart();
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == expected);
  CHECK(found->history == std::vector{*update.entry});
  CHECK(found->history_dropped == 0);
}

TEMPLATE_TEST_CASE("an update without an entry adds no line to the history", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  auto start = retried(job, 1);
  start.entry.reset();
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job), start});
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == start.job);
  CHECK(found->history.empty());
}

TEMPLATE_TEST_CASE("an ended job keeps payload, key and the whole history", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1, "key");
  auto end = completed(job, 3);
  auto expected = end.job;
  end.job.payload = payload{};
  end.job.idempotency_key.clear();
  end.job.limit_key.clear();
  end.job.context = job_context{};
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job),
                        retried(job, 1), retried(job, 2), end});
  world.restart();
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == expected);
  CHECK(found->history
        == std::vector{sample_entry(1), sample_entry(2), *end.entry});
  CHECK(only_queue(world.disk()).jobs.empty());
}

TEMPLATE_TEST_CASE("a job that expired ends without an entry", "", memory_world,
                   sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  auto end = expired(job);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job), end});
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == end.job);
  CHECK(found->history.empty());
}

TEMPLATE_TEST_CASE(
  "a job keeps its newest lines of history and counts the "
  "dropped ones",
  "", memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  auto other = sample_job(1, 2);
  std::vector<record> batch{insert_queue{sample_queue(1)}, published(job),
                            published(other), retried(other, 1)};
  auto total = history_max + 5;
  for (std::uint64_t n = 1; n <= total; ++n)
    batch.push_back(retried(job, n));
  commit(world.disk(), batch);
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->history.size() == history_max);
  CHECK(found->history.front() == sample_entry(6));
  CHECK(found->history.back() == sample_entry(total));
  CHECK(found->history_dropped == 5);
  commit(world.disk(), {completed(job, total + 1)});
  found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->history.size() == history_max);
  CHECK(found->history.front() == sample_entry(7));
  CHECK(found->history_dropped == 6);
  CHECK(find(world.disk(), other.id)->history.size() == 1);
}

TEMPLATE_TEST_CASE("ended jobs are counted on their queue", "", memory_world,
                   sqlite_world) {
  TestType world;
  std::vector<record> batch{insert_queue{sample_queue(1)}};
  for (std::uint64_t seq = 1; seq <= 5; ++seq)
    batch.push_back(published(sample_job(1, seq)));
  commit(world.disk(), batch);
  commit(world.disk(),
         {completed(sample_job(1, 1), 1), completed(sample_job(1, 2), 1),
          expired(sample_job(1, 3))});
  commit(world.disk(), {completed(sample_job(1, 4), 1)});
  world.restart();
  CHECK(only_queue(world.disk()).queue.completed == 3);
  CHECK(only_queue(world.disk()).queue.dead == 1);
}

// -- refusals -----------------------------------------------------------------

TEMPLATE_TEST_CASE("a batch with one impossible record stores nothing at all",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 1, "key");
  auto ended = sample_job(1, 2);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          published(live), published(ended), completed(ended, 1)});
  auto still_live = completed(live, 1);
  still_live.job.status = job_status::processing;
  auto already_ended = retried(live, 1);
  already_ended.job.status = job_status::dead;
  auto foreign = retried(live, 1);
  foreign.job.id.queue = queue_id{2};
  auto born_dead = sample_job(1, 9);
  born_dead.status = job_status::dead;
  auto bad =
    GENERATE_COPY(as<record>{}, retried(ended, 2), completed(ended, 2),
                  retried(sample_job(1, 9), 1), expired(sample_job(1, 9)),
                  still_live, already_ended, foreign, published(born_dead),
                  published(sample_job(1, 1)), published(sample_job(1, 2)));
  std::vector<job_id> ids{live.id, ended.id, sample_job(1, 9).id,
                          sample_job(1, 50).id};
  auto before = take_picture(world.disk(), ids);
  std::vector<record> batch{published(sample_job(1, 50, "other")),
                            retried(live, 1), completed(live, 2), bad};
  auto answers = world.disk().commit(batch);
  REQUIRE_FALSE(answers);
  CHECK(answers.reason().code == errc::storage_unavailable);
  CHECK_FALSE(world.disk().reopen());
  CHECK((take_picture(world.disk(), ids) == before));
}

TEMPLATE_TEST_CASE(
  "after a failed commit every other fails until the store "
  "was reopened",
  "", memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  auto reader = world.disk().open_reader();
  REQUIRE(reader);
  std::vector<record> bad{expired(sample_job(1, 1))};
  std::vector<record> good{published(sample_job(1, 1))};
  CHECK_FALSE(world.disk().commit(bad));
  CHECK_FALSE(world.disk().commit(good));
  CHECK_FALSE(world.disk().reopen());
  CHECK(world.disk().commit(good));
  auto found = (*reader)->find(sample_job(1, 1).id);
  REQUIRE(found);
  CHECK(found->has_value());
}

TEMPLATE_TEST_CASE("an empty batch is committed", "", memory_world,
                   sqlite_world) {
  TestType world;
  CHECK(commit(world.disk(), {}).empty());
}

// -- threads ------------------------------------------------------------------

TEMPLATE_TEST_CASE("a reader on another thread sees whole batches", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  auto reader = world.disk().open_reader();
  REQUIRE(reader);
  std::atomic<bool> done = false;
  std::atomic<bool> torn = false;
  std::thread other{[&] {
    std::vector<job_seq> pair{job_seq{1}, job_seq{2}};
    while (!done) {
      auto jobs = (*reader)->load(queue_id{1}, pair, 1 << 20);
      if (!jobs || (jobs->size() != 0 && jobs->size() != 2)
          || (jobs->size() == 2
              && jobs->front().attempts != jobs->back().attempts))
        torn = true;
    }
  }};
  commit(world.disk(),
         {published(sample_job(1, 1)), published(sample_job(1, 2))});
  for (std::uint64_t n = 1; n <= 300; ++n)
    commit(world.disk(),
           {retried(sample_job(1, 1), n), retried(sample_job(1, 2), n)});
  done = true;
  other.join();
  CHECK_FALSE(torn);
}
