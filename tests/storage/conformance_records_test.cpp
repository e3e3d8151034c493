// What every store promises about limit keys, operations, API keys and usage.
// Each case runs on memory and SQLite.

#include <catch2/catch.hpp>

#include "samples.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;
using namespace std::chrono_literals;

namespace {

std::vector<limit_key_record> limit_keys(store& where) {
  auto queues = where.load_queues();
  REQUIRE(queues);
  REQUIRE_FALSE(queues->empty());
  return queues->front().keys;
}

std::vector<operation_record> operations(store& where) {
  auto all = open_reader(where)->operations();
  REQUIRE(all);
  return std::move(*all);
}

std::vector<api_key_record> api_keys(store& where) {
  auto all = open_reader(where)->api_keys();
  REQUIRE(all);
  return std::move(*all);
}

std::uint64_t api_keys_version(store& where) {
  auto version = open_reader(where)->api_keys_version();
  REQUIRE(version);
  return *version;
}

constexpr std::int64_t new_year_2025 = 20'089;

std::vector<usage_record> usage(store& where, const std::string& project,
                                std::int64_t from = new_year_2025,
                                std::int64_t to = new_year_2025) {
  auto all = open_reader(where)->usage(project, from, to);
  REQUIRE(all);
  return std::move(*all);
}

usage_record expected_usage(std::uint32_t queue, std::uint32_t key) {
  usage_record expected;
  expected.project = "acme";
  expected.queue_name = "queue-" + std::to_string(queue);
  expected.queue = queue_id{queue};
  expected.key = api_key_id{key};
  expected.day = new_year_2025;
  return expected;
}

} // namespace

// -- limit keys ---------------------------------------------------------------

TEMPLATE_TEST_CASE("limit keys come back in the order of their bytes", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto high = sample_limit_key("\xff");
  auto low = sample_limit_key(std::string{"a\0b", 3});
  low.gate = gate_record{};
  auto middle = sample_limit_key("b");
  middle.rate.clear();
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          update_limit_key{queue_id{1}, high},
          update_limit_key{queue_id{1}, low},
          update_limit_key{queue_id{2}, sample_limit_key("c")},
          update_limit_key{queue_id{1}, middle}});
  world.restart();
  CHECK(limit_keys(world.disk()) == std::vector{low, middle, high});
}

TEMPLATE_TEST_CASE("a limit key at rest is forgotten", "", memory_world,
                   sqlite_world) {
  TestType world;
  auto key = sample_limit_key("a");
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, update_limit_key{queue_id{1}, key},
          update_limit_key{queue_id{1}, sample_limit_key("b")}});
  key.gate = gate_record{};
  commit(world.disk(), {update_limit_key{queue_id{1}, key}});
  CHECK(limit_keys(world.disk())[0] == key);
  key.rate.clear();
  commit(world.disk(), {update_limit_key{queue_id{1}, key},
                        update_limit_key{queue_id{1}, key}});
  CHECK(limit_keys(world.disk()) == std::vector{sample_limit_key("b")});
}

TEMPLATE_TEST_CASE("the limit keys of a removed queue go with it", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          update_limit_key{queue_id{1}, sample_limit_key("a")},
          update_limit_key{queue_id{2}, sample_limit_key("a")}});
  commit(world.disk(), {remove_queue{queue_id{1}}});
  world.restart();
  CHECK(limit_keys(world.disk()) == std::vector{sample_limit_key("a")});
}

// -- operations ---------------------------------------------------------------

TEMPLATE_TEST_CASE("an operation comes back with every field after a restart",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto full = sample_operation(4, 1);
  full.finished_at = at(9);
  full.error = "the disk is full";
  auto plain = sample_operation(2, 1);
  plain.filter = {};
  plain.limit.reset();
  commit(world.disk(), {insert_queue{sample_queue(1)}, insert_operation{full},
                        insert_operation{plain}});
  world.restart();
  CHECK(operations(world.disk()) == std::vector{plain, full});
  CHECK(*world.disk().last_operation_id() == operation_id{4});
}

