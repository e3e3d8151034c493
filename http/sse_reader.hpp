// Server-sent events (WHATWG HTML, section 9.2) out of the bytes of a stream.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tidegate/time.hpp"

namespace tidegate::http {

/// One event.
struct sse_event {
  /// The name, `message` where none was given.
  std::string type;

  /// Lines of data, a line feed between two.
  std::string data;
};

/// Longest line and longest data of an event that are taken; what is longer is
/// passed over. Unit: bytes.
inline constexpr std::size_t sse_max = 1024 * 1024;

/// Is fed with the bytes of a stream. Knows no socket.
class sse_reader {
public:
  /// `on_event` is called with every event that is complete and has data.
  explicit sse_reader(std::function<void(const sse_event&)> on_event);

  void feed(std::string_view bytes);

  /// Forgets what was not complete: another connection follows.
  void reset();

  /// Returns the last id, which a new connection has to give: empty where there
  /// was none.
  const std::string& last_id() const {
    return last_id_;
  }

  /// Returns how long to wait before a new connection, if the server has said
  /// so.
  std::optional<duration> retry() const {
    return retry_;
  }

private:
  void take_line();
  void take_field(std::string_view name, std::string_view value);
  void dispatch();

  std::function<void(const sse_event&)> on_event_;
  std::string line_;
  bool line_too_long_ = false;
  bool after_return_ = false;
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  bool event_too_long_ = false;
  std::string id_;
  std::string last_id_;
  std::optional<duration> retry_;
};

} // namespace tidegate::http
