// Commands about pull queues.

#include "http/cli_session.hpp"

namespace tidegate::http {

namespace {

int send_settings(cli_session& self, json_writer& out, std::string_view method,
                  const std::string& path, const char* done) {
  if (auto wrong = add_settings(out, self.all("set")))
    return refuse_setting(self, *wrong);
  out.end_object();
  return change(self, method, path, out.take(),
                done + (' ' + self.word("queue")));
}

/// Says how many there were by an answer such as `{"count": 3}`.
int say_count(cli_session& self, const std::string& body, const char* member,
              const char* done) {
  if (self.json())
    return self.print_json(body);
  auto count = read_count(body, member);
  if (!count)
    return self.fail(exit_unreachable, count.reason().message);
  return self.say(done + (' ' + std::to_string(*count)));
}

std::string redrive_body(const cli_session& self) {
  json_writer out;
  out.begin_object();
  add_number(out, self, "limit", "max_messages");
  add_number(out, self, "per-second", "per_second");
  add_text(out, self, "reason", "reason");
  if (self.has("since"))
    out.member("since", self.time("since"));
  if (self.has("until"))
    out.member("until", self.time("until"));
  if (self.has("id")) {
    out.key("message_ids").begin_array();
    for (const auto& id : self.all("id"))
      out.value(id);
    out.end_array();
  }
  if (self.has("dry-run"))
    out.member("dry_run", true);
  out.end_object();
  return out.take();
}

} // namespace

int pull_list(cli_session& self) {
  return self.list(cli_list::pull_queues, "/v1/queue/list");
}

int pull_show(cli_session& self) {
  auto queue = self.ask("GET", self.pull_path("get"));
  if (!queue)
    return self.status();
  auto stats = self.ask("GET", self.pull_path("stats"));
  if (!stats)
    return self.status();
  auto missing = false;
  auto webhook = self.look_for(self.pull_path("push_subscribe"), missing);
  if (!webhook && !missing)
    return self.status();
  if (self.json())
    return self.print_json("{\"queue\":" + *queue + ",\"stats\":" + *stats
                           + ",\"subscription\":" + webhook.value_or("null")
                           + '}');
  return self.print(
    show_pull_queue(*queue, *stats, webhook.value_or(""), self.world().now()));
}

int pull_create(cli_session& self) {
  json_writer out;
  out.begin_object()
    .member("name", self.word("queue"))
    .member("type", self.has("type") ? self.word("type") : "standard");
  return send_settings(self, out, "POST", "/v1/queue/create", "created");
}

int pull_update(cli_session& self) {
  if (!self.has("set"))
    return self.fail(exit_usage,
                     "--set is missing: what is to be changed, such as "
                     "max_receive_count=5");
  json_writer out;
  out.begin_object();
  return send_settings(self, out, "PATCH", self.pull_path("update"), "changed");
}

int pull_publish(cli_session& self) {
  auto payload = read_payload(self);
  if (!payload)
    return self.status();
  json_writer out;
  out.begin_object().member("queue", self.word("queue"));
  add_number(out, self, "delay", "delay_seconds");
  add_number(out, self, "priority", "priority");
  add_text(out, self, "group", "message_group_id");
  add_text(out, self, "deduplication-id", "deduplication_id");
  add_text(out, self, "idempotency-key", "idempotency_key");
  if (auto wrong = add_headers(out, self.all("header")))
    return self.fail(exit_usage,
                     "--header must be NAME:VALUE, got \"" + *wrong + '"');
  out.key("payload").raw(*payload).end_object();
  auto is_new = self.is_missing(self.pull_path("get"));
  auto answer = self.ask("POST", "/v1/queue/publish", out.take());
  if (!answer)
    return self.status();
  if (is_new)
    self.world().err << "tidegate: there was no queue "
                     << printable(self.word("queue"))
                     << ": it has been created, with the default settings\n";
  if (self.json())
    return self.print_json(*answer);
  return say_published(self, *answer, "message");
}

int pull_peek(cli_session& self) {
  return self.list_page(cli_list::messages, self.pull_path("peek"));
}

int pull_purge(cli_session& self) {
  auto answer = self.ask("POST", self.pull_path("purge"));
  return answer ? say_count(self, *answer, "count", "removed") : self.status();
}

int pull_delete(cli_session& self) {
  auto path = self.pull_path("delete");
  if (self.has("force"))
    path += "?force=true";
  if (!self.ask("DELETE", path))
    return self.status();
  return self.json() ? self.status()
                     : self.say("deleted " + self.word("queue"));
}

int pull_dead_letters(cli_session& self) {
  auto path = self.pull_path("dlq/list");
  add_query(path, "reason", self.word("reason"));
  add_query(path, "since", self.time("since"));
  add_query(path, "until", self.time("until"));
  return self.list(cli_list::dead_messages, path);
}

int pull_redrive(cli_session& self) {
  auto body = self.ask("POST", self.pull_path("dlq/redrive"),
                       redrive_body(self));
  if (!body)
    return self.status();
  if (self.has("dry-run"))
    return self.json()
             ? self.print_json(*body)
             : self.print(show_dry_redrive(*body, self.world().now()));
  auto operation = read_operation_id(*body);
  if (operation.empty())
    return say_count(self, *body, "redriven", "redriven");
  if (self.has("no-wait"))
    return self.json() ? self.print_json(*body) : self.say(operation);
  auto begun = self.ask("GET", operation_path(operation));
  if (!begun)
    return self.status();
  return follow_operation(self, std::move(*begun), "redriven");
}

} // namespace tidegate::http
