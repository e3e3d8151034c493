// The log: one line an event, on standard error.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tidegate/delivery_account.hpp"
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

/// An account of one request: who asked for what, and what came of it. What
/// does not apply is empty.
struct request_account {
  /// The `x-request-id` of the response.
  std::string id;

  /// What the route is called, e.g. `jobs.publish`; empty: it was refused
  /// before it got to one.
  std::string_view route;

  std::string project;
  api_key_id key;

  /// Queue, job or whatever the path names.
  std::string subject;

  /// What was published.
  std::string made;

  unsigned status = 0;

  /// From when the request was there to when its answer was; of one that was
  /// refused: from its head on, 0 where there was none.
  duration took{0};

  /// Address of the client.
  std::string peer;
};

/// Writes to standard error; all functions may be called from any thread. Never
/// given a secret: callers pass names, figures and sentences of our own.
class log {
public:
  explicit log(log_options options);

  ~log();

  log(const log&) = delete;

  log& operator=(const log&) = delete;

  /// Returns whether lines as important as that are written.
  bool writes(log_severity severity) const;

  void write(log_severity severity, std::string_view message);

  void write(const service_event& event);

  /// One line for a delivery, `debug`.
  void write(const delivery_account& account);

  /// One line for a request, `debug`.
  void write(const request_account& account);

private:
  struct impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tidegate::http
