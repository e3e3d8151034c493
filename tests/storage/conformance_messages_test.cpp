// What every store promises about pull queues and their messages. Each case
// runs on memory and SQLite.

#include <catch2/catch.hpp>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

// Pull queues 1 and 2 and the push queue 3.
std::vector<record> three_queues() {
  return {insert_queue{sample_pull_queue(1)},
          insert_queue{sample_pull_queue(2)}, insert_queue{sample_queue(3)}};
}

queue_snapshot queue(store& where, std::uint32_t id) {
  auto queues = where.load_queues();
  REQUIRE(queues);
  for (auto& snapshot : *queues)
    if (snapshot.queue.id == queue_id{id})
      return snapshot;
  FAIL("no queue " << id);
  return {};
}

// `what` as it is after the move.
job arrived(const move_message& move) {
  auto what = move.job;
  what.id.queue = move.to;
  return what;
}

bool is_refused(store& where, record what) {
  std::vector<record> batch{std::move(what)};
  auto refused = !where.commit(batch);
  where.reopen();
  return refused;
}

} // namespace

// -- queues -------------------------------------------------------------------

TEMPLATE_TEST_CASE("a pull queue comes back with its settings and totals", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), three_queues());
  world.restart();
  CHECK(queue(world.disk(), 1).queue == sample_pull_queue(1));
  auto push = queue(world.disk(), 3).queue;
  CHECK(push.kind == queue_kind::push);
  CHECK(push == sample_queue(3));
}

TEMPLATE_TEST_CASE("settings and totals of a pull queue are replaced", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto expected = sample_pull_queue(1);
  expected.pull = pull_settings{};
  expected.totals = {8, 7, 6, 5, 4, 3, 2, 1};
  expected.updated_at = at(99);
  commit(world.disk(), three_queues());
  commit(world.disk(),
         {update_pull_settings{queue_id{1}, expected.pull, at(99)},
          update_pull_totals{queue_id{1}, {}},
          update_pull_totals{queue_id{1}, expected.totals}});
  world.restart();
  // That is counted by the store.
  expected.totals.published = sample_pull_queue(1).totals.published;
  CHECK(queue(world.disk(), 1).queue == expected);
  CHECK(queue(world.disk(), 2).queue == sample_pull_queue(2));
}

TEMPLATE_TEST_CASE("a pull queue counts what is published in it", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1, "key");
  auto before = sample_pull_queue(1).totals.published;
  commit(world.disk(), three_queues());
  commit(world.disk(),
         {published(one), update_pull_totals{queue_id{1}, {}},
          published(sample_job(1, 2, "key")), published(sample_job(1, 3)),
          published(sample_job(3, 4))});
  commit(world.disk(), {moved(one, 2), hand_over{acked(sample_job(1, 3), 1),
                                                 published(sample_job(1, 5))}});
  world.restart();
  CHECK(queue(world.disk(), 1).queue.totals.published == before + 3);
  CHECK(queue(world.disk(), 2).queue == sample_pull_queue(2));
  CHECK(queue(world.disk(), 3).queue.totals.published == 0);
}

TEMPLATE_TEST_CASE("a push queue has nothing that only pull queues have", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto push = sample_queue(4);
  push.pull = sample_pull_settings();
  push.totals = sample_totals();
  auto batch = three_queues();
  batch.push_back(insert_queue{push});
  commit(world.disk(), batch);
  CHECK(queue(world.disk(), 4).queue == sample_queue(4));
  auto id = GENERATE(queue_id{4}, queue_id{9});
  CHECK(is_refused(world.disk(), update_pull_settings{id, {}, at(1)}));
  CHECK(is_refused(world.disk(), update_pull_totals{id, {}}));
  CHECK(queue(world.disk(), 4).queue == sample_queue(4));
}

TEMPLATE_TEST_CASE("a removed pull queue is gone with its messages", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1, "key");
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), remove_queue{queue_id{1}}});
  world.restart();
  CHECK_FALSE(message_of(world.disk(), one.id));
  CHECK(world.disk().load_queues()->size() == 2);
  CHECK(is_refused(world.disk(), update_pull_totals{queue_id{1}, {}}));
}

// -- single messages ----------------------------------------------------------

