// Prints queues and limit keys.

#include "http/codec.hpp"
#include "http/codec_write.hpp"

namespace tidegate::http {

namespace {

std::uint64_t as_is(std::uint64_t x) {
  return x;
}

// -- settings -----------------------------------------------------------------

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

void recovery_member(json_writer& out, const recovery_settings& recovery) {
  out.key("recovery").begin_object();
  if (recovery.mode == recovery_settings::kind::full)
    out.member("mode", "full");
  else
    out.member("mode", "ramp")
      .member("start", recovery.start)
      .member("factor", recovery.factor);
  out.end_object();
}

void statuses_member(json_writer& out,
                     const std::vector<std::uint16_t>& statuses) {
  out.key("permanentFailureStatuses").begin_array();
  for (auto status : statuses)
    out.value(std::uint32_t{status});
  out.end_array();
}

void times_members(json_writer& out, const queue_settings& settings) {
  out.member("timeout", to_seconds(settings.timeout))
    .member("ackTimeout", to_seconds(settings.ack_timeout))
    .member("ackTimeoutAction", to_string(settings.ack_timeout_action))
    .member("lifetime", to_seconds(settings.lifetime))
    .member("retention", to_seconds(settings.retention))
    .member("deadLetter", settings.dead_letter);
}

void settings_members(json_writer& out, const queue_settings& settings) {
  out.member("webhookUrl", settings.webhook_url)
    .member("mode", to_string(settings.mode))
    .member("concurrency", settings.concurrency);
  optional_member(out, "rateLimitMax", settings.rate_limit_max, as_is);
  out.member("rateLimitWindow", to_seconds(settings.rate_limit_window))
    .member("maxAttempts", settings.max_attempts)
    .member("maxDefers", settings.max_defers);
  backoff_member(out, settings.backoff);
  times_members(out, settings);
  headers_member(out, settings.headers);
  statuses_member(out, settings.permanent_failure_statuses);
  optional_member(out, "keyConcurrency", settings.key_concurrency, as_is);
  optional_member(out, "keyRateLimitMax", settings.key_rate_limit_max, as_is);
  out.member("backpressureScope", to_string(settings.backpressure_scope));
  recovery_member(out, settings.recovery);
  optional_member(out, "minHold", settings.min_hold, to_seconds);
  optional_member(out, "maxHold", settings.max_hold, to_seconds);
  optional_member(out, "maxDepth", settings.max_depth, as_is);
  text_member(out, "tlsCa", settings.tls_ca);
  out.member("tlsInsecure", settings.tls_insecure);
}

// -- gate ---------------------------------------------------------------------

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
    .member("verdict", to_string(probe->verdict));
  time_member(out, "at", probe->at);
  out.end_object();
}

void gate_member(json_writer& out, const gate_record& gate) {
  auto shut = gate.state != gate_state::open;
  auto if_shut = [&](wall_time at) {
    return shut ? std::optional{at} : std::nullopt;
  };
  auto ramp = gate.ramp == 0 ? std::nullopt : std::optional{gate.ramp};
  out.key("gate").begin_object().member("state", to_string(gate.state));
  time_member(out, "releaseAt", if_shut(gate.release_at));
  time_member(out, "since", if_shut(gate.since));
  text_member(out, "cause",
              gate.cause == hold_cause::none ? "" : to_string(gate.cause));
  text_member(out, "reason", gate.reason);
  job_member(out, "causedByJob", gate.caused_by);
  optional_member(out, "webhookStatusCode", gate.http_status, as_is);
  out.member("failedProbes", gate.failed_probes);
  optional_member(out, "ramp", ramp, as_is);
  last_probe_member(out, gate.last);
  out.end_object();
}

// -- whole objects ------------------------------------------------------------

void counts_member(json_writer& out, const queue_counts& counts) {
  out.key("counts")
    .begin_object()
    .member("pending", counts.pending)
    .member("processing", counts.processing)
    .member("awaitingAck", counts.awaiting_ack)
    .member("completed", counts.completed)
    .member("dead", counts.dead)
    .member("scheduled", counts.scheduled)
    .member("held", counts.held)
    .member("inFlight", counts.in_flight)
    .end_object();
}

void secret_members(json_writer& out, const queue_record& queue) {
  auto overlaps = !queue.previous_secret.empty();
  out.member("signingSecret", queue.secret);
  time_member(out, "previousSecretUntil",
              overlaps ? std::optional{queue.previous_secret_until}
                       : std::nullopt);
}

void write_queue(json_writer& out, const queue_view& view, bool with_secret) {
  const auto& queue = view.queue;
  out.begin_object().member("name", queue.name);
  settings_members(out, queue.settings);
  out.member("paused", queue.paused);
  if (with_secret)
    secret_members(out, queue);
  gate_member(out, queue.gate);
  blocked_by_member(out, view.blocked);
  counts_member(out, view.counts);
  optional_member(out, "oldestAgeSeconds", view.oldest_age, to_seconds);
  time_member(out, "createdAt", queue.created_at);
  time_member(out, "updatedAt", queue.updated_at);
  out.end_object();
}

void write_limit_key(json_writer& out, const limit_key_view& view) {
  out.begin_object().member("key", view.key);
  gate_member(out, view.gate);
  out.member("ready", view.ready).member("inFlight", view.in_flight);
  blocked_by_member(out, view.blocked);
  out.end_object();
}

} // namespace

std::string encode(const queue_view& view, bool with_secret) {
  json_writer out;
  write_queue(out, view, with_secret);
  return out.take();
}

std::string encode(const queue_list& list, std::string_view next_cursor) {
  return print_page(list.items, next_cursor,
                    [](json_writer& out, const queue_view& item) {
                      write_queue(out, item, false);
                    });
}

std::string encode(const limit_key_view& view) {
  json_writer out;
  write_limit_key(out, view);
  return out.take();
}

std::string encode(const limit_key_list& list, std::string_view next_cursor) {
  return print_page(list.items, next_cursor, write_limit_key);
}

} // namespace tidegate::http
