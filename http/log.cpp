#include "http/log.hpp"

#include <algorithm>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "http/iso8601.hpp"
#include "http/json_writer.hpp"
#include "tidegate/messages.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate::http {

namespace {

spdlog::level::level_enum to_level(log_severity severity) {
  switch (severity) {
    case log_severity::error:
      return spdlog::level::err;
    case log_severity::warn:
      return spdlog::level::warn;
    case log_severity::info:
      return spdlog::level::info;
    case log_severity::debug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

log_severity severity_of(event_kind kind) {
  switch (kind) {
    case event_kind::store_failed:
      return log_severity::error;
    case event_kind::job_dead:
    case event_kind::queue_held:
      return log_severity::warn;
    default:
      return log_severity::info;
  }
}

std::string quoted(std::string_view text) {
  return json_writer{}.value(text).take();
}

/// Returns `text` for a line of words: what strangers wrote ends no line.
std::string on_one_line(const std::string& text) {
  auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  return std::any_of(text.begin(), text.end(), is_control) ? quoted(text)
                                                           : text;
}

} // namespace

struct log::impl {
  explicit impl(log_options given)
    : options(given),
      out("tidegate", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    out.set_level(to_level(options.least));
    out.flush_on(spdlog::level::debug);
    if (options.json)
      out.set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
                      spdlog::pattern_time_type::utc);
    else
      out.set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  }

  log_options options;
  spdlog::logger out;
};

log::log(log_options options) : impl_(new impl(options)) {
  // nop
}

log::~log() {
  // nop
}

void log::write(log_severity severity, std::string_view message) {
  auto level = to_level(severity);
  if (!impl_->out.should_log(level))
    return;
  if (impl_->options.json)
    impl_->out.log(level, "\"message\":{}", quoted(message));
  else
    impl_->out.log(level, "{}", message);
}

void log::write(const service_event& event) {
  auto level = to_level(severity_of(event.kind));
  if (!impl_->out.should_log(level))
    return;
  std::string text;
  auto add = [&](std::string_view name, const std::string& value) {
    text += impl_->options.json
              ? (text.empty() ? "" : ",") + quoted(name) + ":" + quoted(value)
              : (text.empty() ? "" : " ") + on_one_line(value);
  };
  add("event", to_string(event.kind));
  if (!event.project.empty() && event.project != default_project)
    add("project", event.project);
  if (!event.queue.empty())
    add("queue", event.queue);
  if (!event.limit_key.empty())
    add("limitKey", event.limit_key);
  if (event.job)
    add(event.is_message ? "message" : "job",
        event.is_message ? to_string(message_id{event.job->seq, event.job->tag})
                         : to_string(*event.job));
  if (event.cause != hold_cause::none)
    add("cause", to_string(event.cause));
  if (event.http_status)
    add("status", std::to_string(*event.http_status));
  if (event.release_at)
    add("releaseAt", to_iso8601(*event.release_at));
  if (event.verdict)
    add("verdict", to_string(*event.verdict));
  if (event.reason != dead_reason::none)
    add("reason", to_string(event.reason));
  if (event.operation) {
    add("operation", to_string(event.operation->id));
    add("state", to_string(event.operation->state));
  }
  if (event.count > 0)
    add("count", std::to_string(event.count));
  if (!event.detail.empty())
    add("detail", event.detail);
  impl_->out.log(level, "{}", text);
}

} // namespace tidegate::http
