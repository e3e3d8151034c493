#include "http/problem.hpp"

#include <algorithm>
#include <array>

#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t fields_max = 100;

struct row {
  problem what;
  unsigned status;
  std::string_view code;
  std::string_view sentence;
  /// Seconds; empty: no such header.
  std::string_view retry_after = {};
};

/// In the order of the enumeration, which is the order of the statuses.
constexpr std::array table = {
  row{problem::bad_request, 400, "bad_request",
      "The request is not valid HTTP"},
  row{problem::malformed_json, 400, "malformed_json",
      "The body is not valid JSON"},
  row{problem::validation_failed, 400, "validation_failed",
      "The request is not valid"},
  row{problem::unauthenticated, 401, "unauthenticated",
      "A valid API key is required: Authorization: Bearer <key>"},
  row{problem::forbidden, 403, "forbidden",
      "The API key lacks the scope that this needs"},
  row{problem::not_found, 404, "not_found", "There is nothing here"},
  row{problem::queue_not_found, 404, "queue_not_found", "Queue not found"},
  row{problem::job_not_found, 404, "job_not_found", "Job not found"},
  row{problem::method_not_allowed, 405, "method_not_allowed",
      "This cannot be done with this method"},
  row{problem::request_timeout, 408, "request_timeout",
      "The request did not arrive in time"},
  row{problem::queue_exists, 409, "queue_exists",
      "A queue of this name exists"},
  row{problem::queue_not_empty, 409, "queue_not_empty",
      "The queue still has live jobs"},
  row{problem::not_ack_mode, 409, "not_ack_mode",
      "The queue is in standard mode: the webhook's answer is the outcome"},
  row{problem::not_awaiting_outcome, 409, "not_awaiting_outcome",
      "No outcome of this job is owed"},
  row{problem::stale_delivery, 409, "stale_delivery",
      "The job is not awaiting the outcome of this delivery"},
  row{problem::job_completed, 409, "job_completed", "The job is completed"},
  row{problem::job_dead, 409, "job_dead", "The job is dead"},
  row{problem::not_dead, 409, "not_dead", "The job is not dead"},
  row{problem::payload_too_large, 413, "payload_too_large",
      "The body is too large"},
  row{problem::expectation_failed, 417, "expectation_failed",
      "Only 100-continue can be expected"},
  row{problem::queue_full, 429, "queue_full",
      "The queue has as many live jobs as it may", "1"},
  row{problem::headers_too_large, 431, "headers_too_large",
      "The request line and the headers are too large"},
  row{problem::internal_error, 500, "internal_error",
      "Something went wrong here"},
  row{problem::unsupported_transfer_coding, 501, "unsupported_transfer_coding",
      "The only transfer coding that is understood is chunked"},
  row{problem::overloaded, 503, "overloaded",
      "The server has more work than it can take", "1"},
  row{problem::draining, 503, "draining", "The server is stopping", "5"},
  row{problem::storage_unavailable, 503, "storage_unavailable",
      "The storage cannot be read or written", "5"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].what) != i)
      return false;
  return true;
}

static_assert(is_in_order());

const row& look_up(problem what) {
  return table[static_cast<std::size_t>(what)];
}

response head_of(const row& entry) {
  response result;
  result.status = entry.status;
  if (!entry.retry_after.empty())
    result.headers.emplace_back("retry-after", entry.retry_after);
  if (entry.what == problem::unauthenticated)
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
    case errc::not_found:
      return problem::not_found;
  }
  return problem::internal_error;
}

/// Prints each field once, with all that is said about it.
void write_fields(json_writer& out, std::vector<field_error> fields) {
  fields.resize(std::min(fields.size(), fields_max));
  out.begin_object();
  for (auto i = fields.begin(); i != fields.end();) {
    auto same = [name = i->field](const field_error& x) {
      return x.field == name;
    };
    auto end = std::stable_partition(i, fields.end(), same);
    out.key(i->field).begin_array();
    for (; i != end; ++i)
      out.value(i->message);
    out.end_array();
  }
  out.end_object();
}

/// Prints the members of the object that tells of `what`.
void write_complaints(json_writer& out, const complaints& what) {
  out.key("error").begin_object();
  out.key("formErrors").begin_array();
  for (const auto& message : what.form)
    out.value(message);
  out.end_array().key("fieldErrors");
  write_fields(out, what.fields);
  out.end_object().member("code", code_of(problem::validation_failed));
}

void write_sentence(json_writer& out, problem what, std::string_view sentence) {
  const auto& entry = look_up(what);
  out.member("error", sentence.empty() ? entry.sentence : sentence)
    .member("code", entry.code);
}

} // namespace

std::string_view code_of(problem what) {
  return look_up(what).code;
}

response make_problem(problem what, std::string_view sentence) {
  const auto& entry = look_up(what);
  auto result = head_of(entry);
  json_writer out;
  out.begin_object();
  write_sentence(out, what, sentence);
  out.end_object();
  result.body = out.take();
  return result;
}

response method_not_allowed(std::string allow) {
  auto result = make_problem(problem::method_not_allowed);
  result.headers.emplace_back("allow", std::move(allow));
  return result;
}

response make_problem(const complaints& what) {
  const auto& entry = look_up(problem::validation_failed);
  auto result = head_of(entry);
  json_writer out;
  out.begin_object();
  write_complaints(out, what);
  out.end_object();
  result.body = out.take();
  return result;
}

response make_problem(const error& reason) {
  if (reason.code == errc::validation_failed)
    return make_problem(complaints{{reason.message}, {}});
  return make_problem(problem_of(reason.code), reason.message);
}

std::string refused_entry(const complaints& what) {
  json_writer out;
  out.begin_object().member("ok", false);
  write_complaints(out, what);
  out.end_object();
  return out.take();
}

std::string refused_entry(const error& reason) {
  if (reason.code == errc::validation_failed)
    return refused_entry(complaints{{reason.message}, {}});
  json_writer out;
  out.begin_object().member("ok", false);
  write_sentence(out, problem_of(reason.code), reason.message);
  out.end_object();
  return out.take();
}

} // namespace tidegate::http
