#include "http/log.hpp"

#include <algorithm>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "http/iso8601.hpp"
#include "http/json_writer.hpp"
#include "http/printable.hpp"
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

/// The level by the word that the option `log-level` has for it: spdlog's own
/// is `warning`.
class level_word : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& to) override {
    constexpr std::string_view warn = "warn";
    auto name = spdlog::level::to_string_view(message.level);
    if (message.level == spdlog::level::warn)
      to.append(warn.data(), warn.data() + warn.size());
    else
      to.append(name.data(), name.data() + name.size());
  }

  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<level_word>();
  }
};

/// Returns what prints lines by `pattern`, in which `%*` is the level.
std::unique_ptr<spdlog::formatter>
make_formatter(const char* pattern, spdlog::pattern_time_type in) {
  auto result = std::make_unique<spdlog::pattern_formatter>(in);
  result->add_flag<level_word>('*').set_pattern(pattern);
  return result;
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

/// Returns `text` for a line of words: what strangers wrote ends no line.
std::string on_one_line(std::string_view text) {
  auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  return printable(std::any_of(text.begin(), text.end(), is_control)
                     ? json_writer{}.value(text).take()
                     : std::string{text});
}

/// Puts a line together: members of a JSON object, or words.
class line {
public:
  explicit line(bool json) : json_(json) {
    if (json_)
      out_.begin_object();
  }

  /// In words without its name.
  line& add(const char* name, std::string_view text) {
    if (json_)
      out_.member(name, text);
    else
      say(on_one_line(text));
    return *this;
  }

  line& add_if_any(const char* name, std::string_view text) {
    return text.empty() ? *this : add(name, text);
  }

  /// In words with its name.
  line& note(const char* name, std::string_view text) {
    if (json_)
      out_.member(name, text);
    else
      say(std::string{name} + '=' + on_one_line(text));
    return *this;
  }

  line& note_if_any(const char* name, std::string_view text) {
    return text.empty() ? *this : note(name, text);
  }

  line& note(const char* name, std::uint64_t number) {
    if (json_)
      out_.member(name, number);
    else
      say(std::string{name} + '=' + std::to_string(number));
    return *this;
  }

  line& note(const char* name, duration span) {
    auto ms = std::chrono::duration<double, std::milli>{span}.count();
    if (json_)
      out_.member(name, ms);
    else
      say(std::string{name} + '=' + json_writer{}.value(ms).take());
    return *this;
  }

  line& note(const char* name, const std::optional<wall_time>& when) {
    return when ? note(name, to_iso8601(*when)) : *this;
  }

  line& flag(const char* name, bool value) {
    if (json_)
      out_.member(name, value);
    else if (value)
      say(name);
    return *this;
  }

  /// Returns the line without the brackets of its object.
  std::string take() {
    if (!json_)
      return std::move(words_);
    return out_.end_object().take().substr(1);
  }

private:
  void say(const std::string& word) {
    words_ += (words_.empty() ? "" : " ") + word;
  }

  bool json_;
  json_writer out_;
  std::string words_;
};

std::string name_of(job_id id, bool is_message) {
  return is_message ? to_string(message_id{id.seq, id.tag}) : to_string(id);
}

/// The default project is that of whoever has no other.
std::string_view project_of(const std::string& project) {
  return project == default_project ? std::string_view{} : project;
}

} // namespace

struct log::impl {
  explicit impl(log_options given)
    : options(given),
      out("tidegate", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    out.set_level(to_level(options.least));
    out.flush_on(spdlog::level::debug);
    if (options.json)
      out.set_formatter(
        make_formatter(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*",%v)",
                       spdlog::pattern_time_type::utc));
    else
      out.set_formatter(make_formatter("%Y-%m-%d %H:%M:%S.%e %* %v",
                                       spdlog::pattern_time_type::local));
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
    impl_->out.log(level, "{}", line{true}.add("message", message).take());
  else
    impl_->out.log(level, "{}", message);
}

bool log::writes(log_severity severity) const {
  return impl_->out.should_log(to_level(severity));
}

void log::write(const service_event& event) {
  auto level = to_level(severity_of(event.kind));
  if (!impl_->out.should_log(level))
    return;
  line text{impl_->options.json};
  text.add("event", to_string(event.kind))
    .add_if_any("project", project_of(event.project))
    .add_if_any("queue", event.queue)
    .add_if_any("limitKey", event.limit_key);
  if (event.job)
    text.add(event.is_message ? "message" : "job",
             name_of(*event.job, event.is_message));
  if (event.cause != hold_cause::none)
    text.add("cause", to_string(event.cause));
  if (event.http_status)
    text.add("status", std::to_string(*event.http_status));
  if (event.release_at)
    text.add("releaseAt", to_iso8601(*event.release_at));
  if (event.verdict)
    text.add("verdict", to_string(*event.verdict));
  if (event.reason != dead_reason::none)
    text.add("reason", to_string(event.reason));
  if (event.operation)
    text.add("operation", to_string(event.operation->id))
      .add("state", to_string(event.operation->state));
  if (event.count > 0)
    text.add("count", std::to_string(event.count));
  text.add_if_any("detail", event.detail);
  impl_->out.log(level, "{}", text.take());
}

void log::write(const delivery_account& account) {
  if (!writes(log_severity::debug))
    return;
  line text{impl_->options.json};
  text.add("event", "delivery")
    .add_if_any("project", project_of(account.project))
    .add("queue", account.queue)
    .note_if_any("limitKey", account.limit_key)
    .add(account.is_message ? "message" : "job",
         name_of(account.job, account.is_message))
    .add("decision", to_string(account.decision))
    .note("delivery", account.delivery);
  if (account.attempt > 0)
    text.note("attempt", account.attempt);
  text.flag("probe", account.probe);
  if (account.reported)
    text.note("reportedBy", "worker");
  if (account.http_status)
    text.note("status", std::uint64_t{*account.http_status});
  if (account.error_code != delivery_errc::none)
    text.note("errorCode", to_string(account.error_code));
  text.note("durationMs", account.took).note("until", account.until);
  if (account.reason != dead_reason::none)
    text.note("reason", to_string(account.reason));
  text.note(account.gate_of_key ? "keyGate" : "gate", to_string(account.gate))
    .note("heldUntil", account.held_until);
  if (account.cause != hold_cause::none)
    text.note("cause", to_string(account.cause));
  text.note_if_any("traceparent", account.traceparent);
  impl_->out.log(spdlog::level::debug, "{}", text.take());
}

void log::write(const request_account& account) {
  if (!writes(log_severity::debug))
    return;
  line text{impl_->options.json};
  text.add("event", "request")
    .add_if_any("requestId", account.id)
    .add_if_any("route", account.route)
    .note_if_any("subject", account.subject)
    .note_if_any("made", account.made)
    .note("status", std::uint64_t{account.status})
    .note("durationMs", account.took)
    .note_if_any("project", project_of(account.project));
  if (account.key.value > 0)
    text.note("key", std::uint64_t{account.key.value});
  text.note_if_any("peer", account.peer);
  impl_->out.log(spdlog::level::debug, "{}", text.take());
}

} // namespace tidegate::http
