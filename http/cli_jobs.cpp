// Commands about jobs.

#include <istream>
#include <iterator>
#include <ostream>

#include "http/cli_session.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

/// Largest payload that is read from stdin. Unit: bytes.
constexpr std::size_t payload_max = 64 * 1024 * 1024;

/// Returns the payload that was given, or nothing where it is not JSON.
std::optional<std::string> read_payload(cli_session& self) {
  auto payload = self.word("payload");
  if (payload == "-") {
    auto& in = self.world().in;
    payload.clear();
    char part[4096];
    while (payload.size() < payload_max
           && (in.read(part, sizeof part) || in.gcount() > 0))
      payload.append(part, static_cast<std::size_t>(in.gcount()));
  }
  if (is_json(payload))
    return payload;
  self.fail(exit_usage,
            "PAYLOAD must be JSON, such as {\"to\": \"a\"} or "
            "\"text\" with its quotes, got "
              + printable(payload, 60));
  return std::nullopt;
}

/// Adds the words `header`, each `NAME:VALUE`. Returns the one that is none.
std::optional<std::string> add_headers(json_writer& out,
                                       const std::vector<std::string>& words) {
  if (words.empty())
    return std::nullopt;
  out.key("headers").begin_object();
  for (const auto& word : words) {
    auto colon = word.find(':');
    if (colon == 0 || colon == std::string::npos)
      return word;
    auto value = word.substr(colon + 1);
    value.erase(0, value.find_first_not_of(' '));
    out.member(word.substr(0, colon), value);
  }
  out.end_object();
  return std::nullopt;
}

void add_text(json_writer& out, const cli_session& self, const char* word,
              const char* field) {
  if (self.has(word))
    out.member(field, self.word(word));
}

void add_number(json_writer& out, const cli_session& self, const char* word,
                const char* field) {
  if (self.has(word))
    out.key(field).raw(self.word(word));
}

int say_published(cli_session& self, std::string_view body) {
  auto published = read_published(body);
  if (!published)
    return self.fail(exit_unreachable, published.reason().message);
  self.say(published->id);
  if (published->duplicate)
    self.world().err << "tidegate: a job with this key was there already, "
                     << printable(published->status)
                     << (published->payload_mismatch
                           ? ", with another payload\n"
                           : "\n");
  return self.status();
}

/// Calls with one job, and says `done` or shows the job.
int change(cli_session& self, std::string_view method, const std::string& path,
           std::string_view body, const char* done) {
  auto answer = self.ask(method, path, body);
  if (!answer)
    return self.status();
  if (self.json())
    return self.print_json(*answer);
  return self.say(done + (' ' + self.word("job")));
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
  return self.json() ? self.print_json(*answer) : say_published(self, *answer);
}

int jobs_cancel(cli_session& self) {
  return change(self, "DELETE", self.job_path(), {}, "cancelled");
}

int jobs_run_now(cli_session& self) {
  return change(self, "POST", self.job_path("/run-now"), {}, "due now:");
}

int jobs_replay(cli_session& self) {
  if (!self.has("payload"))
    return change(self, "POST", self.job_path("/replay"), {}, "replayed");
  auto payload = read_payload(self);
  if (!payload)
    return self.status();
  json_writer out;
  out.begin_object().key("payload").raw(*payload).end_object();
  return change(self, "POST", self.job_path("/replay"), out.take(), "replayed");
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
    return self.print_json("{\"job\":" + *job + ",\"queue\":" + *queue + '}');
  return self.print(explain_job(*job, *queue, self.world().now()));
}

} // namespace tidegate::http
