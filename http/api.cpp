#include "http/api.hpp"

#include <charconv>

#include "http/codec.hpp"
#include "http/cursor.hpp"
#include "http/problem.hpp"
#include "http/query_reader.hpp"

namespace tidegate::http {

namespace {

// -- letting in ---------------------------------------------------------------

response answer_to(const no_route& what) {
  switch (what.why) {
    case no_route::reason::malformed:
      return make_problem(problem::bad_request,
                          "The target of the request is malformed");
    case no_route::reason::method_not_allowed:
      return method_not_allowed(what.allow);
    case no_route::reason::not_found:
      break;
  }
  return make_problem(problem::not_found);
}

response forbid(scope required) {
  return make_problem(problem::forbidden,
                      std::string{"The API key lacks the scope "}
                        + to_string(required));
}

// -- reading ------------------------------------------------------------------

using outcome = std::variant<call, response>;

/// Goes on with `f` where `what` was read, else says what is wrong.
template <class T, class F>
outcome proceed(decoded<T> what, F f) {
  if (auto wrong = std::get_if<malformed>(&what))
    return make_problem(problem::malformed_json, wrong->sentence);
  if (auto wrong = std::get_if<complaints>(&what))
    return make_problem(*wrong);
  return f(std::get<T>(what));
}

response no_such_queue(std::string_view name) {
  std::string sentence{"Queue '"};
  sentence.append(name).append("' not found");
  return make_problem(problem::queue_not_found, sentence);
}

std::optional<std::size_t> parse_limit(std::string_view text) {
  std::size_t value = 0;
  auto end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || rest != end || value < 1 || value > 1000)
    return std::nullopt;
  return value;
}

outcome read_list_queues(const request& what) {
  query_reader query{what.route.query};
  list_queues result;
  if (auto text = query.find("limit")) {
    if (auto limit = parse_limit(*text))
      result.limit = *limit;
    else
      query.complain("limit", "1 to 1000", *text);
  }
  if (auto text = query.find("cursor")) {
    if (auto after = read_queue_cursor(*text))
      result.after = std::move(*after);
    else
      query.complain("cursor", "the nextCursor of an earlier page", *text);
  }
  if (auto wrong = query.finish(); !wrong.empty())
    return make_problem(wrong);
  return result;
}

outcome read_delete_queue(const request& what) {
  query_reader query{what.route.query};
  delete_queue result{what.route.param, false};
  if (auto text = query.find("force")) {
    result.force = *text == "true";
    if (!result.force && *text != "false")
      query.complain("force", "true or false", *text);
  }
  if (auto wrong = query.finish(); !wrong.empty())
    return make_problem(wrong);
  return result;
}

outcome read_put_queue(request& what, const api_options& options) {
  if (auto finding = validate_queue_name(what.route.param))
    return make_problem(complaints{{}, {std::move(*finding)}});
  return proceed(
    decode_settings(what.body, options.complaint_about_target),
    [&](queue_settings& settings) -> outcome {
      return put_queue{std::move(what.route.param), std::move(settings)};
    });
}

outcome read_get_job(const request& what) {
  auto id = parse_job_id(what.route.param);
  if (!id)
    return make_problem(problem::job_not_found);
  return get_job{*id};
}

/// Makes a call to the queue that the path names.
template <class T>
outcome to_queue(request& what, T message) {
  return queue_call{std::move(what.route.param), std::move(message)};
}

outcome read_publish(request& what) {
  return proceed(decode_publish(what.body),
                 [&](publish& job) { return to_queue(what, std::move(job)); });
}

outcome read_patch(request& what, const api_options& options) {
  return proceed(decode_settings_patch(what.body,
                                       options.complaint_about_target),
                 [&](queue_settings_patch& patch) {
                   return to_queue(what, patch_queue{std::move(patch)});
                 });
}

/// Reads an operation whose body says nothing.
outcome read_bodiless(request& what) {
  switch (what.route.route->operation) {
    case operation::list_queues:
      return read_list_queues(what);
    case operation::delete_queue:
      return read_delete_queue(what);
    case operation::get_queue:
      return to_queue(what, get_queue{});
    case operation::pause_queue:
      return to_queue(what, pause_queue{});
    case operation::resume_queue:
      return to_queue(what, resume_queue{});
    case operation::get_job:
      return read_get_job(what);
    case operation::health:
      return health_check{};
    case operation::readiness:
      return ready_check{};
    default:
      return make_problem(problem::internal_error);
  }
}

bool names_a_queue(operation what) {
  switch (what) {
    case operation::get_queue:
    case operation::patch_queue:
    case operation::delete_queue:
    case operation::pause_queue:
    case operation::resume_queue:
    case operation::publish:
      return true;
    default:
      return false;
  }
}

/// Whether the route looks at its query itself, or does not care for it.
bool takes_query(operation what) {
  return what == operation::list_queues || what == operation::delete_queue
         || what == operation::health || what == operation::readiness;
}

response with_body(unsigned status, std::string body) {
  return {status, {}, std::move(body)};
}

} // namespace

// -- requests -----------------------------------------------------------------

std::variant<route_match, response> admit(const request_head& head,
                                          const key_ring& keys) {
  auto found = find_route(head.method, head.target);
  auto match = std::get_if<route_match>(&found);
  if (match && match->route->open)
    return std::move(*match);
  auto scopes = keys.authenticate(find_header(head, "authorization"));
  if (!scopes)
    return make_problem(problem::unauthenticated);
  if (!match)
    return answer_to(std::get<no_route>(found));
  if (!scopes->contains(match->route->required))
    return forbid(match->route->required);
  return std::move(*match);
}

std::variant<call, response> read_call(request& what,
                                       const api_options& options) {
  auto wanted = what.route.route->operation;
  if (names_a_queue(wanted) && validate_queue_name(what.route.param))
    return no_such_queue(what.route.param);
  if (!takes_query(wanted))
    if (auto wrong = query_reader{what.route.query}.finish(); !wrong.empty())
      return make_problem(wrong);
  switch (wanted) {
    case operation::publish:
      return read_publish(what);
    case operation::create_queue:
      return proceed(
        decode_create_queue(what.body, options.complaint_about_target),
        [](create_queue& queue) -> outcome { return std::move(queue); });
    case operation::put_queue:
      return read_put_queue(what, options);
    case operation::patch_queue:
      return read_patch(what, options);
    default:
      return proceed(decode_nothing(what.body),
                     [&](std::monostate) { return read_bodiless(what); });
  }
}

// -- responses ----------------------------------------------------------------

response answer(const put_queue_result& reply) {
  return with_body(reply.created ? 201 : 200,
                   encode(reply.view, reply.created));
}

response answer(const queue_view& reply) {
  return with_body(200, encode(reply));
}

response answer(const queue_list& reply) {
  return with_body(200, encode(reply));
}

response answer(const publish_result& reply) {
  return with_body(reply.duplicate ? 200 : 201, encode(reply));
}

response answer(const job_view& reply) {
  return with_body(200, encode(reply));
}

response answer(const error& reason) {
  return make_problem(reason);
}

response deleted() {
  return {204, {}, {}};
}

response alive() {
  return with_body(200, R"({"status":"ok"})");
}

response ready() {
  return with_body(200, R"({"status":"ready"})");
}

} // namespace tidegate::http