TEMPLATE_TEST_CASE("an operation's progress is replaced and nothing else", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto operation = sample_operation(1, 1);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_operation{operation}});
  operation.state = operation_state::failed;
  operation.position = job_seq{3};
  operation.total = 60;
  operation.done = 44;
  operation.finished_at = at(99);
  operation.error = "no";
  auto update = operation;
  update.filter = {};
  update.limit.reset();
  update.per_second = 0;
  update.queue_name.clear();
  update.started_at = at(0);
  commit(world.disk(),
         {update_operation{update}, update_operation{sample_operation(7, 1)}});
  world.restart();
  CHECK(operations(world.disk()) == std::vector{operation});
}

TEMPLATE_TEST_CASE("the operations on a removed queue stay, to be ended", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto failed = sample_operation(1, 1);
  failed.state = operation_state::failed;
  commit(world.disk(), {insert_queue{sample_queue(1)},
                        insert_operation{sample_operation(1, 1)}});
  commit(world.disk(), {remove_queue{queue_id{1}}});
  commit(world.disk(), {update_operation{failed}});
  world.restart();
  CHECK(operations(world.disk()) == std::vector{failed});
}

TEMPLATE_TEST_CASE("an operation whose number is taken fails its batch", "",
                   memory_world, sqlite_world) {
  TestType world;
  std::vector<record> twice{insert_operation{sample_operation(1, 1)},
                            insert_operation{sample_operation(1, 1)}};
  CHECK_FALSE(world.disk().commit(twice));
  CHECK_FALSE(world.disk().reopen());
  CHECK(operations(world.disk()).empty());
  CHECK(*world.disk().last_operation_id() == operation_id{0});
}

// -- API keys -----------------------------------------------------------------

TEMPLATE_TEST_CASE("API keys come back under numbers of their own", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto first = sample_api_key("first");
  auto second = sample_api_key("");
  second.expires_at.reset();
  auto answers = commit(world.disk(),
                        {insert_api_key{first}, insert_api_key{second}});
  CHECK(answers[0].key == api_key_id{1});
  CHECK(answers[1].key == api_key_id{2});
  world.restart();
  first.id = answers[0].key;
  second.id = answers[1].key;
  CHECK(api_keys(world.disk()) == std::vector{first, second});
}

TEMPLATE_TEST_CASE("the number of a removed API key is not given again", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_api_key{sample_api_key("a")},
                        insert_api_key{sample_api_key("b")}});
  auto answers = commit(world.disk(), {remove_api_key{api_key_id{2}},
                                       remove_api_key{api_key_id{2}},
                                       remove_api_key{api_key_id{9}}});
  CHECK(answers[0].done);
  CHECK_FALSE(answers[1].done);
  CHECK_FALSE(answers[2].done);
  world.restart();
  CHECK(api_keys(world.disk()).size() == 1);
  answers = commit(world.disk(), {insert_api_key{sample_api_key("c")}});
  CHECK(answers[0].key == api_key_id{3});
}

TEMPLATE_TEST_CASE("every change of the API keys can be noticed", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto before = api_keys_version(world.disk());
  commit(world.disk(), {insert_api_key{sample_api_key("a")}});
  auto added = api_keys_version(world.disk());
  CHECK(added != before);
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  CHECK(api_keys_version(world.disk()) == added);
  commit(world.disk(), {remove_api_key{api_key_id{1}}});
  auto removed = api_keys_version(world.disk());
  CHECK(removed != before);
  CHECK(removed != added);
  world.restart();
  CHECK(api_keys_version(world.disk()) == removed);
}

// -- usage --------------------------------------------------------------------

TEMPLATE_TEST_CASE("usage counts publishes by key and deliveries by nobody", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto two = sample_job(1, 2);
  auto three = sample_job(2, 3);
  commit(world.disk(),
         {insert_queue{sample_queue(1)}, insert_queue{sample_queue(2)},
          insert_job{one, api_key_id{7}}, insert_job{three, {}}});
  commit(world.disk(),
         {insert_job{two, api_key_id{7}}, retried(one, 1), completed(one, 2)});
  world.restart();
  auto deliveries = expected_usage(1, 0);
  deliveries.deliveries = 2;
  auto publishes = expected_usage(1, 7);
  publishes.publishes = 2;
  publishes.bytes = one.payload.bytes().size() + two.payload.bytes().size();
  auto nobody = expected_usage(2, 0);
  nobody.publishes = 1;
  nobody.bytes = three.payload.bytes().size();
  CHECK(usage(world.disk(), "acme")
        == std::vector{deliveries, publishes, nobody});
}

