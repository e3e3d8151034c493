#include "http/codec_write.hpp"

#include "http/iso8601.hpp"

namespace tidegate::http {

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

void headers_member(json_writer& out, const std::vector<header>& headers) {
  out.key("headers").begin_object();
  for (const auto& [name, value] : headers)
    out.member(name, value);
  out.end_object();
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

std::string exact_time(wall_time at) {
  return to_iso8601(at, precision::microseconds);
}

void end_items(json_writer& out, std::string_view next_cursor) {
  out.end_array();
  text_member(out, "next_cursor", next_cursor);
  out.end_object();
}

void end_page(json_writer& out, std::string_view next_cursor) {
  out.end_array();
  text_member(out, "nextCursor", next_cursor);
  out.end_object();
}

} // namespace tidegate::http
