// What people are told who meant another command.

#include <algorithm>
#include <array>
#include <charconv>

#include "http/cli_session.hpp"
#include "http/iso8601.hpp"

namespace tidegate::http {

namespace {

/// Most dead letters that are moved by one call.
constexpr std::uint64_t moved_max = 1'000'000'000;

/// Commands that do the same for the two kinds of queues, as far as there are
/// such; a verb that is not there has `--help`.
struct twins {
  std::string_view group;
  std::string_view verb;
  std::string_view other_group;
  std::string_view other_verb;
};

constexpr std::array pairs = {
  twins{"queues", "show", "pull", "show"},
  twins{"queues", "create", "pull", "show"},
  twins{"queues", "update", "pull", "update"},
  twins{"queues", "delete", "pull", "delete"},
  twins{"queues", "release", "pull", "show"},
  twins{"queues", "", "pull", ""},
  twins{"jobs", "publish", "pull", "publish"},
  twins{"jobs", "list", "pull", "peek"},
  twins{"jobs", "", "pull", ""},
  twins{"dlq", "list", "pull", "dlq"},
  twins{"dlq", "replay", "pull", "redrive"},
  twins{"dlq", "", "pull", ""},
  twins{"pull", "show", "queues", "show"},
  twins{"pull", "create", "queues", "show"},
  twins{"pull", "update", "queues", "update"},
  twins{"pull", "delete", "queues", "delete"},
  twins{"pull", "publish", "jobs", "publish"},
  twins{"pull", "peek", "jobs", "list"},
  twins{"pull", "dlq", "dlq", "list"},
  twins{"pull", "redrive", "dlq", "replay"},
  twins{"pull", "", "queues", ""},
};

/// Says which command is for queues of the other kind.
std::string twin_of(const cli_call& call, const std::string& queue) {
  auto twin = std::find_if(pairs.begin(), pairs.end(), [&](const auto& x) {
    return x.group == call.group && (x.verb == call.verb || x.verb.empty());
  });
  if (twin == pairs.end())
    return {};
  std::string result = ": tidegate ";
  result += twin->other_group;
  if (twin->other_verb.empty())
    return result + " --help lists what there is for those";
  return result.append(" ").append(twin->other_verb) + ' ' + queue;
}

const std::string* last_word(const cli_call& call, const char* name) {
  auto given = call.words.find(name);
  return given == call.words.end() || given->second.empty()
           ? nullptr
           : &given->second.back();
}

std::string got(const std::string& text) {
  return ", got \"" + text + '"';
}

std::optional<std::string> complaint_about_times(const cli_call& call) {
  for (const auto* name : {"since", "until"}) {
    const auto* text = last_word(call, name);
    if (text != nullptr && !parse_span(*text) && !parse_iso8601(*text))
      return std::string{"--"} + name
             + " must be a time such as 2030-01-31T00:00:00Z, or an age such "
               "as 2h"
             + got(*text);
  }
  const auto* text = last_word(call, "run-at");
  if (text != nullptr && !parse_iso8601(*text))
    return "--run-at must be a time such as 2030-01-31T00:00:00Z" + got(*text);
  return std::nullopt;
}

bool is_message(const std::string& id) {
  return id.starts_with("qmsg_");
}

bool is_job(const std::string& id) {
  return id.starts_with("job_");
}

bool is_operation(const std::string& id) {
  return id.starts_with("op_");
}

constexpr char where_messages_are[] =
  ": tidegate pull peek QUEUE and tidegate pull dlq QUEUE show messages";

/// Says what else an id is that should be that of a job.
std::optional<std::string> complaint_about_job(const std::string& id) {
  if (is_message(id))
    return id + " is a message of a pull queue, not a job" + where_messages_are;
  if (is_operation(id))
    return id + " is an operation, not a job: tidegate operations is for it";
  return std::nullopt;
}

/// The same of an operation.
std::optional<std::string> complaint_about_operation(const std::string& id) {
  if (is_message(id))
    return id + " is a message of a pull queue, not an operation"
           + where_messages_are;
  if (is_job(id))
    return id + " is a job, not an operation: tidegate jobs is for it";
  return std::nullopt;
}

std::optional<std::string> complaint_about_ids(const cli_call& call) {
  if (const auto* job = last_word(call, "job"))
    return complaint_about_job(*job);
  if (const auto* operation = last_word(call, "operation"))
    return complaint_about_operation(*operation);
  auto ids = call.words.find("id");
  if (ids == call.words.end())
    return std::nullopt;
  for (const auto& id : ids->second) {
    if (call.group == "dlq" && is_message(id))
      return id + " is a message, not a job: tidegate pull redrive is for it";
    if (call.group == "pull" && is_job(id))
      return id + " is a job, not a message: tidegate dlq replay is for it";
  }
  return std::nullopt;
}

/// What moves dead letters has the limit in its body, under other names.
std::optional<std::string> complaint_about_limit(const cli_call& call) {
  const auto* text = last_word(call, "limit");
  if (text == nullptr || (call.verb != "redrive" && call.verb != "replay"))
    return std::nullopt;
  std::uint64_t limit = 0;
  auto last = text->data() + text->size();
  auto [end, failure] = std::from_chars(text->data(), last, limit);
  if (failure == std::errc{} && end == last && limit > 0 && limit <= moved_max)
    return std::nullopt;
  return "--limit must be a whole number from 1 to " + std::to_string(moved_max)
         + got(*text);
}

} // namespace

std::optional<std::string> complaint_about(const cli_call& call) {
  for (auto* complaint :
       {complaint_about_ids, complaint_about_times, complaint_about_limit})
    if (auto sentence = complaint(call))
      return sentence;
  return std::nullopt;
}

std::string hint_on(const cli_call& call, std::string_view code,
                    std::string_view sentence) {
  const auto* queue = last_word(call, "queue");
  auto about_it = queue != nullptr
                  && sentence.find('\'' + *queue + '\'') != std::string::npos;
  if (!about_it)
    return {};
  if (code == "wrong_queue_kind")
    return twin_of(call, *queue);
  if (code == "queue_not_empty" && call.verb == "delete")
    return ": --force deletes it with all that it has";
  return {};
}

} // namespace tidegate::http
