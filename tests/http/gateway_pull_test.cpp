// Calls to pull queues: whom the gateway asks, and what it does where there is
// nobody to ask.

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/gateway_actor.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const message_id some_id{job_seq{7}, 8};

/// What the fakes know and were asked. Any thread.
class world {
public:
  void put(const std::string& name, pull_queue_actor queue) {
    std::lock_guard guard{mutex_};
    queues_[name] = std::move(queue);
  }

  /// Queues keep the world and the world keeps queues: parts them.
  void clear() {
    std::lock_guard guard{mutex_};
    queues_.clear();
  }

  /// Returns the queue, if there is one.
  std::optional<pull_queue_actor> find(const find_pull_queue& what) {
    std::lock_guard guard{mutex_};
    ++lookups_[what.name + (what.make ? "!" : "")];
    auto i = queues_.find(what.name);
    if (i == queues_.end())
      return std::nullopt;
    return i->second;
  }

  /// How often it was looked for; with a `!`: to be made.
  int lookups(const std::string& name) {
    std::lock_guard guard{mutex_};
    return lookups_[name];
  }

  void give_back(const return_messages& what) {
    returned_.set_value(what);
  }

  return_messages returned() {
    auto future = returned_.get_future();
    if (future.wait_for(10s) != std::future_status::ready)
      throw std::runtime_error{"nothing was given back"};
    return future.get();
  }

  std::atomic<bool> has_messages = false;

private:
  std::mutex mutex_;
  std::map<std::string, pull_queue_actor> queues_;
  std::map<std::string, int> lookups_;
  std::promise<return_messages> returned_;
};

using world_ptr = std::shared_ptr<world>;

messages_received one_message() {
  message_view result;
  result.job.id = {{}, some_id.seq, some_id.tag};
  result.job.payload = payload{"1"};
  result.handle = make_receipt(some_id, 1);
  return {{result}};
}

/// Answers everything with something that tells what was asked.
pull_queue_actor::behavior_type make_queue(pull_queue_actor::pointer,
                                           world_ptr known, std::string name,
                                           pull_settings settings) {
  pull_queue_view view;
  view.queue.name = name;
  view.queue.pull = settings;
  return {
    [=](const get_pull_queue&) { return view; },
    [=](const patch_pull_queue&) { return view; },
    [=](const subscribe_webhook&) { return view; },
    [=](unsubscribe_webhook) { return view; },
    [](const publish_message&) {
      message_published result;
      result.id = some_id;
      return result;
    },
    [](const publish_messages& x) {
      return message_batch_published{
        std::vector<std::variant<message_published, error>>(x.messages.size())};
    },
    [=](const consume_messages&) {
      return known->has_messages ? one_message() : messages_received{};
    },
    [=](const return_messages& x) { known->give_back(x); },
    [](const settle_message& x) -> caf::result<message_settled> {
      if (x.what == settle_message::kind::release)
        return to_caf({errc::message_not_in_flight, "no"});
      return message_settled{x.id, false, {}, {}, {}};
    },
    [](const settle_messages& x) {
      return messages_settled{
        std::vector<std::variant<message_settled, error>>(x.entries.size())};
    },
    [](const peek_messages&) { return message_page{}; },
    [=](const list_dead_messages&) {
      message_page result;
      result.items = one_message().items;
      result.items[0].queue_name = name;
      return result;
    },
    [](const purge_pull_queue&) { return jobs_removed{3}; },
    [](const redrive_messages&) {
      return redrive_result{4, {}, {}};
    },
  };
}

/// Knows the queues that the world has; `push` is of the other kind.
registry_actor::behavior_type make_registry(registry_actor::pointer,
                                            world_ptr known) {
  auto nowhere = [](const auto&) -> caf::result<queue_actor> {
    return to_caf({errc::queue_not_found, "no queue"});
  };
  return {
    [](const create_queue&) { return put_queue_result{}; },
    [](const put_queue&) { return put_queue_result{}; },
    [](const delete_queue& x) -> caf::result<queue_deleted> {
      if (x.kind == queue_kind::push)
        return to_caf({errc::wrong_queue_kind, "no"});
      return queue_deleted{};
    },
    [](const list_queues&) { return queue_list{}; },
    [=](const find_queue& x) { return nowhere(x); },
    [](const create_pull_queue& x) -> caf::result<pull_queue_created> {
      if (x.name == "push")
        return to_caf({errc::queue_exists, "exists"});
      return pull_queue_created{{}, true};
    },
    [](const list_pull_queues&) {
      return pull_queue_list{{}, "q"};
    },
    [=](const find_pull_queue& x) -> caf::result<pull_queue_actor> {
      if (x.name == "push")
        return to_caf({errc::wrong_queue_kind, "Queue 'push' is another"});
      if (auto queue = known->find(x))
        return *queue;
      return to_caf(
        {errc::queue_not_found, "Queue '" + x.name + "' not found"});
    },
    [=](const find_queue_of& x) { return nowhere(x); },
    [](const check_ready&) { return ready_for_work{}; },
  };
}