TEMPLATE_TEST_CASE("a message is found wherever it is, by number and tag", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 1);
  auto ended = sample_job(2, 2);
  auto end = completed(ended, 1);
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(live), published(ended), end});
  CHECK(message_of(world.disk(), live.id) == live);
  CHECK(message_of(world.disk(), ended.id) == end.job);
  for (auto id : {live.id, ended.id}) {
    CHECK_FALSE(message_of(world.disk(), {id.queue, id.seq, id.tag + 1}));
    CHECK_FALSE(message_of(world.disk(), {id.queue, job_seq{3}, id.tag}));
  }
}

TEMPLATE_TEST_CASE("what has to stay in memory of a message is in the snapshot",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto lease = received(one, 2);
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), lease});
  world.restart();
  auto jobs = queue(world.disk(), 1).jobs;
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].status == job_status::awaiting_ack);
  CHECK(jobs[0].due == lease.job.due);
  CHECK(jobs[0].tag == one.id.tag);
  CHECK(jobs[0].attempts == 2);
  CHECK(jobs[0].deliveries == 2);
  CHECK(jobs[0].replays == 0);
}

// -- moves --------------------------------------------------------------------

TEMPLATE_TEST_CASE(
  "a message that is moved is as its record says but what was "
  "set at publish",
  "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1, "key");
  auto move = moved(one, 2);
  auto expected = arrived(move);
  move.job.payload = payload{"ignored"};
  move.job.idempotency_key = "ignored";
  move.job.limit_key = "ignored";
  move.job.context = job_context{};
  move.job.priority = 9;
  move.job.created_at = at(777);
  commit(world.disk(), three_queues());
  auto answers = commit(world.disk(), {published(one), retried(one, 1), move});
  CHECK(answers[2].done);
  world.restart();
  CHECK_FALSE(find(world.disk(), one.id));
  auto found = find(world.disk(), expected.id);
  REQUIRE(found);
  CHECK(found->job == expected);
  CHECK(found->history == std::vector{sample_entry(1)});
  CHECK(message_of(world.disk(), one.id) == expected);
  CHECK(queue(world.disk(), 1).jobs.empty());
  auto jobs = queue(world.disk(), 2).jobs;
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].replays == 2);
  CHECK(jobs[0].due == expected.due);
}

TEMPLATE_TEST_CASE("a move that cannot be made changes nothing", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto live = sample_job(1, 1);
  auto ended = sample_job(1, 2);
  auto end = completed(ended, 1);
  auto elsewhere = moved(live, 1);
  elsewhere.job.id.queue = queue_id{2};
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(live), published(ended), end});
  auto answers = commit(world.disk(), {moved(live, 9), moved(ended, 2),
                                       elsewhere, moved(sample_job(1, 3), 2),
                                       moved(sample_job(9, 1), 2)});
  for (auto& answer : answers)
    CHECK_FALSE(answer.done);
  CHECK(message_of(world.disk(), live.id) == live);
  CHECK(message_of(world.disk(), ended.id) == end.job);
}

TEMPLATE_TEST_CASE("a move that leaves the message ended fails its batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one)});
  auto bad = moved(one, 2);
  bad.job.status = job_status::dead;
  CHECK(is_refused(world.disk(), bad));
  CHECK(message_of(world.disk(), one.id) == one);
}

TEMPLATE_TEST_CASE("a message goes to the dead letters and back, and ends", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto there = moved(one, 2);
  auto back = there;
  back.job.id.queue = queue_id{2};
  back.job.source_queue.clear();
  back.to = queue_id{1};
  auto end = completed(one, 4);
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), there});
  commit(world.disk(), {back, end});
  world.restart();
  auto found = message_of(world.disk(), one.id);
  REQUIRE(found);
  CHECK(found->id == one.id);
  CHECK(found->status == job_status::completed);
  CHECK(found->source_queue.empty());
  CHECK(found->source_receives == 0);
  CHECK_FALSE(found->dead_lettered_at);
  CHECK(found->replays == 2);
  CHECK(queue(world.disk(), 1).queue.completed == 1);
  CHECK(queue(world.disk(), 2).queue.completed == 0);
  auto answers = commit(world.disk(), {remove_jobs{queue_id{2}, {one.id.seq}},
                                       remove_jobs{queue_id{1}, {one.id.seq}}});
  CHECK(answers[0].completed == 0);
  CHECK(answers[1].completed == 1);
  CHECK_FALSE(message_of(world.disk(), one.id));
}

