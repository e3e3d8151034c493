#include "samples.hpp"

namespace tidegate::test {

using namespace std::chrono_literals;

wall_time at(std::int64_t n) {
  return wall_time{duration{1'735'689'600'000'000 + n}};
}

queue_settings sample_settings() {
  queue_settings settings;
  settings.webhook_url = "http://127.0.0.1:1/hook";
  settings.mode = delivery_mode::ack;
  settings.rate_limit_max = 7;
  settings.backoff.type = backoff_settings::kind::ladder;
  settings.backoff.steps = {0.1, 1, 1e6 / 3};
  settings.ack_timeout = 77s;
  settings.ack_timeout_action = ack_timeout_action::dead;
  settings.retention = 88s;
  settings.dead_letter = false;
  settings.headers = {{"x-b", "2"}, {"x-a", ""}, {"x-b", "1"}};
  settings.permanent_failure_statuses = {404, 599, 300};
  settings.key_concurrency = 3;
  settings.key_rate_limit_max = 4;
  settings.backpressure_scope = backpressure_scope::key;
  settings.recovery = {recovery_settings::kind::ramp, 5, 1.1};
  settings.min_hold = 1s;
  settings.max_hold = 99s;
  settings.max_depth = 123'456'789'012;
  settings.tls_ca = "-----BEGIN CERTIFICATE-----\n";
  settings.tls_insecure = true;
  return settings;
}

queue_record sample_queue(std::uint32_t id, const std::string& name) {
  queue_record queue;
  queue.id = queue_id{id};
  queue.name = name.empty() ? "queue-" + std::to_string(id) : name;
  queue.project = "acme";
  queue.settings = sample_settings();
  queue.secret = "whsec_c2VjcmV0";
  queue.previous_secret = "whsec_b2xk";
  queue.previous_secret_until = at(3);
  queue.created_at = at(1);
  queue.updated_at = at(2);
  return queue;
}

pull_settings sample_pull_settings() {
  pull_settings settings;
  settings.dead_letter_queue = std::string{"d\0\xff", 3};
  settings.max_receive_count = 1000;
  settings.message_retention = 30 * 24h;
  settings.visibility_timeout = 43'200s;
  settings.delay = 604'800s;
  settings.enable_priority = true;
  settings.fifo = true;
  return settings;
}

pull_totals sample_totals() {
  return {1, 2, 3, 4, 5, 6, 7, 8'000'000'000'000'000'000};
}

queue_record sample_pull_queue(std::uint32_t id) {
  auto queue = sample_queue(id);
  queue.kind = queue_kind::pull;
  queue.settings = queue_settings{};
  queue.pull = sample_pull_settings();
  queue.totals = sample_totals();
  return queue;
}

job sample_job(std::uint32_t queue, std::uint64_t seq, const std::string& key) {
  job what;
  what.id = {queue_id{queue}, job_seq{seq}, seq * 7919 % max_48_bits};
  what.payload = payload{"{\"number\": " + std::to_string(seq) + "}"};
  what.idempotency_key = key;
  what.priority = static_cast<std::uint8_t>(seq % 10);
  what.limit_key = "tenant " + std::to_string(seq % 3);
  what.context = job_context{{{{"x-b", "2: two"}, {"x-a", ""}, {"x-b", "1"}},
                              "00-0af7651916cd43dd8448eb211c80319c-01",
                              "vendor=1"}};
  what.created_at = at(static_cast<std::int64_t>(seq));
  what.eligible_at = what.created_at + 5s;
  what.due = what.eligible_at;
  what.waits_for = wait_kind::delay;
  what.waits_since = what.created_at;
  what.expires_at = what.eligible_at + 24h;
  return what;
}

insert_job published(job what) {
  return {std::move(what), api_key_id{}};
}

history_entry sample_entry(std::uint64_t delivery) {
  history_entry entry;
  entry.attempt = delivery;
  entry.delivery = delivery;
  entry.status = delivery_status::failed;
  entry.error = std::string{"no\0pe \xff", 7};
  entry.error_code = delivery_errc::timeout;
  entry.http_status = 500;
  entry.took = 1234us;
  entry.response_excerpt = "<html>";
  entry.retry_after = 2s;
  entry.at = at(static_cast<std::int64_t>(delivery) * 1000);
  return entry;
}

update_job retried(job what, std::uint64_t delivery) {
  what.status = job_status::processing;
  what.attempts = delivery;
  what.deliveries = delivery;
  what.waits_for = wait_kind::backoff;
  what.waits_since = at(9000);
  what.due = at(10000);
  what.reported = callback_kind::nack;
  what.reported_delivery = delivery;
  return {what, sample_entry(delivery)};
}

end_job completed(job what, std::uint64_t delivery) {
  what.status = job_status::completed;
  what.attempts = delivery;
  what.deliveries = delivery;
  what.waits_for = wait_kind::none;
  what.reported = callback_kind::ack;
  what.reported_delivery = delivery;
  what.ended_at = at(20000);
  what.remove_at = at(50000);
  history_entry entry;
  entry.attempt = delivery;
  entry.delivery = delivery;
  entry.http_status = 200;
  entry.at = at(20000);
  return {what, entry};
}

end_job expired(job what) {
  what.status = job_status::dead;
  what.dead_reason = dead_reason::lifetime_exceeded;
  what.ended_at = at(30000);
  what.remove_at = at(40000);
  what.dead_letter = true;
  return {what, std::nullopt};
}

revive_job revived(job what) {
  what.status = job_status::pending;
  what.attempts = 0;
  what.waits_for = wait_kind::none;
  what.waits_since = at(60000);
  what.eligible_at = at(60000);
  what.due = at(60000);
  what.expires_at = at(70000);
  ++what.replays;
  what.background = true;
  what.dead_reason = dead_reason::none;
  what.ended_at.reset();
  what.remove_at.reset();
  what.dead_letter = false;
  history_entry entry;
  entry.status = delivery_status::replayed;
  entry.at = at(60000);
  return {what, entry};
}

update_job received(job what, std::uint64_t delivery) {
  what.status = job_status::awaiting_ack;
  what.attempts = delivery;
  what.deliveries = delivery;
  what.waits_for = wait_kind::none;
  what.waits_since = at(79'000);
  what.due = at(80'000);
  return {what, std::nullopt};
}

job acked(job what, std::uint64_t delivery) {
  return completed(std::move(what), delivery).job;
}

move_message moved(job what, std::uint32_t to) {
  what.source_queue = "queue-" + std::to_string(what.id.queue.value);
  what.source_receives = 3;
  what.dead_lettered_at = at(90'000);
  what.status = job_status::processing;
  what.attempts = 0;
  what.defers = 1;
  what.deliveries = 3;
  what.replays = 2;
  what.background = true;
  what.waits_for = wait_kind::run_at;
  what.waits_since = at(90'001);
  what.due = at(90'002);
  what.eligible_at = at(90'003);
  what.expires_at = at(90'004);
  what.started_delivery = 3;
  what.reported = callback_kind::nack;
  what.reported_delivery = 2;
  return {std::move(what), queue_id{to}};
}

limit_key_record sample_limit_key(const std::string& key) {
  limit_key_record record;
  record.key = key;
  record.gate = sample_gate();
  record.rate = {{at(1), 4}, {at(2), 100000}};
  return record;
}

operation_record sample_operation(std::uint64_t id, std::uint32_t queue) {
  operation_record operation;
  operation.id = operation_id{id};
  operation.queue = queue_id{queue};
  operation.project = "acme";
  operation.queue_name = "queue-" + std::to_string(queue);
  operation.filter = {job_status::dead, "key", dead_reason::ack_timeout, at(1),
                      at(2)};
  operation.limit = 100;
  operation.per_second = 12.5;
  operation.position = job_seq{max_48_bits};
  operation.total = 50;
  operation.done = 7;
  operation.started_at = at(3);
  if (id > 1)
    operation.source = std::string{"s\0\xff", 3};
  return operation;
}

api_key_record sample_api_key(const std::string& name) {
  api_key_record key;
  key.digest = std::string{"\0\xff", 2} + name;
  key.project = "acme";
  key.scopes = 5;
  key.name = name;
  key.created_at = at(1);
  key.expires_at = at(2);
  return key;
}

gate_record sample_gate() {
  gate_record gate;
  gate.state = gate_state::probing;
  gate.release_at = at(5);
  gate.since = at(4);
  gate.cause = hold_cause::worker;
  gate.caused_by = sample_job(1, 77).id;
  gate.http_status = 429;
  gate.failed_probes = 3;
  gate.last = last_probe{sample_job(1, max_48_bits).id, 9,
                         probe_verdict::no_verdict, at(6)};
  gate.reason = "the tenant's \xff quota";
  gate.ramp = 12;
  return gate;
}

} // namespace tidegate::test