/// Keeps the one response.
class promised_reply : public reply_sink {
public:
  void reply(std::uint64_t, response what) override {
    reply_.set_value(std::move(what));
  }

  response get() {
    auto future = reply_.get_future();
    if (future.wait_for(10s) != std::future_status::ready)
      throw std::runtime_error{"no answer came"};
    return future.get();
  }

private:
  std::promise<response> reply_;
};

struct fixture {
  caf::actor_system_config config;
  caf::actor_system system{config};
  world_ptr known = std::make_shared<world>();
  registry_actor registry = system.spawn(make_registry, known);
  gateway_actor gateway = system.spawn(make_gateway,
                                       gateway_peers{registry, {}, {}});
  std::vector<pull_queue_actor> queues;

  ~fixture() {
    caf::anon_send_exit(gateway, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(registry, caf::exit_reason::user_shutdown);
    for (const auto& queue : queues)
      caf::anon_send_exit(queue, caf::exit_reason::user_shutdown);
    known->clear();
  }

  void make(const std::string& name, pull_settings settings = {}) {
    queues.push_back(system.spawn(make_queue, known, name, settings));
    known->put(name, queues.back());
  }

  response ask(std::string_view method, const std::string& target,
               std::string body = {},
               std::shared_ptr<client_watch> watch = {}) {
    auto match = std::get<route_match>(find_route(method, target));
    request what{std::move(match),
                 {{7}, "acme", scope_set::all()},
                 {},
                 std::move(body),
                 "id",
                 nullptr,
                 {},
                 std::move(watch)};
    auto parsed = read_call(what, {});
    if (auto refused = std::get_if<response>(&parsed))
      return *refused;
    auto sink = std::make_shared<promised_reply>();
    caf::anon_send(gateway,
                   std::make_shared<pending_call>(pending_call{
                     std::move(std::get<call>(parsed)), responder{sink, 0}}));
    return sink->get();
  }

  json data(std::string_view method, const std::string& target,
            std::string body = {}) {
    auto got = ask(method, target, std::move(body));
    CHECK(got.shape == body_shape::data);
    return json::parse(got.body);
  }

  /// Returns the code of a refusal.
  std::string code(std::string_view method, const std::string& target,
                   std::string body = {}) {
    auto got = ask(method, target, std::move(body));
    CHECK(got.shape == body_shape::error);
    return json::parse(got.body)["code"];
  }
};

std::string to(const std::string& queue, const std::string& rest) {
  return R"({"queue":")" + queue + "\"," + rest + "}";
}

const std::string id_member = R"("message_id":")" + to_string(some_id) + "\"";

} // namespace

TEST_CASE_METHOD(fixture, "each call to a pull queue gets the answer to it") {
  make("q");
  CHECK(data("GET", "/v1/queue/get/q")["name"] == "q");
  CHECK(data("GET", "/v1/queue/stats/q")["queue"] == "q");
  CHECK(data("PATCH", "/v1/queue/update/q", "{}")["name"] == "q");
  auto published = data("POST", "/v1/queue/publish", to("q", R"("payload":1)"));
  CHECK(published["message_id"] == to_string(some_id));
  CHECK(published["queue"] == "q");
  CHECK(data("POST", "/v1/queue/publish_batch",
             to("q", R"("messages":[{"payload":1},7])"))["results"]
          .size()
        == 2);
  CHECK(data("POST", "/v1/queue/ack", to("q", id_member))["message_id"]
        == to_string(some_id));
  CHECK(code("POST", "/v1/queue/release", to("q", id_member))
        == "QUEUE_MESSAGE_NOT_IN_FLIGHT");
  CHECK(data("POST", "/v1/queue/nack_batch",
             to("q", R"("entries":[{)" + id_member + "}]"))["results"][0]["ok"]
        == true);
  CHECK(data("GET", "/v1/queue/peek/q")["items"].empty());
  CHECK(data("POST", "/v1/queue/purge/q")["count"] == 3);
}

TEST_CASE_METHOD(fixture, "the registry creates, lists and deletes queues") {
  CHECK(ask("POST", "/v1/queue/create", R"({"name":"n"})").status == 201);
  CHECK(code("POST", "/v1/queue/create", R"({"name":"push"})")
        == "QUEUE_ALREADY_EXISTS");
  CHECK(data("GET", "/v1/queue/list")["next_cursor"].is_string());
  CHECK(ask("DELETE", "/v1/queue/delete/q").status == 204);
  auto refused = ask("DELETE", "/v1/queues/q");
  CHECK(refused.status == 409);
  CHECK(json::parse(refused.body)["code"] == "wrong_queue_kind");
}

TEST_CASE_METHOD(fixture, "a push queue is of the wrong kind") {
  CHECK(code("GET", "/v1/queue/get/push") == "WRONG_QUEUE_KIND");
  CHECK(code("POST", "/v1/queue/publish", to("push", R"("payload":1)"))
        == "WRONG_QUEUE_KIND");
  CHECK(code("POST", "/v1/queue/consume", R"({"queue":"push"})")
        == "WRONG_QUEUE_KIND");
  CHECK(code("GET", "/v1/queue/dlq/list/push") == "WRONG_QUEUE_KIND");
}

