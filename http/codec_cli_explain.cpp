// Why a job is not running, in sentences. What is shut and until when is the
// server's to say; here it is only put into words.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;

/// A job with its queue at one moment.
struct asked {
  const json& job;
  const json& queue;
  wall_time now;

  std::string id() const {
    return cell_of(member_of(job, "id"));
  }

  std::string queue_name() const {
    return cell_of(member_of(job, "queue"));
  }

  std::string key() const {
    return "limit key \"" + text_of(member_of(job, "limitKey")) + '"';
  }

  std::string when(const json& at) const {
    auto time = time_of(at);
    return time ? print_instant(*time, now) : "an unknown time";
  }
};

/// What is said of one gate: what it is, and the command that opens it.
struct words {
  std::string what;
  std::string remedy;
};

std::string command(const std::string& text) {
  return "tidegate " + text;
}

words queue_gate(const std::string& gate, const asked& about) {
  auto name = about.queue_name();
  auto queue = "queue " + name;
  auto update = command("queues update " + name + " --set ");
  if (gate == "hold")
    return {"The " + queue + " is held", command("queues release " + name)};
  if (gate == "probe")
    return {"The " + queue + " is being probed", ""};
  if (gate == "paused")
    return {"The " + queue + " is paused", command("queues resume " + name)};
  if (gate == "concurrency")
    return {"The concurrency of the " + queue + " is used up",
            update + "concurrency=N"};
  if (gate == "rate")
    return {"The rate limit of the " + queue + " is used up",
            update + "rateLimitMax=N"};
  if (gate == "ramp")
    return {"The " + queue + " takes up speed again after a hold", ""};
  if (gate == "global_concurrency")
    return {"The concurrency of the whole server is used up",
            "tidegate serve --max-in-flight N"};
  return {"The gate \"" + gate + "\" is shut", ""};
}

words gate_words(const std::string& gate, const asked& about) {
  auto name = about.queue_name();
  auto update = command("queues update " + name + " --set ");
  auto run_now = command("jobs run-now " + about.id());
  if (gate == "delay")
    return {"The job waits for its time", run_now};
  if (gate == "backoff")
    return {"The job waits for its next attempt", run_now};
  if (gate == "defer")
    return {"The job is deferred", ""};
  if (gate == "key_hold")
    return {"The " + about.key() + " is held",
            command("queues release " + name + " --limit-key KEY")};
  if (gate == "key_probe")
    return {"The " + about.key() + " is being probed", ""};
  if (gate == "key_concurrency")
    return {"The concurrency of the " + about.key() + " is used up",
            update + "keyConcurrency=N"};
  if (gate == "key_rate")
    return {"The rate limit of the " + about.key() + " is used up",
            update + "keyRateLimitMax=N"};
  return queue_gate(gate, about);
}

/// `The queue q is held until ... (in 28 s), since ...: the downstream ...`.
std::string sentence(const json& blocked, const asked& about) {
  auto gate = text_of(member_of(blocked, "gate"));
  auto [what, remedy] = gate_words(gate, about);
  auto text = what;
  const auto& until = member_of(blocked, "until");
  if (!until.is_null())
    text += " until " + about.when(until);
  else if (gate == "paused")
    text += " until somebody resumes it";
  const auto& since = member_of(blocked, "since");
  if (!since.is_null())
    text += ", since " + about.when(since);
  if (auto reason = text_of(member_of(blocked, "reason")); !reason.empty())
    text += ": " + reason;
  text += '.';
  auto did = gate == "probe" || gate == "key_probe" ? " is the probe."
                                                    : " caused it.";
  if (auto cause = text_of(member_of(blocked, "causedByJob")); !cause.empty())
    text += (cause == about.id() ? " This job" : " Job " + cause) + did;
  text = printable(text);
  return remedy.empty() ? text : text + "\n     " + printable(remedy);
}

std::string numbered(const json& gates, const asked& about) {
  std::string text;
  std::size_t number = 0;
  for (const auto& blocked : gates)
    text += "  " + std::to_string(++number) + ". " + sentence(blocked, about)
            + '\n';
  return text;
}

std::string last_error(const asked& about) {
  auto text = text_of(member_of(about.job, "lastError"));
  return text.empty() ? "" : "Its last error: " + printable(text, 200) + ".\n";
}

