// From a request to its call, operation by operation. Internal to the API.

#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "http/api.hpp"
#include "http/cursor.hpp"
#include "http/problem.hpp"
#include "http/query_reader.hpp"

namespace tidegate::http {

/// What was read, or what to answer instead.
using outcome = std::variant<call, response>;

/// Returns the 403 to a key that lacks a scope.
response forbid(scope required, api_family family);

/// Returns the 403 to a key that may not switch off that certificates are
/// verified; nothing where that is not `asked`, or may be.
std::optional<response> forbid_insecure(bool asked, const caller& who,
                                        api_family family = api_family::jobs);

// -- parts of reading ---------------------------------------------------------

/// Goes on with `f` where `what` was read, else says what is wrong.
template <class T, class F>
outcome proceed(decoded<T> what, F f, api_family family = api_family::jobs) {
  if (auto wrong = std::get_if<malformed>(&what))
    return make_problem(problem::malformed_json, wrong->sentence, family);
  if (auto wrong = std::get_if<complaints>(&what))
    return make_problem(*wrong, family);
  return f(std::get<T>(what));
}

/// Returns `result` unless something is wrong with the query.
template <class T>
outcome
finish(query_reader& query, T result, api_family family = api_family::jobs) {
  if (auto wrong = query.finish(); !wrong.empty())
    return make_problem(wrong, family);
  return result;
}

/// Makes a call to the queue that the path names.
template <class T>
queue_call to_queue(request& what, T message) {
  queue_call result;
  result.project = std::move(what.who.project);
  result.queue = std::move(what.route.param);
  result.what = std::move(message);
  return result;
}

/// Makes a call to the queue of the job that the path names.
template <class T>
outcome to_job(request& what, T message) {
  auto id = parse_job_id(what.route.param);
  if (!id)
    return make_problem(problem::job_not_found);
  message.id = *id;
  return job_call{std::move(what.who.project), *id, std::move(message)};
}

// -- operations ---------------------------------------------------------------

outcome read_create_queue(request& what, const api_options& options);

outcome read_put_queue(request& what, const api_options& options);

outcome read_patch_queue(request& what, const api_options& options);

outcome read_list_queues(request& what, const api_options& options);

outcome read_delete_queue(request& what, const api_options& options);

outcome read_publish(request& what, const api_options& options);

outcome read_publish_batch(request& what, const api_options& options);

outcome read_delete_dead_letters(request& what, const api_options& options);

outcome read_list_limit_keys(request& what, const api_options& options);

outcome read_release_limit_key(request& what, const api_options& options);

outcome read_list_operations(request& what, const api_options& options);

outcome read_create_api_key(request& what, const api_options& options);

outcome read_list_api_keys(request& what, const api_options& options);

outcome read_revoke_api_key(request& what, const api_options& options);

outcome read_usage(request& what, const api_options& options);

outcome read_events(request& what, const api_options& options);

outcome read_metrics(request& what, const api_options& options);

// -- pull queues --------------------------------------------------------------

outcome read_create_pull_queue(request& what, const api_options& options);

outcome read_patch_pull_queue(request& what, const api_options& options);

outcome read_list_pull_queues(request& what, const api_options& options);

outcome read_delete_pull_queue(request& what, const api_options& options);

outcome read_get_pull_queue(request& what, const api_options& options);

outcome read_pull_stats(request& what, const api_options& options);

outcome read_purge_pull_queue(request& what, const api_options& options);

outcome read_publish_message(request& what, const api_options& options);

outcome read_publish_messages(request& what, const api_options& options);

outcome read_consume(request& what, const api_options& options);

template <settle_message::kind Kind>
outcome read_settle(request& what, const api_options& options);

template <settle_message::kind Kind>
outcome read_settle_batch(request& what, const api_options& options);

outcome read_peek(request& what, const api_options& options);

outcome read_list_dead_messages(request& what, const api_options& options);

outcome read_redrive(request& what, const api_options& options);
outcome read_subscribe(request& what, const api_options& options);
outcome read_get_subscription(request& what, const api_options& options);
outcome read_unsubscribe(request& what, const api_options& options);

// -- templates ----------------------------------------------------------------

template <list_kind Kind>
outcome read_jobs(request& what, const api_options& options);

template <class T>
outcome read_operation(request& what, const api_options& options);

} // namespace tidegate::http
