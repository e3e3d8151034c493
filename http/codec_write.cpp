// Prints queues and jobs.

#include "http/codec.hpp"

#include <algorithm>
#include <chrono>

#include "http/cursor.hpp"
#include "http/iso8601.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

// -- parts --------------------------------------------------------------------

/// Prints the member `name`: what `present` says, or null.
template <class T, class F>
void optional_member(json_writer& out, std::string_view name,
                     const std::optional<T>& content, F present) {
  out.key(name);
  if (content)
    out.value(present(*content));
  else
    out.null();
}

void time_member(json_writer& out, std::string_view name,
                 std::optional<wall_time> at) {
  optional_member(out, name, at, [](wall_time x) { return to_iso8601(x); });
}

void job_member(json_writer& out, std::string_view name,
                std::optional<job_id> id) {
  optional_member(out, name, id, [](job_id x) { return to_string(x); });
}

void text_member(json_writer& out, std::string_view name,
                 std::string_view text) {
  out.key(name);
  if (text.empty())
    out.null();
  else
    out.value(text);
}

void blocked_by_member(json_writer& out, const std::vector<blocked_by>& list) {
  out.key("blockedBy").begin_array();
  for (const auto& gate : list) {
    out.begin_object().member("gate", to_string(gate.gate));
    time_member(out, "since", gate.since);
    time_member(out, "until", gate.until);
    out.member("reason", gate.reason);
    job_member(out, "causedByJob", gate.caused_by_job);
    out.end_object();
  }
  out.end_array();
}

// -- queues -------------------------------------------------------------------

void backoff_member(json_writer& out, const backoff_settings& backoff) {
  using kind = backoff_settings::kind;
  out.key("backoff").begin_object();
  switch (backoff.type) {
    case kind::exponential:
      out.member("type", "exponential")
        .member("delay", backoff.delay)
        .member("factor", backoff.factor)
        .member("maxDelay", backoff.max_delay);
      break;
    case kind::fixed:
      out.member("type", "fixed").member("delay", backoff.delay);
      break;
    case kind::ladder:
      out.member("type", "ladder").key("steps").begin_array();
      for (auto step : backoff.steps)
        out.value(step);
      out.end_array();
      break;
  }
  out.member("jitter", backoff.jitter).end_object();
}

void settings_members(json_writer& out, const queue_settings& settings) {
  out.member("webhookUrl", settings.webhook_url)
    .member("mode", "standard")
    .member("concurrency", settings.concurrency);
  optional_member(out, "rateLimitMax", settings.rate_limit_max,
                  [](std::uint32_t x) { return x; });
  out.member("rateLimitWindow", to_seconds(settings.rate_limit_window))
    .member("maxAttempts", settings.max_attempts)
    .member("maxDefers", settings.max_defers);
  backoff_member(out, settings.backoff);
  out.member("timeout", to_seconds(settings.timeout))
    .member("lifetime", to_seconds(settings.lifetime));
  out.key("headers").begin_object();
  for (const auto& [name, value] : settings.headers)
    out.member(name, value);
  out.end_object();
}

void last_probe_member(json_writer& out,
                       const std::optional<last_probe>& probe) {
  out.key("lastProbe");
  if (!probe) {
    out.null();
    return;
  }
  out.begin_object()
    .member("job", to_string(probe->job))
    .member("delivery", probe->delivery)
    .member("verdict", to_string(probe->verdict))
    .member("at", to_iso8601(probe->at))
    .end_object();
}

void gate_member(json_writer& out, const gate_record& gate) {
  auto shut = gate.state != gate_state::open;
  auto if_shut = [&](wall_time at) {
    return shut ? std::optional{at} : std::nullopt;
  };
  out.key("gate").begin_object().member("state", to_string(gate.state));
  time_member(out, "releaseAt", if_shut(gate.release_at));
  time_member(out, "since", if_shut(gate.since));
  text_member(out, "cause",
              gate.cause == hold_cause::none ? "" : to_string(gate.cause));
  job_member(out, "causedByJob", gate.caused_by);
  optional_member(out, "webhookStatusCode", gate.http_status,
                  [](std::uint16_t x) { return std::uint32_t{x}; });
  out.member("failedProbes", gate.failed_probes);
  last_probe_member(out, gate.last);
  out.end_object();
}

void counts_member(json_writer& out, const queue_counts& counts) {
  out.key("counts")
    .begin_object()
    .member("pending", counts.pending)
    .member("processing", counts.processing)
    .member("awaitingAck", std::uint64_t{0})
    .member("completed", counts.completed)
    .member("dead", counts.dead)
    .member("scheduled", counts.scheduled)
    .member("held", counts.held)
    .member("inFlight", counts.in_flight)
    .end_object();
}

void write_queue(json_writer& out, const queue_view& view, bool with_secret) {
  const auto& queue = view.queue;
  out.begin_object().member("name", queue.name);
  settings_members(out, queue.settings);
  out.member("paused", queue.paused);
  if (with_secret)
    out.member("signingSecret", queue.secret);
  gate_member(out, queue.gate);
  blocked_by_member(out, view.blocked);
  counts_member(out, view.counts);
  optional_member(out, "oldestAgeSeconds", view.oldest_age, to_seconds);
  time_member(out, "createdAt", queue.created_at);
  time_member(out, "updatedAt", queue.updated_at);
  out.end_object();
}

// -- jobs ---------------------------------------------------------------------

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

bool has_ended(const job& what) {
  return what.status == job_status::completed
         || what.status == job_status::dead;
}

std::optional<wall_time> scheduled_for(const job& what) {
  if (has_ended(what) || what.waits_for == wait_kind::none)
    return std::nullopt;
  return what.due;
}

std::optional<wall_time> ended_as(const job& what, job_status status) {
  return what.status == status ? what.ended_at : std::nullopt;
}

} // namespace

// -- whole bodies -------------------------------------------------------------

std::string encode(const queue_view& view, bool with_secret) {
  json_writer out;
  write_queue(out, view, with_secret);
  return out.take();
}

std::string encode(const queue_list& list) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (const auto& item : list.items)
    write_queue(out, item, false);
  out.end_array();
  text_member(out, "nextCursor",
              list.next_after.empty() ? ""
                                      : make_queue_cursor(list.next_after));
  out.end_object();
  return out.take();
}

std::string encode(const publish_result& result) {
  json_writer out;
  out.reserve(128);
  out.begin_object()
    .member("id", to_string(result.id))
    .member("status", to_string(result.status))
    .member("createdAt", to_iso8601(result.created_at));
  if (result.duplicate)
    out.member("duplicate", true);
  if (result.payload_mismatch)
    out.member("payloadMismatch", true);
  out.end_object();
  return out.take();
}

std::string encode(const job_view& view) {
  const auto& what = view.record.job;
  auto dead = what.status == job_status::dead;
  json_writer out;
  out.reserve(1024 + what.payload.bytes().size());
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
  out.key("payload").raw(what.payload.bytes());
  time_member(out, "scheduledFor", scheduled_for(what));
  blocked_by_member(out, view.blocked);
  text_member(out, "deadReason", dead ? to_string(what.dead_reason) : "");
  history_members(out, view.record);
  time_member(out, "createdAt", what.created_at);
  time_member(out, "completedAt", ended_as(what, job_status::completed));
  time_member(out, "deadAt", ended_as(what, job_status::dead));
  out.end_object();
  return out.take();
}

} // namespace tidegate::http
