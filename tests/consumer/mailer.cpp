// An application with actors and type ids of its own that hands its mail to
// Tidegate:
//   mailer FILE
// Its mail server says "not now" once: the queue is held, and one probe goes
// out before the rest. Then the application stops in order and starts again on
// the same file: what waited is still there and is delivered.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/after.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <tidegate/actor_transport.hpp>
#include <tidegate/service.hpp>
#include <tidegate/sqlite_store.hpp>
#include <tidegate/type_ids.hpp>

using namespace std::chrono_literals;

namespace app {

/// What the mail server tells the office.
struct mail_seen {
  std::string text;
  bool probe = false;
  bool sent = false;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, mail_seen& x) {
  return f(caf::meta::type_name("app::mail_seen"), x.text, x.probe, x.sent);
}

} // namespace app

CAF_BEGIN_TYPE_ID_BLOCK(app, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(app, (app::mail_seen))

CAF_END_TYPE_ID_BLOCK(app)

static_assert(caf::id_block::tidegate::begin == 300);
static_assert(caf::id_block::app::end <= caf::id_block::tidegate::begin);

namespace app {

void check(bool holds, const std::string& what) {
  std::cout << (holds ? "ok: " : "WRONG: ") << what << '\n';
  if (!holds)
    std::exit(EXIT_FAILURE);
}

// -- the actors of the application --------------------------------------------

struct mail_server_state {
  mail_server_state() {
    // nop
  }

  static inline const char* name = "app.mail_server";

  bool busy = true;
};

/// Sends mail, but the first one is too much for it.
tidegate::job_handler::behavior_type
mail_server(tidegate::job_handler::stateful_pointer<mail_server_state> self,
            caf::actor office) {
  return {
    [self, office](const tidegate::delivery& what) {
      auto busy = std::exchange(self->state.busy, false);
      caf::anon_send(office,
                     mail_seen{what.payload.bytes(), what.probe, !busy});
      return busy ? tidegate::handler_reply::deferred(300ms, "busy")
                  : tidegate::handler_reply::completed("sent");
    },
  };
}

/// Passes on what happens to the queue.
tidegate::event_listener::behavior_type
watcher(tidegate::event_listener::pointer, caf::actor office) {
  return {
    [office](const tidegate::service_event& event) {
      caf::anon_send(office, event);
    },
  };
}

/// What has happened so far.
struct diary {
  std::vector<mail_seen> mails;
  std::vector<tidegate::service_event> events;
};

// -- the office ---------------------------------------------------------------

class office {
public:
  office(caf::actor_system& system, std::string file)
    : system_(system), file_(std::move(file)), self_(system) {
    mail_server_ = system.spawn(mail_server, caf::actor{self_});
    watcher_ = system.spawn(watcher, caf::actor{self_});
  }

  ~office() {
    caf::anon_send_exit(mail_server_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(watcher_, caf::exit_reason::user_shutdown);
  }

  /// Makes a service on the file, and starts it.
  std::unique_ptr<tidegate::service> open() {
    auto store = tidegate::open_sqlite_store({file_});
    if (!store)
      check(false, store.reason().message);
    tidegate::service_options options;
    options.store = std::move(*store);
    options.transport =
      std::make_shared<tidegate::actor_transport>(system_, mail_server_);
    options.listener = watcher_;
    auto result = std::make_unique<tidegate::service>(system_,
                                                      std::move(options));
    auto wrong = result->start_and_wait();
    check(!wrong, wrong ? wrong->message : "the service runs");
    return result;
  }

  template <class Reply, class Handle, class Message>
  Reply ask(const Handle& whom, Message what) {
    Reply result;
    self_->request(whom, 10s, std::move(what))
      .receive([&](Reply& reply) { result = std::move(reply); },
               [&](const caf::error& reason) {
                 check(false, system_.render(reason));
               });
    return result;
  }

  /// Reads what comes in until it is `enough`.
  void read_until(const std::function<bool(const diary&)>& enough) {
    while (!enough(seen_))
      self_->receive([&](mail_seen& x) { seen_.mails.push_back(std::move(x)); },
                     [&](tidegate::service_event& x) {
                       seen_.events.push_back(std::move(x));
                     },
                     caf::after(20s) >> [] { check(false, "it goes on"); });
  }

  const diary& seen() const {
    return seen_;
  }

private:
  caf::actor_system& system_;
  std::string file_;
  caf::scoped_actor self_;
  tidegate::job_handler mail_server_;
  tidegate::event_listener watcher_;
  diary seen_;
};

bool has(const diary& seen, tidegate::event_kind kind) {
  return std::any_of(seen.events.begin(), seen.events.end(),
                     [=](const auto& e) { return e.kind == kind; });
}

/// Publishes three, one of which is refused at first.
void first_life(office& here) {
  using namespace tidegate;
  auto jobs = here.open();
  queue_settings settings;
  settings.webhook_url = "http://mail.invalid/";
  settings.concurrency = 1;
  here.ask<put_queue_result>(jobs->registry(), create_queue{"mail", settings});
  auto queue = here.ask<queue_actor>(jobs->registry(), find_queue{"mail"});
  publish what;
  what.payload = payload{"\"one\""};
  auto one = here.ask<publish_result>(queue, what).id;
  for (auto text : {"\"two\"", "\"three\""}) {
    what.payload = payload{text};
    here.ask<publish_result>(queue, what);
  }
  here.read_until([](const diary& seen) {
    return seen.mails.size() >= 4 && has(seen, event_kind::queue_opened);
  });
  const auto& mails = here.seen().mails;
  check(!mails[0].sent && !mails[0].probe, "the first mail is refused");
  check(mails[1].sent && mails[1].probe, "one probe goes out");
  check(mails[2].sent && !mails[2].probe && mails[3].sent, "the rest follows");
  check(mails.size() == 4, "nothing is sent twice");
  std::vector<event_kind> gate;
  for (const auto& e : here.seen().events)
    if (e.kind == event_kind::queue_held || e.kind == event_kind::queue_probing
        || e.kind == event_kind::queue_opened)
      gate.push_back(e.kind);
  check(gate
          == std::vector{event_kind::queue_held, event_kind::queue_probing,
                         event_kind::queue_opened},
        "the gate is held, probing and open in turn");

  here.ask<queue_view>(queue, pause_queue{});
  what.payload = payload{"\"later\""};
  here.ask<publish_result>(queue, what);
  check(jobs->drain(10s), "everything that was under way has ended");
  auto view = here.ask<job_view>(queue, get_job{one});
  check(view.record.job.status == job_status::completed, "the first is done");
  check(view.record.job.attempts == 1 && view.record.job.defers == 1,
        "the defer cost no attempt");
  jobs->kill();
}

/// Finds the one that waited.
void second_life(office& here) {
  using namespace tidegate;
  auto jobs = here.open();
  auto queue = here.ask<queue_actor>(jobs->registry(), find_queue{"mail"});
  auto before = here.ask<queue_view>(queue, get_queue{});
  check(before.queue.paused && before.counts.pending == 1
          && before.counts.completed == 3,
        "the queue is as it was left, with the job that waits");
  here.ask<queue_view>(queue, resume_queue{});
  here.read_until([](const diary& seen) { return seen.mails.size() >= 5; });
  check(here.seen().mails[4].text == "\"later\"", "the job is delivered");
  check(jobs->drain(10s), "everything that was under way has ended");
  auto after = here.ask<queue_view>(queue, get_queue{});
  check(after.counts.completed == 4 && after.counts.pending == 0,
        "nothing is left to do");
}

} // namespace app

int main(int argc, char** argv) {
  app::check(argc == 2, "there is a file");
  caf::actor_system_config config;
  config.add_message_types<caf::id_block::app>();
  tidegate::register_types(config);
  caf::actor_system system{config};
  auto text = system.render(tidegate::to_caf(
    {tidegate::errc::queue_not_found, "there is no queue \"x\""}));
  app::check(text == "queue_not_found: there is no queue \"x\"",
             "errors are printed with their names");
  app::office here{system, argv[1]};
  app::first_life(here);
  app::second_life(here);
}
