#include "http/message_json.hpp"

#include "http/codec_write.hpp"

namespace tidegate::http {

namespace {

/// More than a message takes besides its payload and headers.
constexpr std::size_t message_bytes = 640;

void dead_letter_member(json_writer& out, const job& what) {
  out.key("dead_letter");
  if (what.source_queue.empty()) {
    out.null();
    return;
  }
  out.begin_object()
    .member("source_queue", what.source_queue)
    .member("reason", dead_message_reason)
    .member("delivery_count", what.source_receives)
    .member("dead_lettered_at",
            exact_time(what.dead_lettered_at.value_or(what.eligible_at)))
    .end_object();
}

} // namespace

void write_message(json_writer& out, const message_view& view) {
  const auto& what = view.job;
  out.begin_object()
    .member("message_id", to_string(message_id{what.id.seq, what.id.tag}))
    .member("queue", view.queue_name);
  out.key("payload").raw(what.payload.bytes());
  out.member("status", to_string(view.status))
    .member("delivery_count", what.attempts)
    .member("published_at", exact_time(what.created_at));
  if (view.handle)
    out.member("receipt_handle", to_string(*view.handle));
  out.member("visible_at", exact_time(what.due))
    .member("priority", std::uint32_t{what.priority})
    .member("redrive_count", what.replays);
  if (!what.limit_key.empty())
    out.member("message_group_id", what.limit_key);
  headers_member(out, what.context->headers);
  dead_letter_member(out, what);
  out.end_object();
}

std::size_t room_for(const message_view& view) {
  return message_bytes + view.job.payload.bytes().size();
}

std::string encode(const message_view& message) {
  json_writer out;
  out.reserve(room_for(message));
  write_message(out, message);
  return out.take();
}

} // namespace tidegate::http