std::string last_probe(const asked& about) {
  const auto& gate = member_of(about.queue, "gate");
  const auto& probe = member_of(gate, "lastProbe");
  if (!probe.is_object() || text_of(member_of(gate, "state")) == "open")
    return {};
  return printable("The last probe of the queue, job "
                   + cell_of(member_of(probe, "job")) + ", came to \""
                   + cell_of(member_of(probe, "verdict")) + "\" at "
                   + about.when(member_of(probe, "at")) + ".")
         + '\n';
}

/// Says when everything that is a matter of time is over.
std::string earliest(const json& gates, const asked& about) {
  std::optional<wall_time> last;
  auto all_known = true;
  for (const auto& blocked : gates) {
    auto until = time_of(member_of(blocked, "until"));
    all_known = all_known && until;
    last = std::max(last, until);
  }
  if (!last)
    return "Nobody can say when it goes: none of this is a matter of time.\n";
  auto at = print_instant(*last, about.now);
  auto expires = time_of(member_of(about.job, "expiresAt"));
  if (expires && *expires < *last)
    return "It will not go: its lifetime ends at "
           + print_instant(*expires, about.now) + ", before it could at " + at
           + ".\n";
  return all_known ? "It can go at " + at + ", if nothing else shuts.\n"
                   : "It cannot go before " + at
                       + ", and not all of this is a matter of time.\n";
}

std::string explain_ended(const asked& about, const std::string& status) {
  if (status == "completed")
    return "Job " + about.id() + " is done, since "
           + about.when(member_of(about.job, "completedAt")) + ".\n";
  auto reason = cell_of(member_of(about.job, "deadReason"));
  auto attempts = cell_of(member_of(about.job, "attempts"));
  return printable("Job " + about.id() + " is dead, since "
                   + about.when(member_of(about.job, "deadAt")) + ": " + reason
                   + ", after " + attempts
                   + (attempts == "1" ? " attempt." : " attempts."))
         + '\n' + last_error(about) + "It will not run unless it is replayed:\n"
         + "     " + printable(command("jobs replay " + about.id())) + '\n';
}

std::string explain_free(const asked& about, const std::string& status) {
  auto job = printable("Job " + about.id() + " of queue " + about.queue_name());
  if (status == "awaiting_ack")
    return job
           + " was taken by its webhook, and its worker owes an ack, nack or "
             "defer until "
           + about.when(member_of(about.job, "ackDeadline")) + ".\n";
  if (status == "processing")
    return job
           + " is being delivered, or is due and goes when its turn comes: "
             "nothing blocks it.\n"
           + last_error(about);
  return job + " is due and goes when its turn comes: nothing blocks it.\n";
}

} // namespace

result<std::string> explain_job(std::string_view job, std::string_view queue,
                                wall_time now) {
  auto document = read_object(job);
  auto of = read_object(queue);
  if (!document || !of)
    return not_tidegate();
  asked about{*document, *of, now};
  auto status = text_of(member_of(about.job, "status"));
  if (status == "completed" || status == "dead")
    return explain_ended(about, status);
  const auto& gates = member_of(about.job, "blockedBy");
  if (!gates.is_array())
    return not_tidegate();
  if (gates.empty())
    return explain_free(about, status);
  auto text = printable("Job " + about.id() + " of queue " + about.queue_name()
                        + " is not running:")
              + '\n';
  text += numbered(gates, about);
  return text + earliest(gates, about) + last_probe(about) + last_error(about);
}

result<std::string> say_run_now(std::string_view job, wall_time now) {
  auto document = read_object(job);
  if (!document)
    return document.reason();
  const json none;
  asked about{*document, none, now};
  const auto& gates = member_of(about.job, "blockedBy");
  if (!gates.is_array())
    return not_tidegate();
  auto id = printable(about.id());
  if (!gates.empty())
    return "run-now ends a delay or a backoff only: " + id
           + " does not go yet:\n" + numbered(gates, about);
  auto status = text_of(member_of(about.job, "status"));
  if (status == "awaiting_ack")
    return id
           + " was taken by its webhook: its worker owes an ack, nack or "
             "defer\n";
  if (status == "processing")
    return "due now, or on its way: " + id + '\n';
  return "due now: " + id + '\n';
}

} // namespace tidegate::http