TEMPLATE_TEST_CASE("a message takes its history along, and the entry of a move",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto first = retried(one, 1);
  auto move = moved(one, 2);
  move.entry = sample_entry(2);
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), first, move});
  world.restart();
  auto expected = std::vector{*first.entry, *move.entry};
  CHECK(find(world.disk(), arrived(move).id)->history == expected);
  auto found = open_reader(world.disk())->find_message(one.id.seq, one.id.tag);
  REQUIRE(found);
  CHECK((*found)->history == expected);
}

TEMPLATE_TEST_CASE("an ended message keeps where it came from", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto move = moved(one, 2);
  auto end = completed(arrived(move), 4);
  auto expected = end.job;
  end.job.source_queue.clear();
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), move, end});
  CHECK(message_of(world.disk(), one.id) == expected);
  auto revival = revived(expected);
  commit(world.disk(), {revival});
  CHECK(message_of(world.disk(), one.id) == revival.job);
}

TEMPLATE_TEST_CASE("a message is stored with where it came from, if anywhere",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto from = sample_job(1, 1);
  from.source_queue = "there";
  from.source_receives = 3;
  from.dead_lettered_at = at(5);
  auto undated = from;
  undated.id.seq = job_seq{2};
  undated.dead_lettered_at.reset();
  auto from_nowhere = sample_job(1, 3);
  auto plain = from_nowhere;
  from_nowhere.source_receives = 3;
  from_nowhere.dead_lettered_at = at(5);
  commit(world.disk(), three_queues());
  commit(world.disk(),
         {published(from), published(undated), published(from_nowhere)});
  CHECK(message_of(world.disk(), from.id) == from);
  CHECK(message_of(world.disk(), undated.id) == undated);
  CHECK(message_of(world.disk(), plain.id) == plain);
}

// -- acks that publish --------------------------------------------------------

TEMPLATE_TEST_CASE("a message that hands over ends with its successor there",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto to = GENERATE(1u, 2u, 3u);
  auto one = sample_job(1, 1, "key");
  auto end = acked(one, 1);
  auto next = sample_job(to, 2, "key 2");
  commit(world.disk(), three_queues());
  auto answers = commit(
    world.disk(), {published(one), hand_over{end, published(next), "there"}});
  CHECK(answers[1].done);
  CHECK_FALSE(answers[1].existing);
  world.restart();
  end.published = successor{next.id, next.created_at, next.eligible_at, false,
                            "there"};
  CHECK(message_of(world.disk(), one.id) == end);
  CHECK(find(world.disk(), one.id)->history.empty());
  CHECK(message_of(world.disk(), next.id) == next);
  CHECK(queue(world.disk(), 1).queue.completed == 1);
  CHECK(queue(world.disk(), to).jobs.size() == 1);
}

TEMPLATE_TEST_CASE("nothing is handed over to a queue that is not there", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  commit(world.disk(), three_queues());
  auto next = published(sample_job(9, 2));
  auto answers = commit(world.disk(),
                        {published(one), hand_over{acked(one, 1), next},
                         hand_over{acked(sample_job(1, 7), 1), next}});
  CHECK_FALSE(answers[1].done);
  CHECK_FALSE(answers[2].done);
  CHECK(message_of(world.disk(), one.id) == one);
  CHECK_FALSE(message_of(world.disk(), next.job.id));
  CHECK(queue(world.disk(), 1).queue.completed == 0);
}

TEMPLATE_TEST_CASE("a message ends although its successor is there already", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto holder = sample_job(2, 2, "key");
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), published(holder)});
  auto next = sample_job(2, 3, "key");
  auto answers = commit(world.disk(),
                        {hand_over{acked(one, 1), published(next)}});
  CHECK(answers[0].done);
  CHECK(answers[0].existing == holder);
  auto end = acked(one, 1);
  end.published = successor{holder.id, holder.created_at, holder.eligible_at,
                            true};
  CHECK(message_of(world.disk(), one.id) == end);
  CHECK_FALSE(message_of(world.disk(), next.id));
}

TEMPLATE_TEST_CASE("a message that hands over under its own key is the holder",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1, "key");
  commit(world.disk(), three_queues());
  auto next = sample_job(1, 2, "key");
  auto answers = commit(
    world.disk(), {published(one), hand_over{acked(one, 1), published(next)}});
  CHECK(answers[1].done);
  CHECK(answers[1].existing == acked(one, 1));
  CHECK_FALSE(message_of(world.disk(), next.id));
}

