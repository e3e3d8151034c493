#include "samples.hpp"

namespace tidegate::test {

using namespace std::chrono_literals;

wall_time at(std::int64_t n) {
  return wall_time{duration{1'735'689'600'000'000 + n}};
}

queue_record sample_queue(std::uint32_t id, const std::string& name) {
  queue_record queue;
  queue.id = queue_id{id};
  queue.name = name.empty() ? "queue-" + std::to_string(id) : name;
  queue.settings.webhook_url = "http://127.0.0.1:1/hook";
  queue.settings.rate_limit_max = 7;
  queue.settings.backoff.type = backoff_settings::kind::ladder;
  queue.settings.backoff.steps = {0.1, 1, 1e6 / 3};
  queue.settings.headers = {{"x-b", "2"}, {"x-a", ""}, {"x-b", "1"}};
  queue.secret = "whsec_c2VjcmV0";
  queue.created_at = at(1);
  queue.updated_at = at(2);
  return queue;
}

job sample_job(std::uint32_t queue, std::uint64_t seq, const std::string& key) {
  job what;
  what.id = {queue_id{queue}, job_seq{seq}, seq * 7919 % max_48_bits};
  what.payload = payload{"{\"number\": " + std::to_string(seq) + "}"};
  what.idempotency_key = key;
  what.created_at = at(static_cast<std::int64_t>(seq));
  what.eligible_at = what.created_at + 5s;
  what.due = what.eligible_at;
  what.waits_for = wait_kind::delay;
  what.waits_since = what.created_at;
  what.expires_at = what.eligible_at + 24h;
  return what;
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
  return {what, sample_entry(delivery)};
}

end_job completed(job what, std::uint64_t delivery) {
  what.status = job_status::completed;
  what.attempts = delivery;
  what.deliveries = delivery;
  what.waits_for = wait_kind::none;
  what.ended_at = at(20000);
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
  return {what, std::nullopt};
}

} // namespace tidegate::test
