#include "http/api.hpp"

#include <array>

#include "http/api_read.hpp"
#include "http/codec.hpp"
#include "http/dashboard.hpp"
#include "http/discovery.hpp"
#include "http/openapi.hpp"
#include "http/problem.hpp"
#include "http/query_reader.hpp"
#include "http/trace_context.hpp"

namespace tidegate::http {

namespace {

// -- letting in ---------------------------------------------------------------

response answer_to(const no_route& what, api_family family) {
  switch (what.why) {
    case no_route::reason::malformed:
      return make_problem(problem::bad_request,
                          "The target of the request is malformed", family);
    case no_route::reason::method_not_allowed:
      return method_not_allowed(what.allow, family);
    case no_route::reason::not_found:
      break;
  }
  return make_problem(problem::not_found, {}, family);
}

/// Lets in somebody without a key.
admission let_in(route_match match, const request_head& head) {
  admission result{std::move(match), {}, {}};
  auto what = result.route.route->operation;
  if (what == operation::dashboard || what == operation::dashboard_file)
    if (auto tags = find_header(head, "if-none-match"))
      result.if_none_match.emplace(*tags);
  return result;
}

bool publishes(operation what) {
  return what == operation::publish || what == operation::publish_batch;
}

/// Whether the value of `Host` names this machine itself. Another name may be
/// one of a stranger's page in a browser here, which points to this address
/// now ("DNS rebinding").
bool names_loopback(std::string_view host) {
  if (host.starts_with("[::1]"))
    return true;
  auto name = host.substr(0, host.find(':'));
  if (name == "localhost")
    return true;
  return name.starts_with("127.")
         && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Whether a request without a key comes from the machine itself. One that was
/// handed on by a proxy on this machine comes from somewhere else.
bool is_from_here(const request_head& head) {
  auto has = [&](std::string_view name) {
    return find_header(head, name).has_value();
  };
  auto is_loopback = head.peer.starts_with("127.") || head.peer == "::1"
                     || head.peer.starts_with("::ffff:127.");
  auto host = find_header(head, "host");
  return is_loopback && (!host || names_loopback(*host))
         && !has("authorization") && !has("forwarded")
         && !has("x-forwarded-for") && !has("x-real-ip") && !has("via");
}

// -- whole classes of operations ----------------------------------------------

/// Reads an operation on a queue whose body says nothing.
template <class T>
outcome plain(request& what, const api_options&) {
  return to_queue(what, T{});
}

/// The same for one on a job.
template <class T>
outcome plain_job(request& what, const api_options&) {
  return to_job(what, T{});
}

/// Reads an operation on a queue whose message is what its body says.
template <auto Decode>
outcome told(request& what, const api_options&) {
  return proceed(Decode(what.body), [&](auto& message) -> outcome {
    return to_queue(what, std::move(message));
  });
}

/// The same for one on a job.
template <auto Decode>
outcome told_job(request& what, const api_options&) {
  return proceed(Decode(what.body), [&](auto& message) -> outcome {
    return to_job(what, std::move(message));
  });
}

/// Reads an operation on a queue that shows its secret.
template <auto Read>
outcome with_secret(request& what, const api_options& options) {
  auto result = Read(what, options);
  if (auto made = std::get_if<call>(&result))
    std::get<queue_call>(*made).shows_secret = true;
  return result;
}

// -- the rest -----------------------------------------------------------------

template <class T>
outcome read_check(request&, const api_options&) {
  return T{};
}

outcome read_openapi(request&, const api_options&) {
  return response{200, {}, openapi_document()};
}

outcome read_dashboard(request& what, const api_options&) {
  auto is_page = what.route.route->operation == operation::dashboard;
  return answer_with_file(is_page ? "index.html" : what.route.param,
                          what.if_none_match);
}

outcome read_discover(request&, const api_options& options) {
  return response{200, {}, discovery_document(options)};
}

outcome read_discover_one(request& what, const api_options& options) {
  auto text = describe_capability(what.route.param, options);
  if (text.empty())
    return make_problem(problem::not_found, "There is no such capability");
  return response{200, {}, std::move(text)};
}

response no_such_queue(std::string_view name, api_family family) {
  std::string sentence{"Queue '"};
  sentence.append(name).append("' not found");
  return make_problem(problem::queue_not_found, sentence, family);
}

// -- the table ----------------------------------------------------------------

enum : unsigned {
  nothing = 0,
  /// Looks at the query itself, or does not care for it.
  query = 1,
  /// Looks at the body itself.
  body = 2,
};

struct row {
  operation what;
  outcome (*read)(request&, const api_options&);
  unsigned takes = nothing;
};

/// In the order of the enumeration.
constexpr std::array table = {
  row{operation::create_queue, read_create_queue, body},
  row{operation::list_queues, read_list_queues, query},
  row{operation::get_queue, plain<get_queue>},
  row{operation::put_queue, read_put_queue, body},
  row{operation::patch_queue, read_patch_queue, body},
  row{operation::delete_queue, read_delete_queue, query},
  row{operation::pause_queue, plain<pause_queue>},
  row{operation::resume_queue, plain<resume_queue>},
  row{operation::hold_queue, told<decode_hold>, body},
  row{operation::release_queue, plain<release_queue>},
  row{operation::purge_queue, told<decode_purge>, body},
  row{operation::get_secret, with_secret<plain<get_queue>>},
  row{operation::rotate_secret, with_secret<told<decode_rotate>>, body},
  row{operation::publish, read_publish, body},
  row{operation::publish_batch, read_publish_batch, body},
  row{operation::list_jobs, read_jobs<list_kind::jobs>, query},
  row{operation::list_limit_keys, read_list_limit_keys, query},
  row{operation::release_limit_key, read_release_limit_key},
  row{operation::list_dead_letters, read_jobs<list_kind::dead_letters>, query},
  row{operation::replay_dead_letters, told<decode_dlq_replay>, body},
  row{operation::delete_dead_letters, read_delete_dead_letters, query},
  row{operation::get_job, plain_job<get_job>},
  row{operation::cancel_job, plain_job<cancel_job>},
  row{operation::run_job_now, plain_job<run_job_now>},
  row{operation::replay_job, told_job<decode_replay>, body},
  row{operation::ack_job, told_job<decode_ack>, body},
  row{operation::nack_job, told_job<decode_nack>, body},
  row{operation::defer_job, told_job<decode_defer>, body},
  row{operation::touch_job, told_job<decode_touch>, body},
  row{operation::list_operations, read_list_operations, query},
  row{operation::get_operation, read_operation<get_operation>},
  row{operation::cancel_operation, read_operation<cancel_operation>},
  row{operation::create_api_key, read_create_api_key, body},
  row{operation::list_api_keys, read_list_api_keys, query},
  row{operation::revoke_api_key, read_revoke_api_key},
  row{operation::get_usage, read_usage, query},
  row{operation::stream_events, read_events, query},
  row{operation::create_pull_queue, read_create_pull_queue, body},
  row{operation::get_pull_queue, read_get_pull_queue},
  row{operation::list_pull_queues, read_list_pull_queues, query},
  row{operation::patch_pull_queue, read_patch_pull_queue, body},
  row{operation::delete_pull_queue, read_delete_pull_queue, query},
  row{operation::publish_message, read_publish_message, body},
  row{operation::publish_messages, read_publish_messages, body},
  row{operation::consume_messages, read_consume, body},
  row{operation::ack_message, read_settle<settle_message::kind::ack>, body},
  row{operation::nack_message, read_settle<settle_message::kind::nack>, body},
  row{operation::extend_message, read_settle<settle_message::kind::extend>,
      body},
  row{operation::release_message, read_settle<settle_message::kind::release>,
      body},
  row{operation::ack_messages, read_settle_batch<settle_message::kind::ack>,
      body},
  row{operation::nack_messages, read_settle_batch<settle_message::kind::nack>,
      body},
  row{operation::peek_messages, read_peek, query},
  row{operation::purge_pull_queue, read_purge_pull_queue},
  row{operation::get_pull_stats, read_pull_stats},
  row{operation::list_dead_messages, read_list_dead_messages, query},
  row{operation::redrive_messages, read_redrive, body},
  row{operation::subscribe_webhook, read_subscribe, body},
  row{operation::get_subscription, read_get_subscription},
  row{operation::unsubscribe_webhook, read_unsubscribe},
  row{operation::discover, read_discover, query},
  row{operation::discover_one, read_discover_one, query},
  row{operation::openapi, read_openapi, query},
  row{operation::dashboard, read_dashboard, query},
  row{operation::dashboard_file, read_dashboard, query},
  row{operation::health, read_check<health_check>, query},
  row{operation::readiness, read_check<ready_check>, query},
  row{operation::metrics, read_metrics},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].what) != i)
      return false;
  return true;
}

