// Commands about jobs.

#include <ostream>

#include "http/cli_session.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

/// Calls with one job, and says `done` of it.
int change_job(cli_session& self, std::string_view method,
               const std::string& path, std::string_view body,
               const char* done) {
  return change(self, method, path, body, done + (' ' + self.word("job")));
}

} // namespace

int jobs_list(cli_session& self) {
  auto path = self.queue_path("/jobs");
  add_query(path, "status", self.word("status"));
  add_query(path, "limitKey", self.word("limit-key"));
  add_query(path, "idempotencyKey", self.word("idempotency-key"));
  add_query(path, "reason", self.word("reason"));
  add_query(path, "since", self.time("since"));
  add_query(path, "until", self.time("until"));
  return self.list(cli_list::jobs, path);
}

int jobs_show(cli_session& self) {
  auto body = self.ask("GET", self.job_path());
  if (!body)
    return self.status();
  if (self.json())
    return self.print_json(*body);
  return self.print(show_job(*body, self.world().now()));
}

int jobs_publish(cli_session& self) {
  auto payload = read_payload(self);
  if (!payload)
    return self.status();
  json_writer out;
  out.begin_object();
  add_number(out, self, "delay", "delay");
  add_text(out, self, "run-at", "runAt");
  add_number(out, self, "priority", "priority");
  add_text(out, self, "idempotency-key", "idempotencyKey");
  add_text(out, self, "limit-key", "limitKey");
  if (auto wrong = add_headers(out, self.all("header")))
    return self.fail(exit_usage,
                     "--header must be NAME:VALUE, got \"" + *wrong + '"');
  out.key("payload").raw(*payload).end_object();
  auto answer = self.ask("POST", self.queue_path("/jobs"), out.take());
  if (!answer)
    return self.status();
  return self.json() ? self.print_json(*answer)
                     : say_published(self, *answer, "job");
}

int jobs_cancel(cli_session& self) {
  return change_job(self, "DELETE", self.job_path(), {}, "cancelled");
}

int jobs_run_now(cli_session& self) {
  auto job = self.ask("POST", self.job_path("/run-now"));
  if (!job)
    return self.status();
  return self.json() ? self.print_json(*job)
                     : self.print(say_run_now(*job, self.world().now()));
}

int jobs_replay(cli_session& self) {
  if (!self.has("payload"))
    return change_job(self, "POST", self.job_path("/replay"), {}, "replayed");
  auto payload = read_payload(self);
  if (!payload)
    return self.status();
  json_writer out;
  out.begin_object().key("payload").raw(*payload).end_object();
  return change_job(self, "POST", self.job_path("/replay"), out.take(),
                    "replayed");
}

int jobs_explain(cli_session& self) {
  auto job = self.ask("GET", self.job_path());
  if (!job)
    return self.status();
  auto name = read_queue_of(*job);
  if (!name)
    return self.fail(exit_unreachable, name.reason().message);
  auto queue = self.ask("GET", "/v1/queues/" + percent_encode(*name));
  if (!queue)
    return self.status();
  if (self.json())
    return self.print_json("{\"job\":" + without_secrets(*job)
                           + ",\"queue\":" + without_secrets(*queue) + '}');
  return self.print(explain_job(*job, *queue, self.world().now()));
}

} // namespace tidegate::http
