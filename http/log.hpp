// The log: one line an event, on standard error.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tidegate/event.hpp"

namespace tidegate::http {

/// How important a line is.
enum class log_severity : std::uint8_t { error, warn, info, debug };

struct log_options {
  /// Lines that are less important are not written.
  log_severity least = log_severity::info;

  /// One JSON object a line; else words, for people.
  bool json = true;
};

/// Writes to standard error; all functions may be called from any thread. Never
/// given a secret: callers pass names, figures and sentences of our own.
class log {
public:
  explicit log(log_options options);

  ~log();

  log(const log&) = delete;

  log& operator=(const log&) = delete;

  void write(log_severity severity, std::string_view message);

  void write(const service_event& event);

private:
  struct impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tidegate::http
