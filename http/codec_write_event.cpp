// Prints events.

#include "http/codec.hpp"
#include "http/codec_write.hpp"
#include "http/message_json.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate::http {

namespace {

/// Prints the job or the message that it is about.
void subject_member(json_writer& out, const service_event& event) {
  if (!event.is_message)
    job_member(out, "job", event.job);
  else
    optional_member(out, "message", event.job, [](job_id x) {
      return to_string(message_id{x.seq, x.tag});
    });
}

void gate_members(json_writer& out, const service_event& event) {
  text_member(out, "limitKey", event.limit_key);
  text_member(out, "cause",
              event.cause == hold_cause::none ? "" : to_string(event.cause));
  text_member(out, "reason", event.detail);
  time_member(out, "releaseAt", event.release_at);
  subject_member(out, event);
  optional_member(out, "webhookStatusCode", event.http_status,
                  [](std::uint16_t status) { return std::uint32_t{status}; });
  optional_member(out, "verdict", event.verdict,
                  [](probe_verdict verdict) { return to_string(verdict); });
}

/// Prints what only events of its kind have.
void data_members(json_writer& out, const service_event& event) {
  switch (event.kind) {
    case event_kind::queue_held:
    case event_kind::queue_released:
    case event_kind::queue_probing:
    case event_kind::queue_opened:
      gate_members(out, event);
      break;
    case event_kind::job_dead:
      subject_member(out, event);
      out.member("reason", to_string(event.reason));
      break;
    case event_kind::message_dead:
      subject_member(out, event);
      out.member("reason", dead_message_reason);
      break;
    case event_kind::job_replayed:
      subject_member(out, event);
      break;
    case event_kind::messages_redriven:
    case event_kind::queue_purged:
    case event_kind::dead_letters_deleted:
      out.member("count", event.count);
      break;
    case event_kind::operation_started:
    case event_kind::operation_ended:
      if (event.operation)
        out.key("operation").raw(encode(*event.operation));
      break;
    case event_kind::store_failed:
      text_member(out, "reason", event.detail);
      break;
    default:
      break;
  }
}

} // namespace

std::string encode(const numbered_event& what) {
  const auto& event = what.event;
  json_writer out;
  out.begin_object().member("id", to_string(what.id));
  time_member(out, "time", event.at);
  text_member(out, "project", event.project);
  text_member(out, "queue", event.queue);
  out.member("type", to_string(event.kind));
  out.key("data").begin_object();
  data_members(out, event);
  out.end_object().end_object();
  return out.take();
}

} // namespace tidegate::http