TEMPLATE_TEST_CASE("a hand-over that cannot be fails its batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  commit(world.disk(), three_queues());
  commit(world.disk(), {published(one), published(sample_job(1, 2))});
  auto next = published(sample_job(2, 3));
  auto ended_next = next;
  ended_next.job.status = job_status::dead;
  auto taken = published(sample_job(2, 2));
  CHECK(is_refused(world.disk(), hand_over{one, next}));
  CHECK(is_refused(world.disk(), hand_over{acked(one, 1), ended_next}));
  CHECK(is_refused(world.disk(), hand_over{acked(one, 1), taken}));
  CHECK(is_refused(world.disk(), hand_over{acked(sample_job(1, 9), 1), next}));
  CHECK(is_refused(world.disk(), hand_over{acked(sample_job(2, 1), 1), next}));
  CHECK(message_of(world.disk(), one.id) == one);
  CHECK_FALSE(message_of(world.disk(), next.job.id));
}

// -- dead messages ------------------------------------------------------------

namespace {

// Messages 1 to 12 of queue 1. Those that 3 divides have not left it, the
// others were moved to queue 2, number n at the moment n; 5 is leased there and
// 8 has been acked.
void fill_dead_messages(store& disk) {
  commit(disk, three_queues());
  for (std::uint64_t seq = 1; seq <= 12; ++seq) {
    auto job = sample_job(1, seq);
    commit(disk, {published(job)});
    if (seq % 3 == 0)
      continue;
    auto move = moved(job, 2);
    move.job.dead_lettered_at = at(static_cast<std::int64_t>(seq));
    commit(disk, {move});
    if (seq == 5)
      commit(disk, {received(arrived(move), 4)});
    if (seq == 8)
      commit(disk, {end_job{acked(arrived(move), 4), std::nullopt}});
  }
  commit(disk, {published(sample_job(2, 20)), published(sample_job(3, 21))});
}

std::vector<std::uint64_t> dead_messages(store& disk, job_page_query query) {
  query.dead_messages = true;
  std::vector<std::uint64_t> found;
  auto reader = open_reader(disk);
  for (auto more = true; more;) {
    auto page = reader->list(query);
    REQUIRE(page);
    CHECK(page->jobs.size() <= query.limit);
    for (const auto& each : page->jobs)
      found.push_back(each.id.seq.value);
    more = page->next_after.has_value();
    if (more) {
      REQUIRE(*page->next_after > query.after);
      query.after = *page->next_after;
    }
  }
  auto count = reader->count_dead_messages(query.queue, query.filter);
  REQUIRE(count);
  CHECK(*count == found.size());
  return found;
}

using numbers = std::vector<std::uint64_t>;

} // namespace

TEMPLATE_TEST_CASE("pages of dead messages have what waits in their queue", "",
                   memory_world, sqlite_world) {
  auto limit = GENERATE(1, 2, 100);
  auto rows_max = GENERATE(1, 3, 1000);
  CAPTURE(limit, rows_max);
  TestType world;
  fill_dead_messages(world.disk());
  job_page_query query;
  query.queue = queue_id{2};
  query.limit = static_cast<std::size_t>(limit);
  query.rows_max = static_cast<std::size_t>(rows_max);
  CHECK(dead_messages(world.disk(), query) == numbers{1, 2, 4, 7, 10, 11, 20});
  query.filter.reason = dead_reason::attempts_exhausted;
  CHECK(dead_messages(world.disk(), query) == numbers{1, 2, 4, 7, 10, 11});
  query.filter.since = at(4);
  query.filter.until = at(10);
  CHECK(dead_messages(world.disk(), query) == numbers{4, 7});
  query.queue = queue_id{1};
  query.filter = {};
  CHECK(dead_messages(world.disk(), query) == numbers{3, 6, 9, 12});
  query.filter.reason = dead_reason::attempts_exhausted;
  CHECK(dead_messages(world.disk(), query).empty());
}

TEMPLATE_TEST_CASE("a dead message comes with its payload where asked", "",
                   memory_world, sqlite_world) {
  TestType world;
  fill_dead_messages(world.disk());
  job_page_query query;
  query.queue = queue_id{2};
  query.dead_messages = true;
  query.limit = 1;
  query.payloads = true;
  auto reader = open_reader(world.disk());
  auto page = reader->list(query);
  REQUIRE(page);
  CHECK(page->jobs[0].payload == sample_job(1, 1).payload);
  CHECK(page->next_after == job_seq{1});
  query.payloads = false;
  CHECK(reader->list(query)->jobs[0].payload.bytes().empty());
}
