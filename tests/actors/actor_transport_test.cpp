// Deliveries to an actor, in virtual time.

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include "tests/testkit/virtual_system.hpp"
#include "tidegate/actor_transport.hpp"
#include "tidegate/memory_store.hpp"
#include "tidegate/service.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

using promise = caf::typed_response_promise<handler_reply>;

/// Has the handler keep a promise.
struct answer_now {
  std::size_t which = 0;
};

/// A handler that a test can tell when to answer.
using scripted_handler =
  caf::typed_actor<caf::replies_to<delivery>::with<handler_reply>,
                   caf::reacts_to<answer_now>>;

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(answer_now)

namespace {

/// What the handler saw, and what it is to do.
struct script {
  /// What it answers; nothing: it keeps the promise.
  std::function<std::optional<handler_reply>(const delivery&)> decide =
    [](const delivery&) { return handler_reply::completed(); };

  std::vector<delivery> arrivals;
  std::vector<promise> kept;

  /// Deliveries that were over before they were answered, or after.
  int senders_down = 0;
};

scripted_handler::behavior_type handle(scripted_handler::pointer self,
                                       std::shared_ptr<script> s) {
  self->set_down_handler([s](const caf::down_msg&) { ++s->senders_down; });
  return {
    [self, s](const delivery& what) -> caf::result<handler_reply> {
      s->arrivals.push_back(what);
      self->monitor(self->current_sender());
      auto said = s->decide(what);
      auto answer = self->make_response_promise<handler_reply>();
      if (said)
        answer.deliver(*said);
      else
        s->kept.push_back(answer);
      return answer;
    },
    [s](answer_now what) {
      s->kept.at(what.which).deliver(handler_reply::completed());
    },
  };
}

job_handler::behavior_type fail_always(job_handler::pointer) {
  return {
    [](const delivery&) -> caf::result<handler_reply> {
      return make_error(caf::sec::runtime_error, "no more stamps");
    },
  };
}

job_handler::behavior_type throw_always(job_handler::pointer) {
  return {
    [](const delivery&) -> caf::result<handler_reply> {
      throw std::runtime_error("out of paper");
    },
  };
}

/// A service in virtual time whose jobs go to an actor.
class office {
public:
  explicit office(std::uint64_t seed = 0)
    : system_({steady_time{1s}, wall_time{1'767'225'600s}}, seed) {
    handler = system_.get().spawn(handle, said);
    door = std::make_shared<actor_transport>(
      system_.get(), job_handler{handler}, [this] { return system_.now(); });
    service_options options;
    options.store = make_memory_store();
    options.transport = door;
    options.now = [this] { return system_.now(); };
    options.random = [this] { return lots_(); };
    options.detach_storage = false;
    service_ = std::make_unique<service>(system_.get(), std::move(options));
    service_->start();
    system_.run();
    queue_settings settings;
    settings.webhook_url = "http://handler.test/";
    settings.concurrency = 2;
    settings.timeout = 10s;
    settings.backoff.type = backoff_settings::kind::fixed;
    settings.backoff.delay = 5;
    settings.backoff.jitter = 0;
    ask<put_queue_result>(service_->registry(), create_queue{"q", settings});
    queue = ask<queue_actor>(service_->registry(), find_queue{"q"});
  }

  ~office() {
    close();
    said->kept.clear();
    kill(handler);
    handler = nullptr;
    system_.run();
  }

  void close() {
    service_->kill();
    door = nullptr;
    queue = nullptr;
    system_.run();
  }

  template <class Reply, class Handle, class Message>
  Reply ask(const Handle& whom, Message what) {
    auto answer = system_.ask<Reply>(whom, std::move(what));
    if (!answer || !*answer)
      throw std::logic_error("refused");
    return std::move(**answer);
  }

  job_id put() {
    publish what;
    what.payload = payload{"{}"};
    return ask<publish_result>(queue, what).id;
  }

  job_record get(job_id id) {
    return ask<job_view>(queue, get_job{id}).record;
  }

  gate_record gate() {
    return ask<queue_view>(queue, get_queue{}).queue.gate;
  }

  void advance(duration by) {
    system_.advance(by);
  }

  /// Has the handler answer what it was sent first of what it keeps.
  void answer() {
    caf::anon_send(handler, answer_now{0});
    system_.run();
  }

  template <class Handle>
  void kill(const Handle& whom) {
    caf::anon_send_exit(whom, caf::exit_reason::kill);
    system_.run();
  }

  moment now() const {
    return system_.now();
  }

  caf::actor_system& system() {
    return system_.get();
  }

  std::shared_ptr<script> said = std::make_shared<script>();
  scripted_handler handler;
  std::shared_ptr<actor_transport> door;
  queue_actor queue;

private:
  virtual_system system_;
  std::mt19937_64 lots_{1};
  std::unique_ptr<service> service_;
};

} // namespace

TEST_CASE("a job comes as a message and its answer is the outcome") {
  office o;
  o.said->decide = [](const delivery&) {
    return handler_reply::completed("done well");
  };
  auto id = o.put();
  auto found = o.get(id);
  CHECK(found.job.status == job_status::completed);
  REQUIRE(found.history.size() == 1);
  CHECK(found.history[0].http_status == 200);
  CHECK(found.history[0].response_excerpt == "done well");
  REQUIRE(o.said->arrivals.size() == 1);
  CHECK(o.said->arrivals[0].job == id);
  CHECK(o.said->arrivals[0].queue_name == "q");
  CHECK(o.said->arrivals[0].payload.bytes() == "{}");
}

TEST_CASE("not now holds the queue, and one probe opens it") {
  office o{GENERATE(0, 1, 2, 3)};
  o.said->decide = [](const delivery&) {
    return handler_reply::deferred(1500ms, "busy");
  };
  auto first = o.put();
  CHECK(o.gate().state == gate_state::held);
  CHECK(o.gate().release_at == o.now().wall + 1500ms);
  for (int i = 0; i < 4; ++i)
    o.put();
  o.said->decide = [](const delivery&) { return std::nullopt; };
  o.advance(1499ms);
  CHECK(o.said->arrivals.size() == 1);
  o.advance(10ms);
  REQUIRE(o.said->arrivals.size() == 2);
  CHECK(o.said->arrivals[1].probe);
  CHECK(o.said->arrivals[1].attempt == 1);
  CHECK(o.said->arrivals[1].defers == (o.said->arrivals[1].job == first));
  CHECK(o.gate().state == gate_state::probing);
  o.said->decide = [](const delivery&) { return handler_reply::completed(); };
  o.answer();
  o.advance(1ms);
  CHECK(o.gate().state == gate_state::open);
  CHECK(o.said->arrivals.size() == 6);
}

TEST_CASE("a defer may name an instant, a part of a millisecond or nothing") {
  office o;
  auto wall = o.now().wall;
  auto [said, wait] = GENERATE_COPY(table<handler_reply, duration>(
    {{handler_reply::deferred_until(wall + 1h), 1h},
     {handler_reply::deferred_until(wall - 1h), 0s},
     {handler_reply::deferred(1us), 1ms},
     {handler_reply::deferred(-1s), 0s},
     {handler_reply{handler_reply::kind::deferred}, 60s}}));
  auto calls = std::make_shared<int>(0);
  o.said->decide = [said = said, calls](const delivery&) {
    return (*calls)++ == 0 ? said : handler_reply::completed();
  };
  auto found = o.get(o.put());
  REQUIRE(!found.history.empty());
  CHECK(found.history[0].status == delivery_status::deferred);
  CHECK(found.history[0].retry_after == wait);
  CHECK(found.job.defers == 1);
}

TEST_CASE("a wait beyond all clocks is a hold until the farthest instant") {
  office o;
  o.said->decide = [](const delivery&) {
    return handler_reply::deferred(duration::max());
  };
  o.put();
  CHECK(o.gate().state == gate_state::held);
  CHECK(o.gate().release_at == far_future);
}

TEST_CASE("what failed is tried again, what is refused is not") {
  office o;
  o.said->decide = [](const delivery& what) {
    return what.attempt == 1 ? handler_reply::failed("try again")
                             : handler_reply::refused("no such address");
  };
  auto id = o.put();
  CHECK(o.get(id).job.attempts == 1);
  CHECK(o.get(id).job.waits_for == wait_kind::backoff);
  o.advance(5s);
  auto found = o.get(id);
  CHECK(found.job.status == job_status::dead);
  CHECK(found.job.dead_reason == dead_reason::nack_not_retryable);
  CHECK(found.job.attempts == 2);
  REQUIRE(found.history.size() == 2);
  CHECK(found.history[0].response_excerpt == "try again");
  CHECK(found.history[1].response_excerpt == "no such address");
}

TEST_CASE("an error as the answer is a failure that says so") {
  office o;
  auto other = o.system().spawn(fail_always);
  o.door->use(other);
  auto found = o.get(o.put());
  REQUIRE(found.history.size() == 1);
  CHECK(found.history[0].status == delivery_status::failed);
  CHECK(found.history[0].http_status == 500);
  CHECK(found.history[0].response_excerpt.find("no more stamps")
        != std::string::npos);
  o.kill(other);
}

// -- no answer ----------------------------------------------------------------

TEST_CASE("an answer that does not come is a timeout at the deadline") {
  office o;
  o.said->decide = [](const delivery&) { return std::nullopt; };
  auto id = o.put();
  o.advance(9999ms);
  CHECK(o.get(id).history.empty());
  CHECK(o.said->senders_down == 0);
  o.advance(1ms);
  auto found = o.get(id);
  REQUIRE(found.history.size() == 1);
  CHECK(found.history[0].error_code == delivery_errc::timeout);
  CHECK(found.history[0].took == 10s);
  CHECK(found.job.attempts == 1);
  CHECK(o.said->senders_down == 1);
  o.answer();
  o.advance(1s);
  CHECK(o.get(id).history.size() == 1);
  CHECK(o.get(id).job.status != job_status::completed);
}

TEST_CASE("each delivery has a deadline of its own") {
  office o;
  o.said->decide = [](const delivery&) { return std::nullopt; };
  auto first = o.put();
  o.advance(4s);
  auto second = o.put();
  o.advance(6s);
  CHECK(o.get(first).history.size() == 1);
  CHECK(o.get(second).history.empty());
  o.advance(4s);
  CHECK(o.get(second).history.size() == 1);
}

TEST_CASE("a handler that dies fails what it had and what comes later") {
  office o{GENERATE(0, 1, 2, 3)};
  o.said->decide = [](const delivery&) { return std::nullopt; };
  auto first = o.put();
  auto second = o.put();
  o.kill(o.handler);
  for (auto id : {first, second}) {
    REQUIRE(o.get(id).history.size() == 1);
    CHECK(o.get(id).history[0].error_code == delivery_errc::connection_reset);
  }
  auto third = o.put();
  REQUIRE(o.get(third).history.size() == 1);
  CHECK(o.get(third).history[0].error_code == delivery_errc::connect_failed);
  o.said->decide = [](const delivery&) { return handler_reply::completed(); };
  auto heir = o.system().spawn(handle, o.said);
  o.door->use(heir);
  o.advance(5s);
  for (auto id : {first, second, third})
    CHECK(o.get(id).job.status == job_status::completed);
  o.kill(heir);
}

TEST_CASE("a handler that throws is dead") {
  office o;
  auto other = o.system().spawn(throw_always);
  o.door->use(other);
  auto found = o.get(o.put());
  REQUIRE(found.history.size() == 1);
  CHECK(found.history[0].error_code == delivery_errc::connection_reset);
}

TEST_CASE("what one handler has is not ended by the death of another") {
  office o;
  o.said->decide = [](const delivery&) { return std::nullopt; };
  auto id = o.put();
  auto other = o.system().spawn(fail_always);
  o.door->use(other);
  o.kill(other);
  CHECK(o.get(id).history.empty());
  o.answer();
  o.advance(0s);
  CHECK(o.get(id).job.status == job_status::completed);
}

// -- ended early --------------------------------------------------------------

TEST_CASE("a job that is cancelled is not waited for") {
  office o;
  o.said->decide = [](const delivery&) { return std::nullopt; };
  auto id = o.put();
  CHECK(o.said->senders_down == 0);
  o.ask<job_view>(o.queue, cancel_job{id});
  CHECK(o.said->senders_down == 1);
  o.answer();
  o.advance(1min);
  CHECK(o.get(id).job.status == job_status::dead);
  CHECK(o.get(id).job.dead_reason == dead_reason::cancelled);
  CHECK(o.said->arrivals.size() == 1);
}

TEST_CASE("a service that stops leaves no delivery behind") {
  office o;
  o.said->decide = [](const delivery&) { return std::nullopt; };
  o.put();
  o.put();
  o.close();
  CHECK(o.said->senders_down == 2);
  o.said->kept.clear();
  o.kill(o.handler);
  CHECK(o.system().registry().running() == 0);
}

TEST_CASE("a transport that goes answers what it had, exactly once") {
  office o;
  o.said->decide = [](const delivery&) { return std::nullopt; };
  auto now = [&o] { return o.now(); };
  auto door = std::make_shared<actor_transport>(o.system(),
                                                job_handler{o.handler}, now);
  std::vector<delivery_errc> heard;
  delivery what;
  what.timeout = 10s;
  auto call = door->post(what, [&](delivery_reply reply) {
    heard.push_back(reply.error_code);
  });
  o.advance(1s);
  CHECK(heard.empty());
  door = nullptr;
  o.advance(1s);
  CHECK(heard == std::vector{delivery_errc::aborted});
  call->abort();
  o.answer();
  o.advance(1min);
  CHECK(heard.size() == 1);
}

TEST_CASE("an abort is heard once, and a late one not at all") {
  office o;
  auto answers = GENERATE(false, true);
  o.said->decide = [=](const delivery&) {
    return answers ? std::optional{handler_reply::completed()} : std::nullopt;
  };
  std::vector<delivery_errc> heard;
  delivery what;
  what.timeout = 10s;
  auto call = o.door->post(what, [&](delivery_reply reply) {
    heard.push_back(reply.error_code);
  });
  o.advance(1s);
  call->abort();
  call->abort();
  o.advance(1min);
  auto expected = answers ? delivery_errc::none : delivery_errc::aborted;
  CHECK(heard == std::vector{expected});
}
