// Responses as bytes: status line and headers by hand into one string, which
// costs a third of what Beast's serialiser does.

#pragma once

#include <chrono>
#include <ctime>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace tidegate::http {

/// What the connection adds to a response.
struct response_frame {
  /// Whether another request may follow on the connection.
  bool keep_alive = true;

  /// Answers a `HEAD`: the headers of the body, but not the body.
  bool head_only = false;

  /// Answers HTTP/1.0, where a connection stays open only if both say so.
  bool http_1_0 = false;

  /// A valid field value.
  std::string request_id;

  /// Of the request: what is said about it before it reaches the API has that
  /// shape.
  api_family family = api_family::jobs;

  /// When the head of the request was there.
  std::chrono::steady_clock::time_point since{};
};

/// Appends `what` to `out`, in its envelope where it has one. `date` is a valid
/// `Date`.
void append_response(std::string& out, const response& what,
                     const response_frame& frame, std::string_view date);

/// The value of `Date`, printed anew at most once a second. For one thread.
class date_cache {
public:
  /// Returns the present time as an IMF-fixdate (RFC 9110, section 5.6.7),
  /// valid until the next call.
  std::string_view now();

private:
  std::time_t at_ = -1;
  std::string text_;
};

/// Tells whether a client's `x-request-id` is taken over: 1 to 128 characters
/// of `A-Z a-z 0-9 . _ -`.
bool is_request_id(std::string_view text);

/// Draws names for requests that have none. For one thread.
class request_ids {
public:
  /// @throws std::runtime_error where there is no randomness
  request_ids();

  /// Returns 16 hexadecimal digits that this object has not returned before.
  std::string next();

private:
  std::uint64_t state_ = 0;
};

} // namespace tidegate::http
