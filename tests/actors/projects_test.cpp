// What belongs to one project is not there for another one.

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

queue_view create(world& w, const std::string& project,
                  const std::string& name) {
  return w
    .ask<put_queue_result>(w.registry(),
                           create_queue{name, some_settings(), project})
    .view;
}

queue_actor find(world& w, const std::string& project,
                 const std::string& name) {
  return w.ask<queue_actor>(w.registry(), find_queue{name, project});
}

std::string names_of(world& w, const std::string& project,
                     std::size_t limit = 100) {
  std::string result;
  list_queues request{project, {}, limit};
  do {
    auto page = w.ask<queue_list>(w.registry(), request);
    for (const auto& q : page.items)
      result += q.queue.name;
    request.after = page.next_after;
  } while (!request.after.empty());
  return result;
}

} // namespace

TEST_CASE("two projects may each have a queue of the same name") {
  world w;
  auto ours = create(w, "ours", "q").queue;
  auto theirs = create(w, "theirs", "q").queue;
  CHECK(ours.project == "ours");
  CHECK(theirs.project == "theirs");
  CHECK(ours.id != theirs.id);
  CHECK(refusal_of([&] { create(w, "ours", "q"); }) == errc::queue_exists);
  auto view = w.ask<queue_view>(find(w, "theirs", "q"), get_queue{});
  CHECK(view.queue.id == theirs.id);
}

TEST_CASE("a project lists its own queues only, page after page") {
  world w;
  for (auto name : {"c", "a", "b"})
    create(w, "m", name);
  for (auto name : {"z", "b"})
    create(w, "a", name);
  create(w, "z", "a");
  for (std::size_t limit : {1, 2, 3, 100}) {
    CHECK(names_of(w, "m", limit) == "abc");
    CHECK(names_of(w, "a", limit) == "bz");
    CHECK(names_of(w, "z", limit) == "a");
    CHECK(names_of(w, "none", limit).empty());
  }
}

TEST_CASE("a job of another project is not found") {
  world w;
  create(w, "ours", "q");
  publish what;
  what.payload = payload{"1"};
  auto id = w.ask<publish_result>(find(w, "ours", "q"), what).id;
  CHECK(w.ask<queue_actor>(w.registry(), find_queue_of{id, "ours"}));
  CHECK(refusal_of([&] {
          w.ask<queue_actor>(w.registry(), find_queue_of{id, "theirs"});
        })
        == errc::job_not_found);
  CHECK(refusal_of([&] { find(w, "theirs", "q"); }) == errc::queue_not_found);
}

TEST_CASE("deleting a queue leaves that of another project alone") {
  world w;
  create(w, "ours", "q");
  create(w, "theirs", "q");
  w.ask<queue_deleted>(w.registry(), delete_queue{"q", true, "ours"});
  CHECK(names_of(w, "ours").empty());
  CHECK(names_of(w, "theirs") == "q");
}

TEST_CASE("projects are there again after a crash") {
  world w;
  create(w, "ours", "q");
  create(w, "theirs", "q");
  w.crash();
  CHECK(names_of(w, "ours") == "q");
  CHECK(find(w, "ours", "q") != find(w, "theirs", "q"));
}

TEST_CASE("a project that cannot be named is refused") {
  world w;
  CHECK(refusal_of([&] { create(w, "", "q"); }) == errc::validation_failed);
  CHECK(refusal_of([&] { create(w, "a/b", "q"); }) == errc::validation_failed);
}

TEST_CASE("a message of another project is not found, whatever its queue is") {
  world w;
  auto pull = [&](const std::string& project) {
    create_pull_queue what;
    what.project = project;
    what.name = "q";
    what.settings.max_receive_count = 1;
    w.ask<pull_queue_created>(w.registry(), what);
    return w.ask<pull_queue_actor>(w.registry(),
                                   find_pull_queue{project, "q", false});
  };
  auto ours = pull("ours");
  auto theirs = pull("theirs");
  publish_message message;
  message.payload = payload{"1"};
  settle_message nack;
  nack.what = settle_message::kind::nack;
  nack.id = w.ask<message_published>(theirs, message).id;
  auto refusal = [&](const pull_queue_actor& queue) {
    return refusal_of([&] { w.ask<message_settled>(queue, nack); });
  };
  CHECK(refusal(ours) == errc::message_not_found);
  CHECK(refusal(theirs) == errc::message_not_in_flight);
  w.ask<messages_received>(theirs, consume_messages{});
  w.ask<message_settled>(theirs, nack);
  w.advance(1s);
  CHECK(refusal(ours) == errc::message_not_found);
  CHECK(refusal(theirs) == errc::message_not_in_flight);
}
