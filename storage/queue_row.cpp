#include "storage/queue_row.hpp"

#include "storage/number_list.hpp"

namespace tidegate::queue_row {

std::string places(int n) {
  std::string marks;
  for (auto i = 0; i < n; ++i)
    marks += i == 0 ? "?" : ", ?";
  return marks;
}

// -- settings -----------------------------------------------------------------

void bind_settings(sqlite::execution& use, const update_queue& what) {
  auto& settings = what.settings;
  auto& backoff = settings.backoff;
  use.bind(what.paused)
    .bind(what.paused_since)
    .bind(what.updated_at)
    .bind(settings.mode)
    .bind(settings.concurrency)
    .bind(settings.rate_limit_max)
    .bind(settings.rate_limit_window)
    .bind(settings.max_attempts)
    .bind(settings.max_defers)
    .bind(backoff.type)
    .bind(backoff.delay)
    .bind(backoff.factor)
    .bind(backoff.max_delay)
    .bind(backoff.jitter)
    .bind_copy(write_numbers(backoff.steps))
    .bind(settings.timeout)
    .bind(settings.lifetime)
    .bind(settings.ack_timeout)
    .bind(settings.ack_timeout_action)
    .bind(settings.retention)
    .bind(settings.dead_letter)
    .bind_copy(write_numbers(settings.permanent_failure_statuses))
    .bind(settings.key_concurrency)
    .bind(settings.key_rate_limit_max)
    .bind(settings.backpressure_scope)
    .bind(settings.recovery.mode)
    .bind(settings.recovery.start)
    .bind(settings.recovery.factor)
    .bind(settings.min_hold)
    .bind(settings.max_hold)
    .bind(settings.max_depth)
    .bind(settings.tls_ca)
    .bind(settings.tls_insecure)
    .bind(settings.webhook_url);
}

void take_settings(sqlite::execution& row, queue_record& out) {
  auto& settings = out.settings;
  auto& backoff = settings.backoff;
  std::string steps;
  std::string statuses;
  row.take(out.paused)
    .take(out.paused_since)
    .take(out.updated_at)
    .take(settings.mode)
    .take(settings.concurrency)
    .take(settings.rate_limit_max)
    .take(settings.rate_limit_window)
    .take(settings.max_attempts)
    .take(settings.max_defers)
    .take(backoff.type)
    .take(backoff.delay)
    .take(backoff.factor)
    .take(backoff.max_delay)
    .take(backoff.jitter)
    .take(steps)
    .take(settings.timeout)
    .take(settings.lifetime)
    .take(settings.ack_timeout)
    .take(settings.ack_timeout_action)
    .take(settings.retention)
    .take(settings.dead_letter)
    .take(statuses)
    .take(settings.key_concurrency)
    .take(settings.key_rate_limit_max)
    .take(settings.backpressure_scope)
    .take(settings.recovery.mode)
    .take(settings.recovery.start)
    .take(settings.recovery.factor)
    .take(settings.min_hold)
    .take(settings.max_hold)
    .take(settings.max_depth)
    .take(settings.tls_ca)
    .take(settings.tls_insecure)
    .take(settings.webhook_url);
  backoff.steps = read_numbers<double>(steps);
  settings.permanent_failure_statuses = read_numbers<std::uint16_t>(statuses);
}

// -- gate ---------------------------------------------------------------------

void bind_gate(sqlite::execution& use, const gate_record& gate) {
  use.bind(gate.state).bind(gate.release_at).bind(gate.since).bind(gate.cause);
  if (gate.caused_by)
    use.bind_copy(to_string(*gate.caused_by));
  else
    use.bind_null();
  use.bind(gate.http_status).bind(gate.failed_probes);
  if (gate.last)
    use.bind_copy(to_string(gate.last->job))
      .bind(gate.last->delivery)
      .bind(gate.last->verdict)
      .bind(gate.last->at);
  else
    use.bind_null().bind_null().bind_null().bind_null();
  use.bind(gate.reason).bind(gate.ramp);
}

void take_gate(sqlite::execution& row, gate_record& out) {
  std::string caused_by;
  row.take(out.state)
    .take(out.release_at)
    .take(out.since)
    .take(out.cause)
    .take(caused_by)
    .take(out.http_status)
    .take(out.failed_probes);
  out.caused_by = parse_job_id(caused_by);
  if (row.null_ahead()) {
    row.skip(4);
  } else {
    std::string job;
    auto& last = out.last.emplace();
    row.take(job).take(last.delivery).take(last.verdict).take(last.at);
    last.job = parse_job_id(job).value_or(job_id{});
  }
  row.take(out.reason).take(out.ramp);
}

// -- rate ---------------------------------------------------------------------

void bind_starts(sqlite::execution& use,
                 const std::vector<rate_start>& starts) {
  std::vector<std::int64_t> numbers;
  for (auto& start : starts) {
    numbers.push_back(start.latest.time_since_epoch().count());
    numbers.push_back(start.count);
  }
  use.bind_copy(write_numbers(numbers));
}

void take_starts(sqlite::execution& row, std::vector<rate_start>& out) {
  std::string text;
  row.take(text);
  auto numbers = read_numbers<std::int64_t>(text);
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    out.push_back({wall_time{duration{numbers[i]}},
                   static_cast<std::uint32_t>(numbers[i + 1])});
}

} // namespace tidegate::queue_row
