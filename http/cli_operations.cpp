// Commands about operations, and waiting for one.

#include <ostream>

#include "http/cli_session.hpp"

namespace tidegate::http {

namespace {

constexpr duration poll_every{200'000};

/// Says how an operation has ended.
int conclude(cli_session& self, const cli_operation& how, const char* done) {
  auto figures = std::to_string(how.done) + " of " + std::to_string(how.total);
  if (how.state == "done")
    return self.json() ? self.status() : self.say(done + (' ' + figures));
  auto why = how.error.empty() ? "" : ": " + how.error;
  return self.fail(exit_refused, "the operation " + how.id + " ended as "
                                   + how.state + " after " + figures + why);
}

} // namespace

std::string operation_path(const std::string& id) {
  return "/v1/operations/" + percent_encode(id);
}

int follow_operation(cli_session& self, std::string body, const char* done) {
  const auto& world = self.world();
  auto shows = world.out_is_terminal && !self.json();
  while (true) {
    auto how = read_operation(body);
    if (!how)
      return self.fail(exit_unreachable, how.reason().message);
    if (shows)
      world.out << '\r' << print_progress(how->done, how->total) << std::flush;
    if (how->state != "running") {
      if (shows)
        world.out << '\n';
      if (self.json())
        self.print_json(body);
      return conclude(self, *how, done);
    }
    world.sleep(poll_every);
    auto next = self.ask("GET", operation_path(how->id));
    if (!next) {
      world.err << "tidegate: the operation " << printable(how->id)
                << " goes on without this program\n";
      return self.status();
    }
    body = std::move(*next);
  }
}

int operations_list(cli_session& self) {
  return self.list(cli_list::operations, "/v1/operations");
}

int operations_show(cli_session& self) {
  auto body = self.ask("GET", operation_path(self.word("operation")));
  if (!body)
    return self.status();
  if (self.json())
    return self.print_json(*body);
  return self.print(show_operation(*body, self.world().now()));
}

int operations_cancel(cli_session& self) {
  auto body = self.ask("DELETE", operation_path(self.word("operation")));
  if (!body)
    return self.status();
  if (self.json())
    return self.print_json(*body);
  auto how = read_operation(*body);
  if (!how)
    return self.fail(exit_unreachable, how.reason().message);
  if (how->state == "cancelled")
    return self.say("cancelled " + how->id);
  return self.fail(exit_refused, "the operation " + how->id
                                   + " was not cancelled: it is " + how->state
                                   + ", " + std::to_string(how->done) + " of "
                                   + std::to_string(how->total));
}

} // namespace tidegate::http
