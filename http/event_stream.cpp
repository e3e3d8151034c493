#include "http/event_stream.hpp"

#include "http/codec.hpp"

namespace tidegate::http {

namespace {

/// How long a client waits before it connects again. Unit: milliseconds.
constexpr std::string_view retry = "retry: 2000\n";

} // namespace

void event_writer::begin(event_id at) {
  std::string text{retry};
  text.append("id: ").append(to_string(at)).append("\n\n");
  send(text);
}

void event_writer::put(const numbered_event& what) {
  // JSON on one line, so one line of data is enough.
  std::string text{"id: "};
  text.append(to_string(what.id)).append("\nevent: ");
  text.append(to_string(what.event.kind)).append("\ndata: ");
  text.append(encode(what)).append("\n\n");
  send(text);
}

void event_writer::put_gap() {
  std::string text{retry};
  // Without an id: who comes back right after it is told of the gap again.
  text.append("event: gap\ndata: {}\n\n");
  send(text);
}

void event_writer::beat() {
  send(":\n\n");
}

void event_writer::send(const std::string& text) {
  if (may_read_ && !may_read_())
    body_->end();
  else
    body_->put(text);
}

response make_event_response(std::shared_ptr<body_stream> body) {
  response result;
  result.headers = {{"cache-control", "no-store"}, {"x-accel-buffering", "no"}};
  result.content_type = "text/event-stream";
  result.notice = std::make_shared<loss_notice>([body] { body->abandon(); });
  result.stream = std::move(body);
  return result;
}

} // namespace tidegate::http
