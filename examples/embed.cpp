// How do I use the queue inside my own CAF application, without HTTP?
//
// Starts Tidegate's actors on an ordinary actor system. The "webhook" is an
// actor of this program: each job comes as a message, and the answer is its
// outcome. It says "not now" at first: the queue is held for a second, one
// probe goes out, and all jobs but a bad one are done in the end.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "tidegate/actor_transport.hpp"
#include "tidegate/memory_store.hpp"
#include "tidegate/service.hpp"
#include "tidegate/type_ids.hpp"

namespace {

using namespace std::chrono_literals;
using tidegate::handler_reply;

struct mailer_state {
  mailer_state() {
    // nop
  }

  bool is_tired = true;
};

/// Does the jobs, and tells `boss` which it is through with.
tidegate::job_handler::behavior_type
mailer(tidegate::job_handler::stateful_pointer<mailer_state> self,
       caf::actor boss) {
  return {
    [self, boss](const tidegate::delivery& what) {
      const auto& text = what.payload.bytes();
      std::cout << text << (what.probe ? " (probe): " : ": ");
      if (std::exchange(self->state.is_tired, false)) {
        std::cout << "not now\n";
        return handler_reply::deferred(1s, "too much mail");
      }
      caf::anon_send(boss, text);
      if (text == "\"spam\"") {
        std::cout << "never\n";
        return handler_reply::refused("nobody wants it");
      }
      std::cout << "sent\n";
      return handler_reply::completed();
    },
  };
}

/// Hears what becomes of the queue.
tidegate::event_listener::behavior_type
watcher(tidegate::event_listener::pointer) {
  return {
    [](const tidegate::service_event& event) {
      std::cout << "event: " << to_string(event.kind) << '\n';
    },
  };
}

/// Sends a request and waits for its answer.
template <class Reply, class Handle, class Message>
Reply ask(caf::scoped_actor& self, const Handle& whom, Message what) {
  Reply result;
  self->request(whom, 10s, std::move(what))
    .receive([&](Reply& reply) { result = std::move(reply); },
             [&](const caf::error& reason) {
               std::cerr << self->system().render(reason) << '\n';
               std::exit(EXIT_FAILURE);
             });
  return result;
}

/// Publishes three jobs, and returns their queue when all have been delivered.
tidegate::queue_actor run(caf::scoped_actor& self, tidegate::service& jobs) {
  tidegate::queue_settings settings;
  // Nobody calls it: the jobs go to the actor.
  settings.webhook_url = "http://mailer.invalid/";
  settings.concurrency = 1;
  ask<tidegate::put_queue_result>(self, jobs.registry(),
                                  tidegate::create_queue{"mail", settings});
  auto queue = ask<tidegate::queue_actor>(self, jobs.registry(),
                                          tidegate::find_queue{"mail"});
  for (auto text : {"\"hello\"", "\"spam\"", "\"goodbye\""}) {
    tidegate::publish what;
    what.payload = tidegate::payload{text};
    ask<tidegate::publish_result>(self, queue, std::move(what));
  }
  for (int i = 0; i < 3; ++i)
    self->receive([](const std::string&) {});
  return queue;
}

} // namespace

int main() {
  caf::actor_system_config config;
  tidegate::register_types(config);
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  auto does_jobs = system.spawn(mailer, caf::actor{self});
  auto hears_events = system.spawn(watcher);

  tidegate::service_options options;
  options.store = tidegate::make_memory_store();
  options.transport = std::make_shared<tidegate::actor_transport>(system,
                                                                  does_jobs);
  options.listener = hears_events;
  tidegate::service jobs{system, std::move(options)};
  if (auto wrong = jobs.start_and_wait()) {
    std::cerr << wrong->message << '\n';
    return EXIT_FAILURE;
  }
  auto queue = run(self, jobs);

  // In this order: no new deliveries, the service, those that it delivers to.
  // Every outcome is stored when it is drained.
  auto drained = jobs.drain(10s);
  auto counts =
    ask<tidegate::queue_view>(self, queue, tidegate::get_queue{}).counts;
  jobs.kill();
  caf::anon_send_exit(does_jobs, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(hears_events, caf::exit_reason::user_shutdown);
  std::cout << counts.completed << " completed, " << counts.dead << " dead\n";
  auto is_right = counts.completed == 2 && counts.dead == 1;
  return drained && is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
