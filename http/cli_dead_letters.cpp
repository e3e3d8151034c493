// Commands about dead letters.

#include "http/cli_session.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

std::string filtered(const cli_session& self) {
  auto path = self.queue_path("/dlq");
  add_query(path, "reason", self.word("reason"));
  add_query(path, "limitKey", self.word("limit-key"));
  add_query(path, "since", self.time("since"));
  add_query(path, "until", self.time("until"));
  return path;
}

std::string replay_body(const cli_session& self) {
  json_writer out;
  out.begin_object();
  auto add = [&out](const char* field, const std::string& text) {
    if (!text.empty())
      out.member(field, text);
  };
  add("reason", self.word("reason"));
  add("limitKey", self.word("limit-key"));
  add("since", self.time("since"));
  add("until", self.time("until"));
  if (self.has("limit"))
    out.key("limit").raw(self.word("limit"));
  if (self.has("per-second"))
    out.key("perSecond").raw(self.word("per-second"));
  if (self.has("id")) {
    out.key("ids").begin_array();
    for (const auto& id : self.all("id"))
      out.value(id);
    out.end_array();
  }
  if (self.has("dry-run"))
    out.member("dryRun", true);
  out.end_object();
  return out.take();
}

} // namespace

int dead_letters_list(cli_session& self) {
  return self.list(cli_list::dead_letters, filtered(self));
}

int dead_letters_replay(cli_session& self) {
  auto body = self.ask("POST", self.queue_path("/dlq/replay"),
                       replay_body(self));
  if (!body)
    return self.status();
  if (self.has("dry-run"))
    return self.json() ? self.print_json(*body)
                       : self.print(show_dry_run(*body, self.world().now()));
  if (!self.has("no-wait"))
    return follow_operation(self, std::move(*body), "replayed");
  if (self.json())
    return self.print_json(*body);
  auto begun = read_operation(*body);
  if (!begun)
    return self.fail(exit_unreachable, begun.reason().message);
  return self.say(begun->id);
}

int dead_letters_delete(cli_session& self) {
  auto path = filtered(self);
  auto chosen = path.find('?') != std::string::npos;
  if (chosen == self.has("all"))
    return self.fail(exit_usage,
                     chosen ? "--all goes without --reason, --limit-key, "
                              "--since and --until"
                            : "say which: --reason, --limit-key, --since or "
                              "--until, or --all of them");
  auto body = self.ask("DELETE", path);
  if (!body)
    return self.status();
  if (self.json())
    return self.print_json(*body);
  auto count = read_count(*body);
  if (!count)
    return self.fail(exit_unreachable, count.reason().message);
  return self.say("removed " + std::to_string(*count));
}

} // namespace tidegate::http
