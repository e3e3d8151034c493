// Prints pull queues and their figures.

#include "http/codec_pull.hpp"
#include "http/codec_write.hpp"

namespace tidegate::http {

namespace {

std::uint64_t whole_seconds(duration d) {
  return static_cast<std::uint64_t>(d / std::chrono::seconds{1});
}

// -- queues -------------------------------------------------------------------

void write_queue(json_writer& out, const pull_queue_view& view) {
  const auto& queue = view.queue;
  const auto& settings = queue.pull;
  auto dead_letters = settings.dead_letter_queue;
  if (dead_letters.empty() && settings.max_receive_count > 0)
    dead_letters = queue.name + ".dlq";
  out.begin_object()
    .member("name", queue.name)
    .member("type", settings.fifo ? "fifo" : "standard");
  text_member(out, "dead_letter_queue", dead_letters);
  out.member("max_receive_count", settings.max_receive_count)
    .member("message_retention_days",
            whole_seconds(settings.message_retention) / 86'400)
    .member("visibility_timeout_default",
            whole_seconds(settings.visibility_timeout))
    .member("delay_seconds_default", whole_seconds(settings.delay))
    .member("enable_priority", settings.enable_priority)
    .member("depth", view.available + view.delayed)
    .member("available", view.available)
    .member("delayed", view.delayed)
    .member("in_flight", view.in_flight)
    .member("dlq_count", view.dead_letters)
    .member("created_at", exact_time(queue.created_at))
    .member("updated_at", exact_time(queue.updated_at))
    .end_object();
}

} // namespace

// -- queues -------------------------------------------------------------------

std::string encode(const pull_queue_view& view) {
  json_writer out;
  write_queue(out, view);
  return out.take();
}

std::string encode_stats(const pull_queue_view& view) {
  const auto& totals = view.queue.totals;
  json_writer out;
  out.begin_object()
    .member("queue", view.queue.name)
    .member("depth", view.available + view.delayed)
    .member("available", view.available)
    .member("delayed", view.delayed)
    .member("in_flight", view.in_flight)
    .member("dlq_count", view.dead_letters);
  optional_member(out, "oldest_age_seconds", view.oldest_age, to_seconds);
  out.member("published_total", totals.published)
    .member("received_total", totals.received)
    .member("acked_total", totals.acked)
    .member("nacked_total", totals.nacked)
    .member("expired_total", totals.expired)
    .member("dead_lettered_total", totals.dead_lettered)
    .member("redriven_total", totals.redriven)
    .member("retired_total", totals.retired)
    .member("max_receive_count", view.queue.pull.max_receive_count)
    .member("visibility_timeout",
            whole_seconds(view.queue.pull.visibility_timeout))
    .end_object();
  return out.take();
}

std::string encode(const pull_queue_list& list, std::string_view next_cursor) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (const auto& item : list.items)
    write_queue(out, item);
  end_items(out, next_cursor);
  return out.take();
}

} // namespace tidegate::http
