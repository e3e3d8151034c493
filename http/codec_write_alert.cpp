// Prints alerts.

#include "http/codec_alert.hpp"
#include "http/codec_write.hpp"
#include "http/iso8601.hpp"
#include "http/json_scan.hpp"
#include "http/message_json.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate::http {

namespace {

std::uint64_t whole_seconds(duration span) {
  return static_cast<std::uint64_t>(
    std::chrono::floor<std::chrono::seconds>(span).count());
}

/// Prints a span in the largest unit of which there are two.
std::string print_span(std::uint64_t seconds) {
  struct unit {
    std::uint64_t size;
    const char* name;
  };
  for (auto [size, name] :
       {unit{86'400, " d"}, unit{3600, " h"}, unit{60, " min"}})
    if (seconds >= 2 * size)
      return std::to_string(seconds / size) + name;
  return std::to_string(seconds) + " s";
}

std::string queue_of(const alert& what) {
  return "queue " + what.queue + " in project " + what.project;
}

std::string print_jobs(const alert& what) {
  std::string result = std::to_string(what.count);
  result += what.kind == queue_kind::push ? " job" : " message";
  return what.count == 1 ? result : result + "s";
}

std::string describe_deaths(const alert& what) {
  return print_jobs(what) + " of " + queue_of(what)
         + (what.count == 1 ? " was given up on" : " were given up on");
}

std::string describe_hold(const alert& what, bool firing) {
  return "Q" + queue_of(what).substr(1)
         + (firing ? " has been held for " : " is held no longer, after ")
         + print_span(whole_seconds(what.span));
}

std::string describe_depth(const alert& what, bool firing) {
  return "Q" + queue_of(what).substr(1) + " has " + print_jobs(what)
         + (firing ? ", more than " : ", no more than ")
         + std::to_string(what.limit);
}

std::string describe_age(const alert& what, bool firing) {
  auto limit = print_span(what.limit);
  std::string what_kind = what.kind == queue_kind::push ? "job" : "message";
  if (!firing)
    return "No " + what_kind + " of " + queue_of(what) + " is older than "
           + limit + " any more";
  return "The oldest " + what_kind + " of " + queue_of(what) + " is "
         + print_span(whole_seconds(what.span)) + " old, more than " + limit;
}

/// Prints null where `number` means nothing for this cause.
void number_member(json_writer& out, std::string_view name, bool present,
                   std::uint64_t number) {
  out.key(name);
  if (present)
    out.value(number);
  else
    out.null();
}

void dead_members(json_writer& out, const alert& what) {
  if (what.kind == queue_kind::push)
    job_member(out, "job", what.job);
  else
    optional_member(out, "job", what.job, [](job_id x) {
      return to_string(message_id{x.seq, x.tag});
    });
  auto dead = what.cause == alert_cause::job_dead;
  auto known = what.reason != dead_reason::none;
  text_member(out, "reason",
              dead && what.kind == queue_kind::pull ? dead_message_reason
              : known                               ? to_string(what.reason)
                                                    : "");
}

} // namespace

std::string describe(const alert& what) {
  auto firing = what.state == alert_state::firing;
  if (what.gone)
    return "Q" + queue_of(what).substr(1) + " was deleted";
  switch (what.cause) {
    case alert_cause::job_dead:
      return describe_deaths(what);
    case alert_cause::queue_held:
      return describe_hold(what, firing);
    case alert_cause::queue_depth:
      return describe_depth(what, firing);
    case alert_cause::queue_age:
      return describe_age(what, firing);
  }
  return "unknown";
}

std::string encode(const alert& what) {
  auto timed = what.cause == alert_cause::queue_held
               || what.cause == alert_cause::queue_age;
  json_writer out;
  out.begin_object()
    .member("cause", to_string(what.cause))
    .member("state", to_string(what.state))
    .member("project", what.project)
    .member("queue", what.queue)
    .member("kind", what.kind == queue_kind::push ? "push" : "pull")
    .member("message", describe(what));
  time_member(out, "at", what.at);
  time_member(out, "since", what.since);
  time_member(out, "until", what.until);
  number_member(out, "count", !timed && !what.gone, what.count);
  number_member(out, "seconds", timed && !what.gone, whole_seconds(what.span));
  number_member(out, "limit", what.cause != alert_cause::job_dead, what.limit);
  dead_members(out, what);
  out.end_object();
  return out.take();
}

std::optional<wall_time> read_since(std::string_view encoded) {
  auto scanned = scan_json(encoded, 1);
  auto* outline = std::get_if<json_outline>(&scanned);
  if (outline == nullptr)
    return std::nullopt;
  for (const auto& [key, value] : outline->parts)
    if (key == R"("since")" && kind_of(value) == json_kind::string)
      return parse_iso8601(value.substr(1, value.size() - 2));
  return std::nullopt;
}

} // namespace tidegate::http
