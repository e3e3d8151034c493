// Prints jobs and what became of publishing, replaying and removing them.

#include <algorithm>

#include "http/codec.hpp"
#include "http/codec_write.hpp"
#include "http/iso8601.hpp"
#include "http/problem.hpp"

namespace tidegate::http {

namespace {

// -- history ------------------------------------------------------------------

/// A replay is no delivery, but what was replaced is told of nowhere else.
void replaced_member(json_writer& out, const history_entry& entry) {
  if (entry.status != delivery_status::replayed)
    return;
  out.key("payload");
  if (entry.replaced.bytes().empty())
    out.null();
  else
    out.raw(entry.replaced.bytes());
}

void write_history_entry(json_writer& out, const history_entry& entry) {
  auto code =
    entry.error_code == delivery_errc::none ? "" : to_string(entry.error_code);
  out.begin_object()
    .member("attempt", entry.attempt)
    .member("delivery", entry.delivery)
    .member("status", to_string(entry.status));
  text_member(out, "error", entry.error);
  text_member(out, "errorCode", code);
  optional_member(out, "webhookStatusCode", entry.http_status,
                  [](std::uint16_t x) { return std::uint32_t{x}; });
  out.member("durationMs", to_seconds(entry.took * 1000));
  text_member(out, "responseExcerpt", entry.response_excerpt);
  optional_member(out, "retryAfter", entry.retry_after, to_seconds);
  time_member(out, "timestamp", entry.at);
  replaced_member(out, entry);
  out.end_object();
}

void history_members(json_writer& out, const job_record& record) {
  const auto& history = record.history;
  auto last = std::find_if(history.rbegin(), history.rend(),
                           [](const auto& x) { return !x.error.empty(); });
  text_member(out, "lastError", last == history.rend() ? "" : last->error);
  out.key("history").begin_array();
  for (const auto& entry : history)
    write_history_entry(out, entry);
  out.end_array().member("historyDropped", record.history_dropped);
}

// -- jobs ---------------------------------------------------------------------

/// A job that awaits its ack has a deadline, not a time to go.
bool waits_for_a_time(const job& what) {
  return (what.status == job_status::pending
          || what.status == job_status::processing)
         && what.waits_for != wait_kind::none;
}

/// A job that was taken by its webhook does not expire.
bool may_expire(const job& what) {
  return what.status == job_status::pending
         || what.status == job_status::processing;
}

std::optional<wall_time> ended_as(const job& what, job_status status) {
  return what.status == status ? what.ended_at : std::nullopt;
}

enum class detail : std::uint8_t {
  /// Everything.
  all,
  /// No history.
  payload,
  /// Neither history nor payload.
  none,
};

void write_job(json_writer& out, const job_view& view, detail shown) {
  const auto& what = view.record.job;
  auto dead = what.status == job_status::dead;
  out.begin_object()
    .member("id", to_string(what.id))
    .member("queue", view.queue_name)
    .member("status", to_string(what.status))
    .member("attempts", what.attempts)
    .member("maxAttempts", view.max_attempts)
    .member("deferCount", what.defers)
    .member("maxDefers", view.max_defers)
    .member("deliveries", what.deliveries);
  text_member(out, "idempotencyKey", what.idempotency_key);
  text_member(out, "limitKey", what.limit_key);
  out.member("priority", std::uint32_t{what.priority});
  headers_member(out, what.context->headers);
  if (shown != detail::none)
    out.key("payload").raw(what.payload.bytes());
  time_member(out, "scheduledFor",
              waits_for_a_time(what) ? std::optional{what.due} : std::nullopt);
  time_member(out, "ackDeadline",
              what.status == job_status::awaiting_ack ? std::optional{what.due}
                                                      : std::nullopt);
  time_member(out, "expiresAt",
              may_expire(what) ? std::optional{what.expires_at} : std::nullopt);
  blocked_by_member(out, view.blocked);
  text_member(out, "deadReason", dead ? to_string(what.dead_reason) : "");
  if (shown == detail::all)
    history_members(out, view.record);
  out.member("replayCount", what.replays);
  time_member(out, "createdAt", what.created_at);
  time_member(out, "completedAt", ended_as(what, job_status::completed));
  time_member(out, "deadAt", ended_as(what, job_status::dead));
  out.end_object();
}

// -- publishing ---------------------------------------------------------------

void publish_members(json_writer& out, const publish_result& result) {
  out.member("id", to_string(result.id))
    .member("status", to_string(result.status))
    .member("createdAt", to_iso8601(result.created_at));
  if (result.duplicate)
    out.member("duplicate", true);
  if (result.payload_mismatch)
    out.member("payloadMismatch", true);
}

void write_result(json_writer& out,
                  const std::variant<publish_result, error>& result) {
  if (auto reason = std::get_if<error>(&result)) {
    out.raw(refused_entry(*reason));
    return;
  }
  out.begin_object().member("ok", true);
  publish_members(out, std::get<publish_result>(result));
  out.end_object();
}

} // namespace

std::string encode(const publish_result& result) {
  json_writer out;
  out.reserve(128);
  out.begin_object();
  publish_members(out, result);
  out.end_object();
  return out.take();
}

std::string encode(const publish_batch_result& results,
                   const std::vector<std::string>& refusals) {
  json_writer out;
  out.reserve(32 + refusals.size() * 128);
  out.begin_object().key("results").begin_array();
  auto next = results.results.begin();
  for (const auto& refusal : refusals) {
    if (!refusal.empty())
      out.raw(refusal);
    else if (next != results.results.end())
      write_result(out, *next++);
  }
  out.end_array().end_object();
  return out.take();
}

std::string encode(const job_view& view) {
  json_writer out;
  out.reserve(1024 + view.record.job.payload.bytes().size());
  write_job(out, view, detail::all);
  return out.take();
}

std::string encode(const job_list& list, bool payloads,
                   std::string_view next_cursor) {
  return print_page(
    list.items, next_cursor, [=](json_writer& out, const job_view& item) {
      write_job(out, item, payloads ? detail::payload : detail::none);
    });
}

std::string encode(const report_taken& report) {
  json_writer out;
  out.begin_object()
    .member("id", to_string(report.id))
    .member("accepted", true)
    .end_object();
  return out.take();
}

std::string encode(const jobs_removed& removed) {
  json_writer out;
  out.begin_object().member("count", removed.count).end_object();
  return out.take();
}

std::string encode(const replay_plan& plan) {
  if (plan.operation)
    return encode(*plan.operation);
  json_writer out;
  out.begin_object().member("count", plan.count).key("sample").begin_array();
  for (const auto& item : plan.sample)
    write_job(out, item, detail::none);
  out.end_array().end_object();
  return out.take();
}

} // namespace tidegate::http
