// Queues come, change and go.

#include <catch2/catch.hpp>

#include "tests/testkit/world.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

template <class Reply, class Message>
error refusal(world& w, Message what) {
  auto answer = w.system().ask<Reply>(w.registry(), std::move(what));
  REQUIRE(answer);
  REQUIRE_FALSE(*answer);
  return (*answer).reason();
}

queue_settings to(std::string url) {
  queue_settings result;
  result.webhook_url = std::move(url);
  return result;
}

} // namespace

TEST_CASE("of many who create a queue at once one succeeds") {
  world w{11};
  std::vector<std::shared_ptr<std::optional<result<put_queue_result>>>> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(w.system().begin_ask<put_queue_result>(
      w.registry(), create_queue{"q", some_settings()}));
  w.advance(1s);
  int created = 0;
  for (auto& answer : all) {
    REQUIRE(*answer);
    if (**answer)
      ++created;
    else
      CHECK((**answer).reason().code == errc::queue_exists);
  }
  CHECK(created == 1);
}

TEST_CASE("a put creates a queue or replaces its settings, never its state") {
  world w;
  auto put = [&](std::uint32_t concurrency) {
    auto settings = some_settings();
    settings.concurrency = concurrency;
    auto answer = w.system().ask<put_queue_result>(w.registry(),
                                                   put_queue{"q", settings});
    REQUIRE(answer);
    REQUIRE(*answer);
    return std::move(**answer);
  };
  auto first = put(3);
  CHECK(first.created);
  w.downstream().behave(always({429, "60"}));
  w.put("q");
  w.advance(1s);
  w.pause("q");
  auto second = put(4);
  CHECK_FALSE(second.created);
  CHECK(second.view.queue.settings.concurrency == 4);
  CHECK(second.view.queue.paused);
  CHECK(second.view.queue.gate.state == gate_state::held);
  CHECK(second.view.queue.secret == first.view.queue.secret);
}

TEST_CASE("a queue with live jobs goes only by force, and takes them along") {
  world w;
  w.create("q");
  w.downstream().behave(always({200, "", 5s}));
  auto id = w.put("q").id;
  w.put("q");
  CHECK(refusal<queue_deleted>(w, delete_queue{"q", false}).code
        == errc::queue_not_empty);
  auto forced = w.system().ask<queue_deleted>(w.registry(),
                                              delete_queue{"q", true});
  REQUIRE(forced);
  CHECK(*forced);
  CHECK(refusal<queue_actor>(w, find_queue{"q"}).code == errc::queue_not_found);
  CHECK(refusal<queue_actor>(w, find_queue_of{id}).code == errc::job_not_found);
  w.create("q");
  w.advance(1min);
  auto q = w.get("q");
  CHECK(q.counts == queue_counts{});
  w.crash();
  CHECK(w.get("q").counts == queue_counts{});
}

TEST_CASE("settings that are wrong are refused and change nothing") {
  world w;
  w.create("q", to("http://a.test/"));
  auto wrong = some_settings();
  wrong.concurrency = 0;
  auto reason = refusal<put_queue_result>(w, put_queue{"q", wrong});
  CHECK(reason.code == errc::validation_failed);
  CHECK(reason.message == "concurrency must be 1 to 10000, got 0");
  CHECK(refusal<put_queue_result>(w, create_queue{".q", some_settings()}).code
        == errc::validation_failed);
  CHECK(w.get("q").queue.settings.webhook_url == "http://a.test/");
}

TEST_CASE("queues are listed by name, page after page") {
  world w;
  for (auto name : {"d", "a", "c", "b", "e"})
    w.create(name);
  std::string seen;
  list_queues request{default_project, "", 2};
  for (;;) {
    auto answer = w.system().ask<queue_list>(w.registry(), request);
    REQUIRE(answer);
    REQUIRE(*answer);
    for (const auto& item : (**answer).items)
      seen += item.queue.name;
    request.after = (**answer).next_after;
    if (request.after.empty())
      break;
  }
  CHECK(seen == "abcde");
}

TEST_CASE("a new URL ends a hold with a probe") {
  world w;
  w.create("q");
  w.downstream().behave(always({429, "3600"}));
  w.put("q");
  w.put("q");
  w.advance(1s);
  REQUIRE(w.get("q").queue.gate.state == gate_state::held);
  w.downstream().behave(always({200}));
  queue_settings_patch patch;
  patch.webhook_url = "http://better.test/";
  w.patch("q", patch);
  w.advance(1s);
  CHECK(w.get("q").counts.completed == 2);
  CHECK(w.downstream().arrivals().back().what.url == "http://better.test/");
}