TEST_CASE_METHOD(fixture, "a pull queue is looked up once") {
  make("q");
  for (auto i = 0; i < 3; ++i)
    data("POST", "/v1/queue/publish", to("q", R"("payload":1)"));
  CHECK(known->lookups("q!") == 1);
  data("GET", "/v1/queue/get/q");
  CHECK(known->lookups("q") == 0);
}

TEST_CASE_METHOD(fixture, "only publishing makes a queue that is not there") {
  CHECK(code("POST", "/v1/queue/publish", to("n", R"("payload":1)"))
        == "QUEUE_NOT_FOUND");
  CHECK(known->lookups("n!") == 1);
  for (auto body : {R"({"queue":"n"})", R"({"queue":"n","wait_seconds":1})"})
    CHECK(code("POST", "/v1/queue/consume", body) == "QUEUE_NOT_FOUND");
  CHECK(code("GET", "/v1/queue/stats/n") == "QUEUE_NOT_FOUND");
  CHECK(code("GET", "/v1/queue/stats/n.dlq") == "QUEUE_NOT_FOUND");
  CHECK(known->lookups("n!") == 1);
}

TEST_CASE_METHOD(fixture,
                 "a dead-letter queue to come answers as an empty one") {
  make("q");
  CHECK(
    data("POST", "/v1/queue/consume", R"({"queue":"q.dlq"})")["items"].empty());
  CHECK(data("GET", "/v1/queue/stats/q.dlq")["depth"] == 0);
  CHECK(data("GET", "/v1/queue/peek/q.dlq")["items"].empty());
  CHECK(data("GET", "/v1/queue/dlq/list/q")["items"].empty());
  CHECK(data("GET", "/v1/queue/dlq/list/q.dlq")["items"].empty());
  CHECK(data("POST", "/v1/queue/dlq/redrive/q")["redriven"] == 0);
  CHECK(code("GET", "/v1/queue/get/q.dlq") == "QUEUE_NOT_FOUND");
  CHECK(code("GET", "/v1/queue/dlq/list/n") == "QUEUE_NOT_FOUND");
}

TEST_CASE_METHOD(fixture, "who waits for dead letters to come gets them") {
  make("q");
  known->has_messages = true;
  auto answered = std::async(std::launch::async, [&] {
    return data("POST", "/v1/queue/consume",
                R"({"queue":"q.dlq","wait_seconds":20})");
  });
  while (known->lookups("q") == 0)
    std::this_thread::yield();
  make("q.dlq");
  CHECK(answered.get()["items"].size() == 1);
}

TEST_CASE_METHOD(fixture, "who waits for dead letters and goes is let go") {
  make("q");
  auto watch = std::make_shared<client_watch>();
  watch->gone = true;
  auto got = ask("POST", "/v1/queue/consume",
                 R"({"queue":"q.dlq","wait_seconds":20})", watch);
  CHECK(got.status == 200);
}

TEST_CASE_METHOD(fixture, "dead letters are where the settings say") {
  pull_settings settings;
  settings.dead_letter_queue = "graves";
  make("q", settings);
  make("graves");
  make("r");
  make("r.dlq");
  auto place = [this](const std::string& name) {
    return data("GET", "/v1/queue/dlq/list/" + name)["items"][0]["queue"];
  };
  CHECK(place("q") == "graves");
  CHECK(place("r") == "r.dlq");
  CHECK(place("r.dlq") == "r.dlq");
  CHECK(data("POST", "/v1/queue/dlq/redrive/q")["redriven"] == 4);
}

TEST_CASE_METHOD(fixture, "a handle of a pull queue that is gone is replaced") {
  make("q");
  data("GET", "/v1/queue/get/q");
  caf::scoped_actor self{system};
  self->monitor(queues.back());
  caf::anon_send_exit(queues.back(), caf::exit_reason::user_shutdown);
  self->receive([](const caf::down_msg&) {});
  make("q");
  CHECK(data("GET", "/v1/queue/get/q")["name"] == "q");
  CHECK(known->lookups("q") == 2);
}

TEST_CASE_METHOD(fixture, "messages whose answer is lost are given back") {
  make("q");
  known->has_messages = true;
  {
    auto got = ask("POST", "/v1/queue/consume", R"({"queue":"q"})");
    REQUIRE(got.notice);
  }
  auto back = known->returned();
  REQUIRE(back.items.size() == 1);
  CHECK(back.items[0].id == some_id);
  CHECK(back.items[0].handle == make_receipt(some_id, 1));
}

TEST_CASE_METHOD(fixture, "an answer without messages has nothing to lose") {
  make("q");
  CHECK_FALSE(ask("POST", "/v1/queue/consume", R"({"queue":"q"})").notice);
}
