#include "http/problem_table.hpp"

#include <array>

namespace tidegate::http {

namespace {

/// In the order of the enumeration, which is the order of the statuses.
constexpr std::array table = {
  problem_row{problem::bad_request, 400, "bad_request", "INVALID_ARGUMENT",
              "The request is not valid HTTP"},
  problem_row{problem::malformed_json, 400, "malformed_json",
              "INVALID_ARGUMENT", "The body is not valid JSON"},
  problem_row{problem::validation_failed, 400, "validation_failed",
              "INVALID_ARGUMENT", "The request is not valid"},
  problem_row{problem::unauthenticated, 401, "unauthenticated",
              "UNAUTHENTICATED",
              "A valid API key is required: Authorization: Bearer <key>"},
  problem_row{problem::forbidden, 403, "forbidden", "PERMISSION_DENIED",
              "The API key lacks the scope that this needs"},
  problem_row{problem::not_found, 404, "not_found", "NOT_FOUND",
              "There is nothing here"},
  problem_row{problem::queue_not_found, 404, "queue_not_found",
              "QUEUE_NOT_FOUND", "Queue not found"},
  problem_row{problem::job_not_found, 404, "job_not_found", "JOB_NOT_FOUND",
              "Job not found"},
  problem_row{problem::message_not_found, 404, "message_not_found",
              "QUEUE_MESSAGE_NOT_FOUND", "Message not found"},
  problem_row{problem::method_not_allowed, 405, "method_not_allowed",
              "METHOD_NOT_ALLOWED", "This cannot be done with this method"},
  problem_row{problem::request_timeout, 408, "request_timeout",
              "REQUEST_TIMEOUT", "The request did not arrive in time"},
  problem_row{problem::queue_exists, 409, "queue_exists",
              "QUEUE_ALREADY_EXISTS", "A queue of this name exists"},
  problem_row{problem::queue_not_empty, 409, "queue_not_empty",
              "QUEUE_NOT_EMPTY", "The queue still has live jobs"},
  problem_row{
    problem::not_ack_mode, 409, "not_ack_mode", "NOT_ACK_MODE",
    "The queue is in standard mode: the webhook's answer is the outcome"},
  problem_row{problem::not_awaiting_outcome, 409, "not_awaiting_outcome",
              "NOT_AWAITING_OUTCOME", "No outcome of this job is owed"},
  problem_row{problem::stale_delivery, 409, "stale_delivery", "STALE_DELIVERY",
              "The job is not awaiting the outcome of this delivery"},
  problem_row{problem::job_completed, 409, "job_completed", "JOB_COMPLETED",
              "The job is completed"},
  problem_row{problem::job_dead, 409, "job_dead", "JOB_DEAD",
              "The job is dead"},
  problem_row{problem::not_dead, 409, "not_dead", "NOT_DEAD",
              "The job is not dead"},
  problem_row{problem::wrong_queue_kind, 409, "wrong_queue_kind",
              "WRONG_QUEUE_KIND", "The queue is of the other kind"},
  problem_row{problem::message_not_in_flight, 409, "message_not_in_flight",
              "QUEUE_MESSAGE_NOT_IN_FLIGHT",
              "The message is not in flight, or not under this receipt handle"},
  problem_row{problem::payload_too_large, 413, "payload_too_large",
              "PAYLOAD_TOO_LARGE", "The body is too large"},
  problem_row{problem::expectation_failed, 417, "expectation_failed",
              "EXPECTATION_FAILED", "Only 100-continue can be expected"},
  problem_row{problem::queue_full, 429, "queue_full", "RATE_LIMITED",
              "The queue has as many live jobs as it may", "1"},
  problem_row{problem::rate_limited, 429, "rate_limited", "RATE_LIMITED",
              "The API key makes more requests a second than it may", "1"},
  problem_row{problem::headers_too_large, 431, "headers_too_large",
              "HEADERS_TOO_LARGE",
              "The request line and the headers are too large"},
  problem_row{problem::internal_error, 500, "internal_error", "INTERNAL_ERROR",
              "Something went wrong here"},
  problem_row{problem::unsupported_transfer_coding, 501,
              "unsupported_transfer_coding", "UNSUPPORTED_TRANSFER_CODING",
              "The only transfer coding that is understood is chunked"},
  problem_row{problem::overloaded, 503, "overloaded", "UNAVAILABLE",
              "The server has more work than it can take", "1"},
  problem_row{problem::draining, 503, "draining", "UNAVAILABLE",
              "The server is stopping", "5"},
  problem_row{problem::storage_unavailable, 503, "storage_unavailable",
              "UNAVAILABLE", "The storage cannot be read or written", "5"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].what) != i)
      return false;
  return true;
}

static_assert(is_in_order());

} // namespace

const problem_row& row_of(problem what) {
  return table[static_cast<std::size_t>(what)];
}

response head_of(problem what) {
  const auto& entry = row_of(what);
  response result;
  result.status = entry.status;
  if (!entry.retry_after.empty())
    result.headers.emplace_back("retry-after", entry.retry_after);
  if (what == problem::unauthenticated)
    result.headers.emplace_back("www-authenticate", "Bearer");
  return result;
}

problem problem_of(errc code) {
  switch (code) {
    case errc::validation_failed:
      return problem::validation_failed;
    case errc::queue_not_found:
      return problem::queue_not_found;
    case errc::queue_exists:
      return problem::queue_exists;
    case errc::queue_not_empty:
      return problem::queue_not_empty;
    case errc::job_not_found:
      return problem::job_not_found;
    case errc::overloaded:
      return problem::overloaded;
    case errc::draining:
      return problem::draining;
    case errc::storage_unavailable:
      return problem::storage_unavailable;
    case errc::queue_full:
      return problem::queue_full;
    case errc::not_ack_mode:
      return problem::not_ack_mode;
    case errc::not_awaiting_outcome:
      return problem::not_awaiting_outcome;
    case errc::stale_delivery:
      return problem::stale_delivery;
    case errc::job_completed:
      return problem::job_completed;
    case errc::job_dead:
      return problem::job_dead;
    case errc::not_dead:
      return problem::not_dead;
    case errc::wrong_queue_kind:
      return problem::wrong_queue_kind;
    case errc::message_not_found:
      return problem::message_not_found;
    case errc::message_not_in_flight:
      return problem::message_not_in_flight;
    case errc::not_found:
      return problem::not_found;
  }
  return problem::internal_error;
}

} // namespace tidegate::http
