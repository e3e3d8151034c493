// What every store promises about jobs that come back to life or go for good.
// Each case runs on memory and SQLite.

#include <catch2/catch.hpp>

#include <chrono>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

queue_snapshot only_queue(store& where) {
  auto queues = where.load_queues();
  REQUIRE(queues);
  REQUIRE(queues->size() == 1);
  return queues->front();
}

void check_counters(store& where, std::uint64_t completed, std::uint64_t dead) {
  auto queue = only_queue(where).queue;
  CHECK(queue.completed == completed);
  CHECK(queue.dead == dead);
}

std::vector<job_seq> removable(store& where, wall_time now,
                               std::size_t limit = 100) {
  auto ids = open_reader(where)->removable(now, limit);
  REQUIRE(ids);
  std::vector<job_seq> seqs;
  for (auto& id : *ids) {
    CHECK(find(where, id));
    seqs.push_back(id.seq);
  }
  return seqs;
}

} // namespace

// -- another life -------------------------------------------------------------

TEMPLATE_TEST_CASE("a dead job that is revived is a live one with its history",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1, "key");
  auto end = completed(job, 2);
  end.job.status = job_status::dead;
  end.job.dead_letter = true;
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(job), retried(job, 1), end});
  check_counters(world.disk(), 0, 1);
  auto revival = revived(end.job);
  auto expected = revival.job;
  revival.job.payload = payload{"ignored"};
  revival.job.limit_key = "ignored";
  revival.job.priority = 0;
  revival.job.context = job_context{};
  auto answers = commit(world.disk(), {revival});
  CHECK(answers[0].done);
  CHECK(answers[0].dead == 1);
  CHECK(answers[0].completed == 0);
  world.restart();
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == expected);
  CHECK(found->history
        == std::vector{sample_entry(1), *end.entry, revival.entry});
  check_counters(world.disk(), 0, 0);
  auto live = only_queue(world.disk()).jobs;
  REQUIRE(live.size() == 1);
  CHECK(live[0].background);
  CHECK(*open_reader(world.disk())->count_dead_letters(queue_id{1}, {}) == 0);
  CHECK(removable(world.disk(), far_future).empty());
  CHECK(commit(world.disk(), {published(sample_job(1, 2, "key"))})[0].existing
        == expected);
}

TEMPLATE_TEST_CASE("a job has as many lives as it is given", "", memory_world,
                   sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job)});
  std::vector<history_entry> expected;
  for (std::uint64_t life = 1; life <= 4; ++life) {
    auto end = life % 2 == 0 ? expired(job) : completed(job, life);
    auto revival = revived(end.job);
    job = revival.job;
    commit(world.disk(), {retried(job, life), end, revival});
    expected.push_back(sample_entry(life));
    if (end.entry)
      expected.push_back(*end.entry);
    expected.push_back(revival.entry);
  }
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->history == expected);
  CHECK(found->job.replays == 4);
  check_counters(world.disk(), 0, 0);
}

TEMPLATE_TEST_CASE("a long history stays trimmed over a revival", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  std::vector<record> batch{insert_queue{sample_queue(1)}, published(job)};
  for (std::uint64_t n = 1; n <= history_max; ++n)
    batch.push_back(retried(job, n));
  auto end = completed(job, history_max + 1);
  batch.push_back(end);
  batch.push_back(revived(end.job));
  commit(world.disk(), batch);
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->history.size() == history_max);
  CHECK(found->history.front() == sample_entry(3));
  CHECK(found->history.back() == revived(end.job).entry);
  CHECK(found->history_dropped == 2);
}

TEMPLATE_TEST_CASE("a replay with another payload keeps the one before", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  auto end = expired(job);
  auto revival = revived(end.job);
  revival.entry.replaced = job.payload;
  revival.job.payload = payload{std::string{"\0new", 4}};
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(job), end, revival});
  world.restart();
  auto found = find(world.disk(), job.id);
  REQUIRE(found);
  CHECK(found->job == revival.job);
  REQUIRE(found->history.size() == 1);
  CHECK(found->history[0] == revival.entry);
}

TEMPLATE_TEST_CASE("reviving a job that is live or gone does nothing", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 1);
  auto ended = sample_job(1, 2);
  auto end = expired(ended);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(live),
                        published(ended), end});
  auto foreign = revived(end.job);
  foreign.job.id.queue = queue_id{2};
  auto answers = commit(world.disk(),
                        {revived(live), foreign, revived(sample_job(1, 3)),
                         revived(sample_job(7, 2))});
  for (auto& answer : answers) {
    CHECK_FALSE(answer.done);
    CHECK(answer.dead == 0);
  }
  CHECK(find(world.disk(), live.id)->job == live);
  CHECK(find(world.disk(), ended.id)->job == end.job);
  check_counters(world.disk(), 0, 1);
}

TEMPLATE_TEST_CASE("a revival that leaves the job ended fails its batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  auto end = expired(job);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job), end});
  auto bad = revived(end.job);
  bad.job.status = job_status::dead;
  std::vector<record> batch{bad};
  CHECK_FALSE(world.disk().commit(batch));
}

