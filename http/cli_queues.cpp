// Commands about queues.

#include "http/cli_session.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

int send_settings(cli_session& self, json_writer& out, std::string_view method,
                  const std::string& path, const std::string& done) {
  if (auto wrong = add_settings(out, self.all("set")))
    return refuse_setting(self, *wrong);
  out.end_object();
  return change(self, method, path, out.take(), done);
}

/// Whether no job of the queue has that limit key, of which the server says
/// `answer`. The server takes the name of any.
bool is_nobodys(cli_session& self, const std::string& key,
                std::string_view answer) {
  if (!is_idle_key(answer))
    return false;
  auto path = self.queue_path("/jobs?limit=1");
  add_query(path, "limitKey", key);
  return has_no_items(self.glance(path));
}

int release_key(cli_session& self, const std::string& key) {
  auto path = self.queue_path("/keys/" + percent_encode(key) + "/release");
  auto answer = self.ask("POST", path);
  if (!answer)
    return self.status();
  if (self.json())
    return self.print_json(*answer);
  if (is_nobodys(self, key, *answer))
    return self.fail(exit_refused, "no job of " + self.word("queue")
                                     + " has the limit key \"" + key + '"');
  return self.print(say_released(
    "limit key \"" + key + "\" of " + self.word("queue"), *answer));
}

} // namespace

int queues_list(cli_session& self) {
  auto status = self.list(cli_list::queues, "/v1/queues");
  if (status != exit_done || self.json())
    return status;
  return self.list_more(cli_list::pull_queues, "/v1/queue/list");
}

int queues_show(cli_session& self) {
  auto body = self.ask("GET", self.queue_path());
  if (!body)
    return self.status();
  if (self.json())
    return self.print_json(*body);
  return self.print(show_queue(*body, self.world().now()));
}

int queues_create(cli_session& self) {
  json_writer out;
  out.begin_object().member("name", self.word("queue"));
  if (self.has("webhook-url"))
    out.member("webhookUrl", self.word("webhook-url"));
  if (self.has("concurrency"))
    out.key("concurrency").raw(self.word("concurrency"));
  if (self.has("mode"))
    out.member("mode", self.word("mode"));
  return send_settings(self, out, "POST", "/v1/queues",
                       "created " + self.word("queue"));
}

int queues_update(cli_session& self) {
  if (!self.has("set"))
    return self.fail(exit_usage,
                     "--set is missing: what is to be changed, such as "
                     "concurrency=5");
  json_writer out;
  out.begin_object();
  return send_settings(self, out, "PATCH", self.queue_path(),
                       "changed " + self.word("queue"));
}

int queues_pause(cli_session& self) {
  return change(self, "POST", self.queue_path("/pause"), {},
                "paused " + self.word("queue"));
}

int queues_resume(cli_session& self) {
  return change(self, "POST", self.queue_path("/resume"), {},
                "resumed " + self.word("queue"));
}

int queues_hold(cli_session& self) {
  auto span = parse_span(self.word("for"));
  if (!span)
    return self.fail(exit_usage, "TIME must be like 30, 30s, 5m or 2h, got \""
                                   + self.word("for") + '"');
  json_writer out;
  out.begin_object().member("retryAfter",
                            std::chrono::duration<double>(*span).count());
  if (self.has("reason"))
    out.member("reason", self.word("reason"));
  out.end_object();
  auto before = self.json() ? "" : self.glance(self.queue_path());
  auto after = self.ask("POST", self.queue_path("/hold"), out.take());
  if (!after)
    return self.status();
  return self.json() ? self.print_json(*after)
                     : self.print(say_held(self.word("queue"), before, *after,
                                           self.world().now()));
}

int queues_release(cli_session& self) {
  if (self.has("limit-key"))
    return release_key(self, self.word("limit-key"));
  auto answer = self.ask("POST", self.queue_path("/release"));
  if (!answer)
    return self.status();
  return self.json() ? self.print_json(*answer)
                     : self.print(say_released(self.word("queue"), *answer));
}

int queues_delete(cli_session& self) {
  auto path = self.queue_path(self.has("force") ? "?force=true" : "");
  if (!self.ask("DELETE", path))
    return self.status();
  return self.json() ? self.status()
                     : self.say("deleted " + self.word("queue"));
}

} // namespace tidegate::http
