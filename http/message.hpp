// A request and a response as plain values: no socket, no parser.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/routes.hpp"
#include "tidegate/ids.hpp"

namespace tidegate::http {

class body_stream;

/// A header field of a request. Both parts belong to the connection.
struct field_view {
  std::string_view name;
  std::string_view value;
};

/// The head of a request, seen before its body is read. All views are valid
/// only during the call that they are handed to.
struct request_head {
  std::string_view method;

  /// As it stands in the request line: origin form or absolute form.
  std::string_view target;

  /// In the order in which they came.
  std::span<const field_view> headers;

  /// Address of the client, without its port; empty: not known.
  std::string_view peer = {};
};

/// Whether two names of headers are the same, whatever the case of their
/// letters.
bool same_header_name(std::string_view x, std::string_view y);

/// Returns the value of the first header `name`, whatever the case of its
/// letters.
std::optional<std::string_view> find_header(const request_head& head,
                                            std::string_view name);

/// Who calls, as their key says.
struct caller {
  /// 0: the key that the server was started with.
  api_key_id key;
  std::string project;
  scope_set scopes;
  bool operator==(const caller&) const = default;
};

/// W3C Trace Context of a request; empty: none.
struct trace_context {
  std::string traceparent;
  std::string tracestate;
  bool operator==(const trace_context&) const = default;
};

/// What is known of a request that was let in before its body is read.
struct admission {
  route_match route;

  /// Without meaning where the route is open.
  caller who;

  /// Read only where it goes along with what is published.
  trace_context trace;

  /// The header `idempotency-key`, read only where a message is published.
  std::optional<std::string> idempotency_key = {};

  /// The header `if-none-match`, read only for files of the dashboard.
  std::optional<std::string> if_none_match = {};
  /// The header `last-event-id`, read only where events are asked for.
  std::optional<std::string> last_event_id = {};
};

/// Whether the client of a call that waits is still there. Shared by the
/// connection, which notices, and by whoever would do something for it.
struct client_watch {
  /// Set by the connection. Any thread reads it.
  std::atomic<bool> gone = false;

  /// Set before the request's handler returns: the call waits, so a client that
  /// sends nothing more has gone away.
  bool wanted = false;
};

/// A request that was let in, with its body.
struct request {
  route_match route;
  caller who;
  trace_context trace;
  std::string body;

  /// The `x-request-id` that the response will carry.
  std::string id;

  /// Address of the client, without its port. Shared by all requests of a
  /// connection, never null.
  std::shared_ptr<const std::string> peer;

  /// See `admission`.
  std::optional<std::string> idempotency_key = {};

  /// Of routes whose answer may be a long time in coming, else null.
  std::shared_ptr<client_watch> watch = {};

  /// See `admission`.
  std::optional<std::string> if_none_match = {};
  std::optional<std::string> last_event_id = {};
};

/// Hears when a response did not reach the socket: when the last copy goes and
/// nobody has said that it was written.
class loss_notice {
public:
  /// `lost` is called once or not at all, from any thread. Must not throw.
  explicit loss_notice(std::function<void()> lost) : lost_(std::move(lost)) {
    // nop
  }

  loss_notice(const loss_notice&) = delete;

  loss_notice& operator=(const loss_notice&) = delete;

  ~loss_notice() {
    if (lost_)
      lost_();
  }

  /// Says that all of the response has been written.
  void written() {
    lost_ = nullptr;
  }

private:
  std::function<void()> lost_;
};

/// What the server puts around a body.
enum class body_shape : std::uint8_t {
  /// Nothing.
  plain,
  /// `{"ok": true, "data": <body>, "metadata": {…}}`
  data,
  /// `{"ok": false, "error": <body>, "metadata": {…}}`
  error,
};

/// What is sent back. The server adds `content-length`, `date`, `connection`
/// and `x-request-id`, and `content-type` where there is a body.
struct response {
  unsigned status = 200;

  /// Names in lower case; neither names nor values contain line breaks.
  std::vector<std::pair<std::string, std::string>> headers;

  /// Empty: none.
  std::string body;

  body_shape shape = body_shape::plain;

  /// May be null. Copies of a response share it.
  std::shared_ptr<loss_notice> notice = {};

  std::string_view content_type = "application/json";

  /// The body instead of `body`, where it is not null: the response ends, and
  /// the connection with it, when the stream does. Only of routes that stream.
  std::shared_ptr<body_stream> stream = {};
};

/// Why a request is not let in.
struct refusal {
  response answer;

  /// Who asked for what, where both are known.
  std::optional<admission> asked = {};
};

/// Takes the one response to a request.
class reply_sink {
public:
  virtual ~reply_sink() = default;

  /// May be called from any thread.
  virtual void reply(std::uint64_t number, response what) = 0;
};

/// The right to answer one request, once, from any thread. It keeps the
/// connection alive. One that is destroyed without having been called answers
/// 503, so that no client waits for ever.
class responder {
public:
  /// `family` is that of the request.
  responder(std::shared_ptr<reply_sink> sink, std::uint64_t number,
            api_family family = api_family::jobs);

  responder(responder&&) noexcept = default;

  responder& operator=(responder&& other) noexcept;

  ~responder();

  /// Sends `what`.
  /// @pre was not called before and was not moved from
  void operator()(response what);

private:
  std::shared_ptr<reply_sink> sink_;
  std::uint64_t number_ = 0;
  api_family family_ = api_family::jobs;
};

} // namespace tidegate::http
