// What is still there when my application starts again?
//
// Publishes jobs into a SQLite file, kills the service without a word while one
// of them is under way, and starts another one on the same file: each job is
// there with its payload. The one that was under way is delivered again.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include "tidegate/actor_transport.hpp"
#include "tidegate/service.hpp"
#include "tidegate/sqlite_store.hpp"
#include "tidegate/type_ids.hpp"

namespace {

using namespace std::chrono_literals;

/// Takes jobs and never says what became of them.
tidegate::job_handler::behavior_type
sleeper(tidegate::job_handler::pointer self, caf::actor boss) {
  return {
    [=](
      const tidegate::delivery& what) -> caf::result<tidegate::handler_reply> {
      std::cout << "sleeps over " << what.payload.bytes() << '\n';
      caf::anon_send(boss, what.payload.bytes());
      return self->make_response_promise<tidegate::handler_reply>();
    },
  };
}

/// Does jobs at once.
tidegate::job_handler::behavior_type worker(tidegate::job_handler::pointer,
                                            caf::actor boss) {
  return {
    [=](const tidegate::delivery& what) {
      std::cout << "does " << what.payload.bytes() << '\n';
      caf::anon_send(boss, what.payload.bytes());
      return tidegate::handler_reply::completed();
    },
  };
}

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(EXIT_FAILURE);
}

/// Starts a service on a file, with `handler` for its jobs.
std::unique_ptr<tidegate::service> start(caf::actor_system& system,
                                         const std::filesystem::path& file,
                                         tidegate::job_handler handler) {
  auto store = tidegate::open_sqlite_store({file});
  if (!store)
    give_up(store.reason().message);
  tidegate::service_options options;
  options.store = std::move(*store);
  options.transport =
    std::make_shared<tidegate::actor_transport>(system, std::move(handler));
  auto result = std::make_unique<tidegate::service>(system, std::move(options));
  if (auto wrong = result->start_and_wait())
    give_up(wrong->message);
  return result;
}

/// Sends a request and waits for its answer.
template <class Reply, class Handle, class Message>
Reply ask(caf::scoped_actor& self, const Handle& whom, Message what) {
  Reply result;
  self->request(whom, 10s, std::move(what))
    .receive([&](Reply& reply) { result = std::move(reply); },
             [&](const caf::error& reason) {
               give_up(self->system().render(reason));
             });
  return result;
}

/// Waits until a handler has got a job.
void await_delivery(caf::scoped_actor& self) {
  self->receive([](const std::string&) {},
                caf::after(20s) >> [] { give_up("nothing is delivered"); });
}

void first_life(caf::scoped_actor& self, const std::filesystem::path& file) {
  auto handler = self->spawn(sleeper, caf::actor{self});
  auto jobs = start(self->system(), file, handler);
  tidegate::queue_settings settings;
  settings.webhook_url = "http://handler.invalid/";
  settings.concurrency = 1;
  ask<tidegate::put_queue_result>(self, jobs->registry(),
                                  tidegate::create_queue{"work", settings});
  auto queue = ask<tidegate::queue_actor>(self, jobs->registry(),
                                          tidegate::find_queue{"work"});
  for (auto text : {"1", "2", "3"}) {
    tidegate::publish what;
    what.payload = tidegate::payload{text};
    // The answer comes when the job is on the disk.
    ask<tidegate::publish_result>(self, queue, std::move(what));
  }
  await_delivery(self);
  // Nothing is drained: this is what a crash leaves.
  jobs->kill();
  caf::anon_send_exit(handler, caf::exit_reason::user_shutdown);
  std::cout << "the service is gone\n";
}

tidegate::queue_counts second_life(caf::scoped_actor& self,
                                   const std::filesystem::path& file) {
  auto handler = self->spawn(worker, caf::actor{self});
  auto jobs = start(self->system(), file, handler);
  for (int i = 0; i < 3; ++i)
    await_delivery(self);
  auto queue = ask<tidegate::queue_actor>(self, jobs->registry(),
                                          tidegate::find_queue{"work"});
  // When it is drained, every outcome is stored.
  if (!jobs->drain(10s))
    give_up("something does not end");
  auto view = ask<tidegate::queue_view>(self, queue, tidegate::get_queue{});
  jobs->kill();
  caf::anon_send_exit(handler, caf::exit_reason::user_shutdown);
  return view.counts;
}

} // namespace

int main() {
  namespace fs = std::filesystem;
  auto folder = fs::temp_directory_path()
                / ("tidegate-" + std::to_string(std::random_device{}()));
  fs::create_directories(folder);
  tidegate::queue_counts counts;
  {
    caf::actor_system_config config;
    tidegate::register_types(config);
    caf::actor_system system{config};
    caf::scoped_actor self{system};
    first_life(self, folder / "jobs.db");
    counts = second_life(self, folder / "jobs.db");
  }
  fs::remove_all(folder);
  std::cout << counts.completed << " completed, " << counts.dead << " dead\n";
  return counts.completed == 3 && counts.dead == 0 ? EXIT_SUCCESS
                                                   : EXIT_FAILURE;
}