static_assert(is_in_order());

/// Returns the response to a path that names what cannot be there.
std::optional<response> complaint_about_path(const route_match& match) {
  auto path = match.route->path;
  auto wanted = match.route->operation;
  auto names_queue = path.starts_with("/v1/queues/{")
                     || path.ends_with("{queue}");
  if (names_queue && wanted != operation::put_queue
      && validate_queue_name(match.param))
    return no_such_queue(match.param, family_of(path));
  if (path.starts_with("/v1/jobs/{") && !parse_job_id(match.param))
    return make_problem(problem::job_not_found);
  return std::nullopt;
}

} // namespace

response forbid(scope required, api_family family) {
  return make_problem(
    problem::forbidden,
    std::string{"The API key lacks the scope "} + to_string(required), family);
}

std::variant<admission, refusal> admit(const request_head& head,
                                       const key_ring& keys, moment now) {
  auto found = find_route(head.method, head.target);
  auto match = std::get_if<route_match>(&found);
  if (match && match->route->open)
    return let_in(std::move(*match), head);
  if (match && match->route->open_on_loopback && is_from_here(head))
    return admission{std::move(*match), {{}, {}, scope_set::all()}, {}};
  auto known = keys.authenticate(find_header(head, "authorization"), now);
  if (auto refused = std::get_if<problem>(&known))
    return refusal{make_problem(*refused, {}, family_of(head.target))};
  auto& who = std::get<caller>(known);
  if (!match)
    return refusal{
      answer_to(std::get<no_route>(found), family_of(head.target))};
  admission result{std::move(*match), std::move(who), {}};
  auto required = result.route.route->required;
  if (!result.who.scopes.contains(required))
    return refusal{forbid(required, family_of(head.target)), std::move(result)};
  if (publishes(result.route.route->operation))
    result.trace = read_trace_context(head.headers);
  if (result.route.route->operation == operation::publish_message)
    if (auto key = find_header(head, "idempotency-key"))
      result.idempotency_key.emplace(*key);
  if (result.route.route->operation == operation::stream_events)
    if (auto id = find_header(head, "last-event-id"))
      result.last_event_id.emplace(*id);
  return result;
}

std::variant<call, response> read_call(request& what,
                                       const api_options& options) {
  if (auto wrong = complaint_about_path(what.route))
    return std::move(*wrong);
  const auto& how =
    table[static_cast<std::size_t>(what.route.route->operation)];
  auto family = family_of(what.route.route->path);
  if ((how.takes & query) == 0)
    if (auto wrong = query_reader{what.route.query}.finish(); !wrong.empty())
      return make_problem(wrong, family);
  if ((how.takes & body) != 0)
    return how.read(what, options);
  return proceed(
    decode_nothing(what.body),
    [&](std::monostate) { return how.read(what, options); }, family);
}

} // namespace tidegate::http
