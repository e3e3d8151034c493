// From requests to calls and from replies to responses: pure functions that
// know neither actors nor sockets.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/keys.hpp"
#include "http/message.hpp"
#include "tidegate/error.hpp"
#include "tidegate/messages.hpp"

namespace tidegate::http {

// -- calls --------------------------------------------------------------------

/// Something to ask of one queue.
struct queue_call {
  std::string queue;
  std::variant<get_queue, patch_queue, pause_queue, resume_queue, publish> what;
};

/// Is the process up? To be answered at once, with `alive()`.
struct health_check {};

/// Can the server do its work? To be answered with `ready()` or an `error`.
struct ready_check {};

/// What a request asks for.
///
/// | call            | answered with                    |
/// | --------------- | -------------------------------- |
/// | `create_queue`  | `put_queue_result`               |
/// | `put_queue`     | `put_queue_result`               |
/// | `delete_queue`  | `deleted()`                      |
/// | `list_queues`   | `queue_list`                     |
/// | `queue_call`    | `publish_result` to a `publish`, else `queue_view` |
/// | `get_job`       | `job_view`                       |
/// | `health_check`  | `alive()`                        |
/// | `ready_check`   | `ready()`                        |
///
/// and each of them with an `error`.
using call = std::variant<create_queue, put_queue, delete_queue, list_queues,
                          queue_call, get_job, health_check, ready_check>;

// -- requests -----------------------------------------------------------------

/// What the API is told about the server that it stands in.
struct api_options {
  /// Returns why a webhook URL cannot be called, or may not be by this server;
  /// nothing where it may. Empty: every URL may be. May be called from any
  /// thread.
  std::function<std::optional<std::string>(const std::string& url)>
    complaint_about_target;
};

/// Decides whether a request may go on to its body. Otherwise returns the
/// response: 400, 401, 403, 404 or 405.
std::variant<route_match, response> admit(const request_head& head,
                                          const key_ring& keys);

/// Reads what a request asks for, or returns the response that says what is
/// wrong with it. Takes the body's bytes out of `what` where it can.
std::variant<call, response> read_call(request& what,
                                       const api_options& options);

// -- responses ----------------------------------------------------------------

/// 201 with the signing secret where the queue was created, else 200.
response answer(const put_queue_result& reply);

response answer(const queue_view& reply);

response answer(const queue_list& reply);

/// 201, or 200 where the job was there already.
response answer(const publish_result& reply);

response answer(const job_view& reply);

/// The status belongs to the code, see `problem.hpp`.
response answer(const error& reason);

/// 204.
response deleted();

response alive();

response ready();

} // namespace tidegate::http