// -- for good -----------------------------------------------------------------

TEMPLATE_TEST_CASE("jobs that are removed leave nothing behind", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 1, "a");
  auto done = sample_job(1, 2, "b");
  auto dead = sample_job(1, 3, "c");
  auto kept = sample_job(1, 4, "d");
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(live), published(done),
          published(dead), published(kept), retried(live, 1), retried(done, 1),
          completed(done, 2), expired(dead), completed(kept, 1)});
  auto answers = commit(world.disk(),
                        {remove_jobs{queue_id{1},
                                     {job_seq{3}, job_seq{9}, job_seq{1},
                                      job_seq{2}, job_seq{3}}}});
  CHECK(answers[0].live == 1);
  CHECK(answers[0].completed == 1);
  CHECK(answers[0].dead == 1);
  world.restart();
  for (auto& id : {live.id, done.id, dead.id})
    CHECK_FALSE(find(world.disk(), id));
  CHECK(find(world.disk(), kept.id));
  check_counters(world.disk(), 1, 0);
  CHECK(only_queue(world.disk()).jobs.empty());
  CHECK(removable(world.disk(), far_future) == std::vector{job_seq{4}});
  CHECK(*open_reader(world.disk())->count_dead_letters(queue_id{1}, {}) == 0);
  auto again = commit(world.disk(), {published(sample_job(1, 5, "a")),
                                     published(sample_job(1, 6, "b")),
                                     published(sample_job(1, 7, "d"))});
  CHECK_FALSE(again[0].existing);
  CHECK_FALSE(again[1].existing);
  CHECK(again[2].existing);
  CHECK(find(world.disk(), sample_job(1, 5).id)->history.empty());
}

TEMPLATE_TEST_CASE("only jobs of the named queue are removed", "", memory_world,
                   sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job)});
  auto answers = commit(world.disk(), {remove_jobs{queue_id{2}, {job.id.seq}},
                                       remove_jobs{queue_id{1}, {}}});
  CHECK(answers[0].live == 0);
  CHECK(find(world.disk(), job.id));
}

TEMPLATE_TEST_CASE("the number of a removed job is not given again", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto last = GENERATE(3, 7);
  auto job = sample_job(1, 7);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(sample_job(1, 3)),
          published(job), expired(job)});
  commit(world.disk(), {remove_jobs{queue_id{1},
                                    {job_seq{static_cast<std::uint64_t>(last)},
                                     job_seq{max_48_bits}}}});
  world.restart();
  CHECK(*world.disk().last_job_seq() == job_seq{7});
}

TEMPLATE_TEST_CASE("what was ended and removed in one batch was never counted",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto two = sample_job(1, 2);
  auto end = expired(two);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, published(one), published(two),
          completed(one, 1), remove_jobs{queue_id{1}, {one.id.seq}}, end,
          revived(end.job)});
  check_counters(world.disk(), 0, 0);
}

TEMPLATE_TEST_CASE("jobs are removable from their time on, overdue ones first",
                   "", memory_world, sqlite_world) {
  TestType world;
  std::vector<record> batch{insert_queue{sample_queue(1)}};
  auto add = [&](std::uint64_t seq, std::optional<wall_time> remove_at) {
    auto end = completed(sample_job(1, seq), 1);
    end.job.remove_at = remove_at;
    batch.push_back(published(sample_job(1, seq)));
    batch.push_back(end);
  };
  add(1, at(300));
  add(2, std::nullopt);
  add(3, at(100));
  add(4, at(200));
  add(5, at(200));
  batch.push_back(published(sample_job(1, 6)));
  commit(world.disk(), batch);
  CHECK(removable(world.disk(), at(99)).empty());
  using seqs = std::vector<job_seq>;
  CHECK(removable(world.disk(), at(100)) == seqs{job_seq{3}});
  CHECK(removable(world.disk(), at(900))
        == seqs{job_seq{3}, job_seq{4}, job_seq{5}, job_seq{1}});
  CHECK(removable(world.disk(), at(900), 2) == seqs{job_seq{3}, job_seq{4}});
}

TEMPLATE_TEST_CASE("a thousand jobs are removed in one record", "",
                   memory_world, sqlite_world) {
  TestType world;
  std::vector<record> batch{insert_queue{sample_queue(1)}};
  remove_jobs all{queue_id{1}, {}};
  for (std::uint64_t seq = 1; seq <= 1000; ++seq) {
    auto job = sample_job(1, seq, "key " + std::to_string(seq));
    batch.push_back(published(job));
    batch.push_back(retried(job, 1));
    batch.push_back(completed(job, 2));
    all.seqs.push_back(job.id.seq);
  }
  commit(world.disk(), batch);
  auto answers = commit(world.disk(), {all});
  CHECK(answers[0].completed == 1000);
  check_counters(world.disk(), 0, 0);
  CHECK(removable(world.disk(), far_future).empty());
}
