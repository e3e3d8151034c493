// How do I use the queue inside my own CAF application, without HTTP?
//
// Starts Tidegate's actors on an ordinary actor system. The "webhook" is a
// function of this program that refuses its first call for a second: the queue
// is held, one probe goes out, and all jobs are done in the end.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "tidegate/memory_store.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/service.hpp"

namespace {

using namespace std::chrono_literals;

/// Answers within the call that brings the delivery.
class local_webhook : public tidegate::transport {
public:
  std::shared_ptr<call> post(tidegate::delivery what, callback done) override {
    tidegate::delivery_reply reply;
    reply.http_status = 200;
    if (calls_++ == 0) {
      reply.http_status = 429;
      reply.retry_after = {"1"};
    }
    std::cout << what.payload.bytes() << " -> " << *reply.http_status
              << (what.probe ? " (probe)\n" : "\n");
    done(std::move(reply));
    return nullptr;
  }

private:
  std::atomic<int> calls_ = 0;
};

std::uint64_t draw_random() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

tidegate::service_options make_options() {
  tidegate::service_options result;
  result.store = tidegate::make_memory_store();
  result.transport = std::make_shared<local_webhook>();
  result.random = draw_random;
  // A secret is of use only to a transport that signs; this one does not.
  result.make_secret = [] { return tidegate::signing_secret{}; };
  return result;
}

[[noreturn]] void give_up(const caf::error& reason) {
  std::cerr << tidegate::from_caf(reason).message << '\n';
  std::exit(EXIT_FAILURE);
}

/// Sends a request and waits for its answer.
template <class Reply, class Handle, class Message>
Reply ask(caf::scoped_actor& self, const Handle& whom, Message what) {
  Reply result;
  self->request(whom, 10s, std::move(what))
    .receive([&](Reply& reply) { result = std::move(reply); }, give_up);
  return result;
}

} // namespace

int main() {
  caf::actor_system_config config;
  caf::actor_system system{config};
  tidegate::service service{system, make_options()};
  if (auto wrong = service.start_and_wait()) {
    std::cerr << wrong->message << '\n';
    return EXIT_FAILURE;
  }
  caf::scoped_actor self{system};
  tidegate::queue_settings settings;
  settings.webhook_url = "http://local.invalid/";
  settings.concurrency = 1;
  ask<tidegate::put_queue_result>(self, service.registry(),
                                  tidegate::create_queue{"mail", settings});
  auto queue = ask<tidegate::queue_actor>(self, service.registry(),
                                          tidegate::find_queue{"mail"});
  for (int i = 1; i <= 3; ++i)
    ask<tidegate::publish_result>(
      self, queue,
      tidegate::publish{tidegate::payload{std::to_string(i)}, "", {}});
  tidegate::queue_view view;
  do {
    std::this_thread::sleep_for(10ms);
    view = ask<tidegate::queue_view>(self, queue, tidegate::get_queue{});
  } while (view.counts.completed + view.counts.dead < 3);
  std::cout << view.counts.completed << " completed, " << view.counts.dead
            << " dead\n";
  auto drained = service.drain(10s);
  return drained && view.counts.dead == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
