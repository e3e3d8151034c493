// Calls and messages: what the gateway asks whom, and what it answers.

#include "http/gateway_actor.hpp"

#include <atomic>
#include <future>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

const job_id some_job{queue_id{1}, job_seq{2}, 3};

/// What the fakes were asked, counted. Only read once an answer is there.
struct counts {
  std::atomic<int> find = 0;
  std::atomic<int> find_of = 0;
};

template <class T>
caf::error refuse(const T&) {
  return to_caf({errc::not_ack_mode, "no"});
}

/// Answers everything with something that tells what was asked.
queue_actor::behavior_type make_queue(queue_actor::pointer) {
  auto view = [](const char* name) {
    queue_view result;
    result.queue.name = name;
    result.queue.secret = "whsec_x";
    return result;
  };
  auto job = [](std::uint64_t attempts) {
    job_view result;
    result.record.job.payload = payload{"1"};
    result.record.job.attempts = attempts;
    return result;
  };
  return {
    [](const publish&) { return publish_result{}; },
    [](const publish_batch& x) {
      publish_batch_result result;
      for (std::size_t i = 0; i < x.jobs.size(); ++i)
        result.results.emplace_back(error{errc::queue_full, ""});
      return result;
    },
    [](const ack_job& x) { return report_taken{x.id}; },
    [](const nack_job& x) -> caf::result<report_taken> { return refuse(x); },
    [](const defer_job& x) { return report_taken{x.id}; },
    [](const touch_job& x) { return report_taken{x.id}; },
    [=](const get_job&) { return job(1); },
    [=](const cancel_job&) { return job(2); },
    [=](const run_job_now&) { return job(3); },
    [=](const replay_job&) { return job(4); },
    [](const list_jobs&) {
      return job_list{{}, job_seq{5}};
    },
    [](const delete_dead_letters&) { return jobs_removed{6}; },
    [](const replay_dead_letters&) {
      replay_plan result;
      result.count = 7;
      return result;
    },
    [=](const get_queue&) { return view("get"); },
    [=](const patch_queue&) { return view("patch"); },
    [=](const pause_queue&) { return view("pause"); },
    [=](const resume_queue&) { return view("resume"); },
    [=](const hold_queue&) { return view("hold"); },
    [=](const release_queue&) { return view("release"); },
    [](const purge_queue&) { return jobs_removed{8}; },
    [=](const rotate_secret&) { return view("rotate"); },
    [](const list_limit_keys&) {
      return limit_key_list{{}, "k"};
    },
    [](const release_limit_key& x) {
      limit_key_view result;
      result.key = x.key;
      return result;
    },
  };
}

/// Knows the queue `q` and the job `some_job`, of the project `acme` only.
registry_actor::behavior_type
make_registry(registry_actor::pointer, std::shared_ptr<counts> seen,
              std::shared_ptr<queue_actor> queue) {
  return {
    [](const create_queue&) {
      return put_queue_result{{}, true};
    },
    [](const put_queue&) { return put_queue_result{}; },
    [](const delete_queue&) { return queue_deleted{}; },
    [](const list_queues&) {
      return queue_list{{}, "q"};
    },
    [=](const find_queue& x) -> caf::result<queue_actor> {
      ++seen->find;
      if (x.project != "acme" || x.name != "q")
        return to_caf({errc::queue_not_found, "no queue"});
      return *queue;
    },
    [=](const find_queue_of& x) -> caf::result<queue_actor> {
      ++seen->find_of;
      if (x.project != "acme" || x.id.queue != some_job.queue)
        return to_caf({errc::job_not_found, "no job"});
      return *queue;
    },
    [](const create_pull_queue&) { return pull_queue_created{}; },
    [](const list_pull_queues&) { return pull_queue_list{}; },
    [](const find_pull_queue&) -> caf::result<pull_queue_actor> {
      return to_caf({errc::queue_not_found, "no pull queue"});
    },
    [](const check_ready&) { return ready_for_work{}; },
  };
}

operations_actor::behavior_type make_operations(operations_actor::pointer) {
  return {
    [](const list_operations&) { return operation_list{}; },
    [](const get_operation& x) {
      operation_record result;
      result.id = x.id;
      return result;
    },
    [](const cancel_operation&) -> caf::result<operation_record> {
      return to_caf({errc::not_found, "no operation"});
    },
  };
}

