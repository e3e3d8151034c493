// What goes wrong and how a client is told: one table from problem to status,
// code and sentence.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "tidegate/error.hpp"

namespace tidegate::http {

/// Everything that is answered with other than success.
enum class problem : std::uint8_t {
  bad_request,
  malformed_json,
  validation_failed,
  unauthenticated,
  forbidden,
  not_found,
  queue_not_found,
  job_not_found,
  message_not_found,
  method_not_allowed,
  request_timeout,
  queue_exists,
  queue_not_empty,
  not_ack_mode,
  not_awaiting_outcome,
  stale_delivery,
  job_completed,
  job_dead,
  not_dead,
  wrong_queue_kind,
  message_not_in_flight,
  payload_too_large,
  expectation_failed,
  queue_full,
  rate_limited,
  headers_too_large,
  internal_error,
  unsupported_transfer_coding,
  overloaded,
  draining,
  storage_unavailable,
};

/// Returns the `code` that clients of the first family see, e.g.
/// `malformed_json`.
std::string_view code_of(problem what);

// What is said has the shape of its family: `{"error": <sentence>, "code"}`, or
// in the envelope `{"code", "message": <sentence>, "details"}`.

/// Returns a response with the status and the headers that belong to `what`. An
/// empty `sentence` stands for the usual one.
response make_problem(problem what, std::string_view sentence = {},
                      api_family family = api_family::jobs);

/// Returns 405 with its `allow`.
response method_not_allowed(std::string allow,
                            api_family family = api_family::jobs);

/// What is wrong with what a client sent.
struct complaints {
  /// About the whole.
  std::vector<std::string> form;

  std::vector<field_error> fields;

  bool empty() const {
    return form.empty() && fields.empty();
  }

  void add(std::string field, std::string message) {
    fields.push_back({std::move(field), std::move(message)});
  }
};

/// Returns 400 `{"error": {"formErrors", "fieldErrors"}, "code":
/// "validation_failed"}`; in the envelope `details` has that, and `message`
/// sums it up. Tells of 100 fields at most.
response make_problem(const complaints& what,
                      api_family family = api_family::jobs);

/// Returns the response to a call that failed.
response make_problem(const error& reason,
                      api_family family = api_family::jobs);

/// Returns what stands for a refused entry of a batch: `"ok": false` and what a
/// response of its own would say.
std::string refused_entry(const complaints& what,
                          api_family family = api_family::jobs);
std::string refused_entry(const error& reason,
                          api_family family = api_family::jobs);

} // namespace tidegate::http
