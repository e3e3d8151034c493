// What is asked of queues and of the jobs in them.

#include "http/api_query.hpp"
#include "http/api_read.hpp"
#include "http/codec.hpp"
#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

void complete(publish& job, const request& from) {
  job.by = from.who.key;
  if (from.trace.traceparent.empty())
    return;
  auto values = *job.context;
  values.traceparent = from.trace.traceparent;
  values.tracestate = from.trace.tracestate;
  job.context = job_context{std::move(values)};
}

} // namespace

std::optional<response> forbid_insecure(bool asked, const caller& who,
                                        api_family family) {
  if (!asked || who.scopes.contains(scope::admin))
    return std::nullopt;
  auto name = family == api_family::jobs ? "tlsInsecure" : "tls_insecure";
  return make_problem(problem::forbidden,
                      std::string{name}
                        + " may be set to true only with an API key that has "
                          "the scope admin",
                      family);
}

// -- queues -------------------------------------------------------------------

outcome read_create_queue(request& what, const api_options& options) {
  return proceed(decode_create_queue(what.body, options.complaint_about_target),
                 [&](create_queue& queue) -> outcome {
                   if (auto refused =
                         forbid_insecure(queue.settings.tls_insecure, what.who))
                     return std::move(*refused);
                   queue.project = std::move(what.who.project);
                   return std::move(queue);
                 });
}

outcome read_put_queue(request& what, const api_options& options) {
  if (auto finding = validate_queue_name(what.route.param))
    return make_problem(complaints{{}, {std::move(*finding)}});
  return proceed(
    decode_settings(what.body, options.complaint_about_target),
    [&](queue_settings& settings) -> outcome {
      if (auto refused = forbid_insecure(settings.tls_insecure, what.who))
        return std::move(*refused);
      return put_queue{std::move(what.route.param), std::move(settings),
                       std::move(what.who.project)};
    });
}

outcome read_patch_queue(request& what, const api_options& options) {
  return proceed(
    decode_settings_patch(what.body, options.complaint_about_target),
    [&](queue_settings_patch& patch) -> outcome {
      auto asked = patch.tls_insecure.value_or(false);
      if (auto refused = forbid_insecure(asked, what.who))
        return std::move(*refused);
      // What an admin allowed was for the URL of then.
      if (patch.webhook_url && !what.who.scopes.contains(scope::admin))
        patch.tls_insecure = false;
      return to_queue(what, patch_queue{std::move(patch)});
    });
}

outcome read_list_queues(request& what, const api_options&) {
  query_reader query{what.route.query};
  list_queues result;
  result.project = what.who.project;
  result.limit = read_limit(query);
  if (auto after = read_cursor(query, {list_kind::queues, result.project}))
    result.after = std::move(*after);
  return finish(query, std::move(result));
}

outcome read_delete_queue(request& what, const api_options&) {
  query_reader query{what.route.query};
  delete_queue result{what.route.param, read_flag(query, "force"),
                      what.who.project};
  return finish(query, std::move(result));
}

namespace {

std::string insecure_warning(const std::string& project,
                             const std::string& queue) {
  return "certificates of the webhook of queue " + queue + " of project "
         + project + " will not be verified (tlsInsecure)";
}

} // namespace

std::optional<std::string> warning_about(const call& asked) {
  if (auto what = std::get_if<create_queue>(&asked);
      what && what->settings.tls_insecure)
    return insecure_warning(what->project, what->name);
  if (auto what = std::get_if<put_queue>(&asked);
      what && what->settings.tls_insecure)
    return insecure_warning(what->project, what->name);
  if (auto what = std::get_if<queue_call>(&asked))
    if (auto patch = std::get_if<patch_queue>(&what->what);
        patch && patch->patch.tls_insecure.value_or(false)
        && !validate_queue_name(what->queue))
      return insecure_warning(what->project, what->queue);
  if (auto what = std::get_if<pull_call>(&asked))
    if (auto webhook = std::get_if<subscribe_webhook>(&what->what);
        webhook && webhook->settings.tls_insecure
        && !validate_queue_name(what->queue))
      return insecure_warning(what->project, what->queue);
  return std::nullopt;
}

// -- publishing ---------------------------------------------------------------

outcome read_publish(request& what, const api_options&) {
  return proceed(decode_publish(what.body), [&](publish& job) -> outcome {
    complete(job, what);
    return to_queue(what, std::move(job));
  });
}

outcome read_publish_batch(request& what, const api_options&) {
  auto make = [&](publish_batch_body& batch) -> outcome {
    for (auto& job : batch.jobs)
      complete(job, what);
    auto result = batch.jobs.empty()
                    ? to_queue(what, get_queue{})
                    : to_queue(what, publish_batch{std::move(batch.jobs)});
    result.refusals = std::move(batch.refusals);
    return result;
  };
  return proceed(decode_publish_batch(what.body), make);
}

// -- lists of jobs and keys ---------------------------------------------------

template <list_kind Kind>
outcome read_jobs(request& what, const api_options&) {
  query_reader query{what.route.query};
  auto list = read_list_jobs(query, {Kind, what.who.project, what.route.param});
  return finish(query, to_queue(what, std::move(list)));
}

outcome read_delete_dead_letters(request& what, const api_options&) {
  query_reader query{what.route.query};
  delete_dead_letters result{read_filter(query)};
  return finish(query, to_queue(what, std::move(result)));
}

outcome read_list_limit_keys(request& what, const api_options&) {
  query_reader query{what.route.query};
  list_limit_keys result;
  result.limit = read_limit(query);
  if (auto after = read_cursor(query, {list_kind::limit_keys, what.who.project,
                                       what.route.param}))
    result.after = std::move(*after);
  return finish(query, to_queue(what, std::move(result)));
}

outcome read_release_limit_key(request& what, const api_options&) {
  auto key = std::move(what.route.second_param);
  if (!is_utf8(key) || utf8_characters(key) > limit_key_max)
    return make_problem(problem::not_found, "There is no such limit key");
  return to_queue(what, release_limit_key{std::move(key)});
}

template outcome read_jobs<list_kind::jobs>(request&, const api_options&);
template outcome read_jobs<list_kind::dead_letters>(request&,
                                                    const api_options&);

} // namespace tidegate::http
