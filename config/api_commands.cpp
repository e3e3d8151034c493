#include "config/api_commands.hpp"

namespace tidegate::config {

namespace {

using enum word_kind;

constexpr api_word queue{"queue", place, "QUEUE", "name of the queue"};
constexpr api_word job{"job", place, "ID", "id of the job"};
constexpr api_word limit{"limit", number, "N",
                         "most to show, 1 to 1000000 (100)"};
constexpr api_word limit_key{"limit-key", text, "KEY",
                             "only those of this key"};
constexpr api_word since{"since", text, "TIME",
                         "from then on: a time such as "
                         "2030-01-31T00:00:00Z, or an age such as 2h"};
constexpr api_word until{"until", text, "TIME", "before then, likewise"};
constexpr api_word dead_reason{"reason", text, "WORD",
                               "only those that died of it, such as "
                               "attempts_exhausted"};
constexpr api_word set{"set", list, "NAME=VALUE",
                       "a setting of the API, such as concurrency=5; the value "
                       "is JSON, and a string where it is not (repeatable)"};
constexpr api_word note{"reason", text, "TEXT", "why, for people"};

std::vector<api_command> queue_commands() {
  return {
    {"queues", "list", "Lists the push queues, then the pull queues", {limit}},
    {"queues", "show", "Shows a queue, its gate and what it has", {queue}},
    {"queues",
     "create",
     "Creates a queue",
     {queue,
      {"webhook-url", text, "URL", "where its jobs go"},
      {"concurrency", number, "N", "most deliveries in flight (10)"},
      {"mode", text, "MODE", "standard or ack (standard)"},
      set}},
    {"queues", "update", "Changes settings of a queue", {queue, set}},
    {"queues", "pause", "Lets nothing start until it is resumed", {queue}},
    {"queues", "resume", "Ends a pause", {queue}},
    {"queues",
     "hold",
     "Holds a queue for a time, then one probe tests it",
     {queue, {"for", place, "TIME", "how long, such as 30, 30s or 5m"}, note}},
    {"queues",
     "release",
     "Lets the probe of a held queue go now",
     {queue, {"limit-key", text, "KEY", "that of a held limit key"}}},
    {"queues",
     "delete",
     "Deletes a queue and what it has",
     {queue, {"force", flag, "", "also where jobs are waiting in it"}}},
  };
}

std::vector<api_command> job_commands() {
  return {
    {"jobs",
     "list",
     "Lists the jobs of a queue, newest first",
     {queue,
      {"status", text, "WORD",
       "pending, processing, awaiting_ack, completed or dead"},
      limit_key,
      {"idempotency-key", text, "KEY", "only the one with this key"},
      dead_reason,
      since,
      until,
      limit}},
    {"jobs", "show", "Shows a job with its payload and history", {job}},
    {"jobs",
     "publish",
     "Publishes a job",
     {queue,
      {"payload", place, "PAYLOAD", "JSON, or - to read it from stdin"},
      {"delay", number, "SECONDS", "wait before it goes (0)"},
      {"run-at", text, "TIME", "when it goes, instead of a delay"},
      {"priority", number, "N", "0 to 9, higher goes first (0)"},
      {"idempotency-key", text, "KEY", "publish it once"},
      {"limit-key", text, "KEY", "whose limits count as well"},
      {"header", list, "NAME:VALUE", "goes along with it (repeatable)"}}},
    {"jobs", "cancel", "Cancels a job that has not ended", {job}},
    {"jobs", "run-now", "Ends the delay or backoff of a job", {job}},
    {"jobs", "explain", "Says why a job is not running, and until when", {job}},
    {"jobs",
     "replay",
     "Gives a dead job another life",
     {job, {"payload", text, "JSON", "with this payload instead of its own"}}},
  };
}

std::vector<api_command> dead_letter_commands() {
  return {
    {"dlq",
     "list",
     "Lists the dead letters of a queue, newest first",
     {queue, dead_reason, limit_key, since, until, limit}},
    {"dlq",
     "replay",
     "Replays dead letters and waits until that is done",
     {queue,
      dead_reason,
      limit_key,
      since,
      until,
      {"id", list, "ID", "only this job (repeatable)"},
      {"limit", number, "N", "most to replay (all)"},
      {"per-second", number, "N", "how fast (1000)"},
      {"dry-run", flag, "", "only say what would be replayed"},
      {"no-wait", flag, "", "print the operation and leave it to the server"}}},
    {"dlq",
     "delete",
     "Removes dead letters for good",
     {queue,
      dead_reason,
      limit_key,
      since,
      until,
      {"all", flag, "", "every one, where nothing else says which"}}},
  };
}

std::vector<api_command> pull_commands() {
  constexpr api_word reason{"reason", text, "WORD",
                            "only those that died of it: max_receive_count"};
  return {
    {"pull", "list", "Lists the pull queues", {limit}},
    {"pull",
     "show",
     "Shows a pull queue: settings, figures and its webhook",
     {queue}},
    {"pull",
     "create",
     "Creates a pull queue",
     {queue, {"type", text, "TYPE", "standard or fifo (standard)"}, set}},
    {"pull", "update", "Changes settings of a pull queue", {queue, set}},
    {"pull",
     "publish",
     "Publishes a message",
     {queue,
      {"payload", place, "PAYLOAD", "JSON, or - to read it from stdin"},
      {"delay", number, "SECONDS", "wait before it can be received"},
      {"priority", number, "N", "0 to 9, higher goes first (0)"},
      {"group", text, "GROUP", "fifo: the group that it belongs to"},
      {"deduplication-id", text, "ID", "fifo: publish it once in 5 minutes"},
      {"idempotency-key", text, "KEY", "publish it once in 24 hours"},
      {"header", list, "NAME:VALUE", "goes along with it (repeatable)"}}},
    {"pull",
     "peek",
     "Shows what would be received next, without receiving it",
     {queue, {"limit", number, "N", "most to show, 1 to 1000 (100)"}}},
    {"pull", "purge", "Removes all messages that nobody has received", {queue}},
    {"pull",
     "delete",
     "Deletes a pull queue and what it has",
     {queue, {"force", flag, "", "also where messages are in it"}}},
    {"pull",
     "dlq",
     "Lists the dead letters of a pull queue, newest first",
     {queue, reason, since, until, limit}},
    {"pull",
     "redrive",
     "Sends dead letters back and waits until that is done",
     {queue,
      reason,
      since,
      until,
      {"id", list, "ID", "only this message (repeatable)"},
      {"limit", number, "N", "most to redrive (all)"},
      {"per-second", number, "N", "how fast (1000)"},
      {"dry-run", flag, "", "only say what would be redriven"},
      {"no-wait", flag, "", "print the operation and leave it to the server"}}},
  };
}

std::vector<api_command> operation_commands() {
  constexpr api_word operation{"operation", place, "ID", "id of the operation"};
  return {
    {"operations", "list", "Lists operations, newest first", {limit}},
    {"operations", "show", "Shows how far an operation is", {operation}},
    {"operations", "cancel", "Stops an operation where it is", {operation}},
  };
}

std::vector<api_command> event_commands() {
  return {
    {"tail",
     "",
     "Follows events until it is interrupted",
     {{"queue", text, "QUEUE", "only those of this queue"},
      {"types", text, "WORDS", "only these, such as queue.held,job.dead"}}}};
}

std::vector<api_command> all_commands() {
  auto result = queue_commands();
  for (auto more : {job_commands(), dead_letter_commands(), pull_commands(),
                    operation_commands(), event_commands()})
    result.insert(result.end(), more.begin(), more.end());
  return result;
}

constexpr api_group groups[] = {
  {"queues", "Lists, shows, makes and steers queues of a running server"},
  {"jobs", "Publishes, shows, explains and cancels jobs"},
  {"dlq", "Lists, replays and removes dead letters"},
  {"pull", "Lists, shows, fills and redrives queues that workers ask"},
  {"tail", "Follows what happens, event by event, until it is interrupted"},
  {"operations", "Shows and stops what runs for a while, such as a replay"},
};

constexpr api_word common_words[] = {
  {"url", text, "URL",
   "where the server is (TIDEGATE_URL, else http://127.0.0.1:8080)"},
  {"key", text, "KEY",
   "API key (TIDEGATE_API_KEY, which other users of the machine cannot see)"},
  {"tls-ca", text, "FILE",
   "PEM file of authorities to trust besides the system's "
   "(TIDEGATE_TLS_CA)"},
  {"json", flag, "", "print what the API answers, for programs"},
};

} // namespace

std::span<const api_command> api_commands() {
  static const auto result = all_commands();
  return result;
}

std::span<const api_group> api_groups() {
  return groups;
}

std::span<const api_word> api_common_words() {
  return common_words;
}

} // namespace tidegate::config