access_actor::behavior_type make_access(access_actor::pointer) {
  return {
    [](const create_api_key& x) {
      auto result = x.key;
      result.id = {9};
      return result;
    },
    [](const list_api_keys&) { return api_key_list{}; },
    [](const revoke_api_key&) { return api_key_revoked{}; },
    [](const get_usage&) { return usage_list{}; },
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
    if (future.wait_for(std::chrono::seconds{10}) != std::future_status::ready)
      throw std::runtime_error{"no answer came"};
    return future.get();
  }

private:
  std::promise<response> reply_;
};

struct fixture {
  caf::actor_system_config config;
  caf::actor_system system{config};
  std::shared_ptr<counts> seen = std::make_shared<counts>();
  std::shared_ptr<queue_actor> queue =
    std::make_shared<queue_actor>(system.spawn(make_queue));
  registry_actor registry = system.spawn(make_registry, seen, queue);
  operations_actor operations = system.spawn(make_operations);
  access_actor access = system.spawn(make_access);
  gateway_actor gateway =
    system.spawn(make_gateway, gateway_peers{registry, operations, access});

  ~fixture() {
    caf::anon_send_exit(gateway, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(registry, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(operations, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(access, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(*queue, caf::exit_reason::user_shutdown);
  }

  /// Asks as a caller of `project` would.
  response ask(std::string_view method, const std::string& target,
               std::string body = {}, std::string project = "acme") {
    auto match = std::get<route_match>(find_route(method, target));
    request what{std::move(match),
                 {{7}, std::move(project), scope_set::all()},
                 {},
                 std::move(body),
                 "id",
                 nullptr};
    auto parsed = read_call(what, {});
    if (auto refused = std::get_if<response>(&parsed))
      return *refused;
    auto sink = std::make_shared<promised_reply>();
    caf::anon_send(gateway,
                   std::make_shared<pending_call>(pending_call{
                     std::move(std::get<call>(parsed)), responder{sink, 0}}));
    return sink->get();
  }

  json ask_json(std::string_view method, const std::string& target,
                std::string body = {}) {
    return json::parse(ask(method, target, std::move(body)).body);
  }

  /// Replaces the queue by a new one of the same name.
  void replace_queue() {
    caf::scoped_actor self{system};
    self->monitor(*queue);
    caf::anon_send_exit(*queue, caf::exit_reason::user_shutdown);
    self->receive([](const caf::down_msg&) {});
    *queue = system.spawn(make_queue);
  }
};

std::string job(const std::string& rest = {}) {
  return "/v1/jobs/" + to_string(some_job) + rest;
}

} // namespace

TEST_CASE_METHOD(fixture, "each call to a queue gets the answer to it") {
  for (std::string verb : {"pause", "resume", "release"})
    CHECK(ask_json("POST", "/v1/queues/q/" + verb)["name"] == verb);
  CHECK(ask_json("GET", "/v1/queues/q")["name"] == "get");
  CHECK(ask_json("PATCH", "/v1/queues/q", "{}")["name"] == "patch");
  CHECK(ask_json("POST", "/v1/queues/q/hold", R"({"retryAfter":1})")["name"]
        == "hold");
  CHECK(ask_json("POST", "/v1/queues/q/signing-secret/rotate")["signingSecret"]
        == "whsec_x");
  CHECK(ask_json("GET", "/v1/queues/q/signing-secret")["signingSecret"]
        == "whsec_x");
  CHECK(ask("POST", "/v1/queues/q/jobs", R"({"payload":1})").status == 201);
  CHECK(ask_json("GET", "/v1/queues/q/jobs")["nextCursor"].is_string());
  CHECK(ask_json("GET", "/v1/queues/q/dlq")["items"].empty());
  CHECK(ask_json("DELETE", "/v1/queues/q/dlq")["count"] == 6);
  CHECK(ask_json("POST", "/v1/queues/q/dlq/replay")["count"] == 7);
  CHECK(ask_json("POST", "/v1/queues/q/purge")["count"] == 8);
  CHECK(ask_json("GET", "/v1/queues/q/keys")["nextCursor"].is_string());
  CHECK(ask_json("POST", "/v1/queues/q/keys/t%2F7/release")["key"] == "t/7");
}

TEST_CASE_METHOD(fixture, "each call to a job gets the answer to it") {
  CHECK(ask_json("GET", job())["attempts"] == 1);
  CHECK(ask_json("DELETE", job())["attempts"] == 2);
  CHECK(ask_json("POST", job("/run-now"))["attempts"] == 3);
  CHECK(ask_json("POST", job("/replay"))["attempts"] == 4);
  for (auto [verb, body] : {std::pair{"/ack", "{}"},
                            {"/defer", R"({"retryAfter":1})"},
                            {"/touch", R"({"extend":1})"}})
    CHECK(ask_json("POST", job(verb), body)
          == json{{"id", to_string(some_job)}, {"accepted", true}});
  CHECK(ask("POST", job("/nack")).status == 409);
}

TEST_CASE_METHOD(fixture, "calls that are no queue's go where they belong") {
  CHECK(
    ask("POST", "/v1/queues", R"({"name":"n","webhookUrl":"http://a/"})").status
    == 201);
  CHECK(ask("PUT", "/v1/queues/n", R"({"webhookUrl":"http://a/"})").status
        == 200);
  CHECK(ask("DELETE", "/v1/queues/n").status == 204);
  CHECK(ask_json("GET", "/v1/queues")["nextCursor"].is_string());
  CHECK(ask_json("GET", "/v1/operations")["items"].empty());
  CHECK(ask_json("GET", "/v1/operations/op_3")["id"] == "op_3");
  CHECK(ask("DELETE", "/v1/operations/op_3").status == 404);
  auto made = ask_json("POST", "/v1/keys",
                       R"({"project":"p","scopes":["read"]})");
  CHECK(made["id"] == "key_9");
  CHECK(made["key"].get<std::string>().starts_with("sq_live_"));
  CHECK(ask_json("GET", "/v1/keys")["items"].empty());
  CHECK(ask("DELETE", "/v1/keys/key_9").status == 204);
  CHECK(ask_json("GET", "/v1/usage?by=day")["by"] == "day");
  CHECK(ask("GET", "/healthz").status == 200);
  CHECK(ask("GET", "/readyz").status == 200);
}

TEST_CASE_METHOD(fixture, "refusals of a batch and of its queue are merged") {
  auto results = ask_json("POST", "/v1/queues/q/jobs/batch",
                          R"({"jobs":[1,{"payload":1},2]})")["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["code"] == "validation_failed");
  CHECK(results[1]["code"] == "queue_full");
  CHECK(results[2]["code"] == "validation_failed");
  CHECK(
    ask_json("POST", "/v1/queues/q/jobs/batch", R"({"jobs":[1]})")["results"]
      .size()
    == 1);
  CHECK(ask("POST", "/v1/queues/r/jobs/batch", R"({"jobs":[1]})").status
        == 404);
}

TEST_CASE_METHOD(fixture, "a queue is looked up once") {
  for (auto i = 0; i < 3; ++i) {
    ask("GET", "/v1/queues/q");
    ask("GET", job());
  }
  CHECK(seen->find == 1);
  CHECK(seen->find_of == 1);
}

TEST_CASE_METHOD(fixture, "what another project has is not found") {
  ask("GET", "/v1/queues/q");
  ask("GET", job());
  CHECK(ask("GET", "/v1/queues/q", {}, "other").status == 404);
  CHECK(ask("POST", "/v1/queues/q/jobs", R"({"payload":1})", "other").status
        == 404);
  for (auto verb : {"", "/ack", "/replay"}) {
    auto missed = ask(*verb ? "POST" : "GET", job(verb), {}, "other");
    CHECK(missed.status == 404);
    CHECK(json::parse(missed.body)["code"] == "job_not_found");
  }
}

TEST_CASE_METHOD(fixture, "a handle of a queue that is gone is replaced") {
  CHECK(ask("GET", "/v1/queues/q").status == 200);
  CHECK(ask("GET", job()).status == 200);
  replace_queue();
  CHECK(ask("GET", "/v1/queues/q").status == 200);
  CHECK(ask("GET", job()).status == 200);
  CHECK(seen->find == 2);
  CHECK(seen->find_of == 2);
}