TEMPLATE_TEST_CASE("usage knows what is no delivery and no publish", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1, "key");
  auto update = retried(job, 1);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job),
                        published(sample_job(1, 2, "key"))});
  for (auto status :
       {delivery_status::failed, delivery_status::deferred,
        delivery_status::interrupted, delivery_status::nacked,
        delivery_status::replayed, delivery_status::lease_nacked,
        delivery_status::lease_released, delivery_status::success}) {
    update.entry->status = status;
    commit(world.disk(), {update});
  }
  update.entry.reset();
  auto end = expired(job);
  commit(world.disk(), {update, end, revived(end.job)});
  auto expected = expected_usage(1, 0);
  expected.publishes = 1;
  expected.bytes = job.payload.bytes().size();
  expected.deliveries = 4;
  CHECK(usage(world.disk(), "acme") == std::vector{expected});
}

TEMPLATE_TEST_CASE("usage counts each receive of a message, and nothing else",
                   "", memory_world, sqlite_world) {
  TestType world;
  auto one = sample_job(1, 1);
  auto job = sample_job(2, 2);
  commit(world.disk(),
         {insert_queue{sample_pull_queue(1)}, insert_queue{sample_queue(2)},
          published(one), published(job)});
  auto first = received(one, 1);
  first.job.due += 24h;
  auto extended = first;
  extended.job.due = at(90'000);
  auto given_back = first;
  given_back.job.status = job_status::pending;
  given_back.job.attempts = 0;
  auto told = received(one, 5);
  told.entry = sample_entry(1);
  told.entry->status = delivery_status::interrupted;
  commit(world.disk(), {first, extended, given_back, received(one, 2)});
  world.restart();
  commit(world.disk(), {received(one, 2), received(one, 3), told,
                        received(job, 1), received(job, 2)});
  auto next = published(sample_job(1, 3));
  next.by = api_key_id{7};
  commit(world.disk(), {hand_over{acked(one, 3), next}});
  auto receives = expected_usage(1, 0);
  receives.publishes = 1;
  receives.receives = 3;
  receives.bytes = one.payload.bytes().size();
  auto successor = expected_usage(1, 7);
  successor.publishes = 1;
  successor.bytes = next.job.payload.bytes().size();
  auto push = expected_usage(2, 0);
  push.publishes = 1;
  push.bytes = job.payload.bytes().size();
  CHECK(usage(world.disk(), "acme") == std::vector{receives, successor, push});
}

TEMPLATE_TEST_CASE("usage is kept by day, to the last microsecond", "",
                   memory_world, sqlite_world) {
  TestType world;
  commit(world.disk(), {insert_queue{sample_queue(1)}});
  auto midnight = at(0) + 24h;
  std::uint64_t seq = 0;
  for (auto when :
       {midnight - 1us, midnight, midnight + 24h, wall_time{} - 1us}) {
    auto job = sample_job(1, ++seq);
    job.created_at = when;
    commit(world.disk(), {published(job)});
  }
  auto all = usage(world.disk(), "acme", -1, new_year_2025 + 9);
  REQUIRE(all.size() == 4);
  CHECK(all[0].day == -1);
  CHECK(all[1].day == new_year_2025);
  CHECK(all[2].day == new_year_2025 + 1);
  CHECK(all[3].day == new_year_2025 + 2);
  CHECK(usage(world.disk(), "acme", new_year_2025 + 1, new_year_2025 + 1)
        == std::vector{all[2]});
  CHECK(usage(world.disk(), "other", -1, new_year_2025 + 9).empty());
}

TEMPLATE_TEST_CASE("usage outlives its queue, but not its name", "",
                   memory_world, sqlite_world) {
  TestType world;
  auto job = sample_job(1, 1);
  commit(world.disk(), {insert_queue{sample_queue(1)}, published(job)});
  commit(world.disk(),
         {published(sample_job(1, 2)), completed(job, 1),
          remove_queue{queue_id{1}}, insert_queue{sample_queue(2, "queue-1")}});
  auto all = usage(world.disk(), "acme");
  REQUIRE(all.size() == 1);
  CHECK(all[0].queue == queue_id{1});
  CHECK(all[0].queue_name.empty());
  CHECK(all[0].publishes == 2);
  CHECK(all[0].deliveries == 1);
}
