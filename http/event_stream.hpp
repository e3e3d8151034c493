// Events as a `text/event-stream` (HTML Living Standard, section 9.2,
// "Server-sent events").

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/body_stream.hpp"
#include "http/message.hpp"
#include "tidegate/event_stream.hpp"

namespace tidegate::http {

/// How many bytes of a stream wait for a slow client; beyond, the stream stays
/// behind until the client has taken them, or is dropped.
inline constexpr std::size_t event_bytes_unsent_max = 64 * 1024;

/// Prints events into the body of a response.
///
/// ```
/// retry: 2000                      at the start
/// id: 1767225600000000-41          where the reader stands; tells nothing
///
/// id: 1767225600000000-42          one event
/// event: queue.held
/// data: {"id":…,"time":…,"project":…,"queue":…,"type":…,"data":{…}}
///
/// event: gap                       events are missing here
/// data: {}
///
/// :                                every 15 s
/// ```
class event_writer final : public event_sink {
public:
  /// The stream ends where there is something to tell and `may_read` says no;
  /// empty: it always may.
  explicit event_writer(std::shared_ptr<body_stream> body,
                        std::function<bool()> may_read = nullptr)
    : body_(std::move(body)), may_read_(std::move(may_read)) {
    // nop
  }

  bool has_room() const override {
    return body_->has_room();
  }

  void begin(event_id at) override;

  void put(const numbered_event& what) override;

  void put_gap() override;

  void beat() override;

  void end() override {
    body_->end();
  }

private:
  void send(const std::string& text);

  std::shared_ptr<body_stream> body_;
  std::function<bool()> may_read_;
};

/// Returns the response whose body is `body`, which it abandons where that
/// never becomes the connection's.
response make_event_response(std::shared_ptr<body_stream> body);

} // namespace tidegate::http
