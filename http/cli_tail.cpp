// `tidegate tail`: events as they happen.

#include <algorithm>
#include <ostream>

#include "http/cli_session.hpp"
#include "http/sse_reader.hpp"

namespace tidegate::http {

namespace {

/// Wait before a new connection where the server has not said how long.
constexpr duration retry_default{2'000'000};

/// Shortest wait, whatever the server has said.
constexpr duration retry_min{100'000};

void print_event(cli_session& self, const sse_event& event) {
  const auto& world = self.world();
  if (event.type == "gap")
    world.err << "tidegate: events were missed here\n";
  else if (self.json())
    world.out << event.data << '\n';
  else if (auto line = show_event(event.data))
    world.out << *line << '\n';
  else
    world.err << "tidegate: an event could not be understood\n";
  world.out.flush();
}

std::string fields_of(const sse_reader& reader) {
  if (reader.last_id().empty())
    return {};
  return "Last-Event-ID: " + reader.last_id() + "\r\n";
}

} // namespace

int tail(cli_session& self) {
  if (self.has("queue") && self.is_missing(self.queue_path()))
    self.world().err << "tidegate: there is no queue "
                     << printable(self.word("queue"))
                     << " now; if one is created, its events come here\n";
  std::string path = "/v1/events";
  add_query(path, "queue", self.word("queue"));
  add_query(path, "types", self.word("types"));
  auto connected = false;
  sse_reader reader{[&](const sse_event& event) { print_event(self, event); }};
  while (self.world().out) {
    reader.reset();
    auto ended = self.follow(path, fields_of(reader), [&](auto bytes) {
      connected = true;
      reader.feed(bytes);
    });
    if (!ended && !connected)
      return self.fail(exit_unreachable, ended.reason().message);
    if (ended && ended->status != 200)
      return self.fail(exit_refused, refusal_of(ended->status, ended->body));
    self.world().err << "tidegate: the stream has ended, trying again\n";
    auto wait = reader.retry().value_or(retry_default);
    self.world().sleep(std::max(wait, retry_min));
  }
  return self.status();
}

} // namespace tidegate::http
