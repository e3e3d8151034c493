#include "http/routes.hpp"

#include <array>
#include <optional>

namespace tidegate::http {

namespace {

constexpr std::array table = {
  route{"POST", "/v1/queues", operation::create_queue, scope::manage, false,
        "Create a queue"},
  route{"GET", "/v1/queues", operation::list_queues, scope::read, false,
        "List queues by name"},
  route{"GET", "/v1/queues/{name}", operation::get_queue, scope::read, false,
        "Show a queue: settings, gate, counts and what blocks it"},
  route{"PUT", "/v1/queues/{name}", operation::put_queue, scope::manage, false,
        "Create a queue or replace its settings"},
  route{"PATCH", "/v1/queues/{name}", operation::patch_queue, scope::manage,
        false, "Change some settings of a queue"},
  route{"DELETE", "/v1/queues/{name}", operation::delete_queue, scope::manage,
        false, "Delete a queue, with live jobs only if forced"},
  route{"POST", "/v1/queues/{name}/pause", operation::pause_queue,
        scope::manage, false, "Start no more deliveries"},
  route{"POST", "/v1/queues/{name}/resume", operation::resume_queue,
        scope::manage, false, "Start deliveries again"},
  route{"POST", "/v1/queues/{name}/hold", operation::hold_queue, scope::manage,
        false, "Hold a queue by hand"},
  route{"POST", "/v1/queues/{name}/release", operation::release_queue,
        scope::manage, false, "End a hold: the next job is the probe"},
  route{"POST", "/v1/queues/{name}/purge", operation::purge_queue,
        scope::manage, false, "Remove the jobs that wait"},
  route{"GET", "/v1/queues/{name}/signing-secret", operation::get_secret,
        scope::manage, false, "Show a queue with its signing secret"},
  route{"POST", "/v1/queues/{name}/signing-secret/rotate",
        operation::rotate_secret, scope::manage, false,
        "Make a new signing secret; both sign for a while"},
  route{"POST", "/v1/queues/{name}/jobs", operation::publish, scope::publish,
        false, "Publish a job"},
  route{"POST", "/v1/queues/{name}/jobs/batch", operation::publish_batch,
        scope::publish, false, "Publish up to 1000 jobs in one commit",
        body_class::batch},
  route{"GET", "/v1/queues/{name}/jobs", operation::list_jobs, scope::read,
        false, "List the jobs of a queue, newest first"},
  route{"GET", "/v1/queues/{name}/keys", operation::list_limit_keys,
        scope::read, false, "List limit keys that are held, probing or busy"},
  route{"POST", "/v1/queues/{name}/keys/{key}/release",
        operation::release_limit_key, scope::manage, false,
        "End the hold of a limit key"},
  route{"GET", "/v1/queues/{name}/dlq", operation::list_dead_letters,
        scope::read, false, "List the dead letters of a queue, newest first"},
  route{"POST", "/v1/queues/{name}/dlq/replay", operation::replay_dead_letters,
        scope::manage, false,
        "Replay dead letters, or tell which ones it would be"},
  route{"DELETE", "/v1/queues/{name}/dlq", operation::delete_dead_letters,
        scope::manage, false, "Remove dead letters"},
  route{"GET", "/v1/jobs/{id}", operation::get_job, scope::read, false,
        "Show a job: state, history and what blocks it"},
  route{"DELETE", "/v1/jobs/{id}", operation::cancel_job, scope::manage, false,
        "Cancel a job"},
  route{"POST", "/v1/jobs/{id}/run-now", operation::run_job_now, scope::manage,
        false, "End the delay or backoff of a job"},
  route{"POST", "/v1/jobs/{id}/replay", operation::replay_job, scope::manage,
        false, "Give a dead job another life"},
  route{"POST", "/v1/jobs/{id}/ack", operation::ack_job, scope::work, false,
        "Report that a job is done"},
  route{"POST", "/v1/jobs/{id}/nack", operation::nack_job, scope::work, false,
        "Report that a job failed"},
  route{"POST", "/v1/jobs/{id}/defer", operation::defer_job, scope::work, false,
        "Report \"not now\": no attempt is spent"},
  route{"POST", "/v1/jobs/{id}/touch", operation::touch_job, scope::work, false,
        "Ask for more time until the ack"},
  route{"GET", "/v1/operations", operation::list_operations, scope::read, false,
        "List long-running operations, newest first"},
  route{"GET", "/v1/operations/{id}", operation::get_operation, scope::read,
        false, "Show how far an operation has come"},
  route{"DELETE", "/v1/operations/{id}", operation::cancel_operation,
        scope::manage, false, "Stop an operation where it is"},
  route{"POST", "/v1/keys", operation::create_api_key, scope::admin, false,
        "Make an API key; it is shown this once"},
  route{"GET", "/v1/keys", operation::list_api_keys, scope::admin, false,
        "List the API keys, without the keys themselves"},
  route{"DELETE", "/v1/keys/{id}", operation::revoke_api_key, scope::admin,
        false, "Revoke an API key at once"},
  route{"GET", "/v1/usage", operation::get_usage, scope::read, false,
        "Tell what the project has done, day by day"},
  route{"GET", "/openapi.json", operation::openapi, scope::read, true,
        "Describe this API as OpenAPI 3.1"},
  route{"GET", "/healthz", operation::health, scope::read, true,
        "Is the process up?"},
  route{"GET", "/readyz", operation::readiness, scope::read, true,
        "Can the server do its work?"},
};

/// Most segments in braces.
constexpr std::size_t params_max = 2;

constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

/// Undoes percent-encoding (RFC 3986, section 2.1). Returns nothing where a `%`
/// is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

/// Cuts `text` at the first `delimiter`. Returns what stands before it and
/// leaves what comes after it.
std::string_view take_until(std::string_view& text, char delimiter) {
  auto end = text.find(delimiter);
  auto head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

std::optional<std::vector<query_field>> parse_query(std::string_view text) {
  std::vector<query_field> result;
  while (!text.empty()) {
    auto value = take_until(text, '&');
    if (value.empty())
      continue;
    auto name = percent_decode(take_until(value, '='));
    auto decoded = percent_decode(value);
    if (!name || !decoded)
      return std::nullopt;
    result.emplace_back(std::move(*name), std::move(*decoded));
  }
  return result;
}

/// Returns the origin form of `target`, empty where it is neither in origin
/// form nor in absolute form.
std::string_view origin_form(std::string_view target) {
  if (target.starts_with('/'))
    return target;
  auto scheme_end = target.find("://");
  if (scheme_end == std::string_view::npos)
    return {};
  auto scheme = target.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https")
    return {};
  auto path = target.find_first_of("/?", scheme_end + 3);
  if (path == scheme_end + 3)
    return {};
  if (path == std::string_view::npos || target[path] == '?')
    return "/";
  return target.substr(path);
}

/// Tells whether `path` has the form of `pattern`. Sets `params` to the
/// segments that stand where `pattern` has braces; none of them is empty.
bool matches(std::string_view pattern, std::string_view path,
             std::array<std::string_view, params_max>& params) {
  params = {};
  for (auto& param : params) {
    auto open = pattern.find('{');
    if (open == std::string_view::npos)
      break;
    if (path.substr(0, open) != pattern.substr(0, open))
      return false;
    path.remove_prefix(open);
    pattern.remove_prefix(pattern.find('}', open) + 1);
    param = path.substr(0, path.find('/'));
    path.remove_prefix(param.size());
    if (param.empty())
      return false;
  }
  return path == pattern;
}

void add_method(std::string& list, std::string_view method) {
  if (!list.empty())
    list += ", ";
  list += method;
  if (method == "GET")
    list += ", HEAD";
}

no_route malformed() {
  return {no_route::reason::malformed, {}};
}

} // namespace

const char* to_string(scope what) {
  switch (what) {
    case scope::publish:
      return "publish";
    case scope::work:
      return "work";
    case scope::read:
      return "read";
    case scope::manage:
      return "manage";
    case scope::admin:
      return "admin";
  }
  return "unknown";
}

std::span<const route> routes() {
  return table;
}

std::variant<route_match, no_route> find_route(std::string_view method,
                                               std::string_view target) {
  auto query = origin_form(target);
  auto path = take_until(query, '?');
  if (path.empty() || target.find('#') != std::string_view::npos)
    return malformed();
  auto wanted = method == "HEAD" ? std::string_view{"GET"} : method;
  std::array<std::string_view, params_max> params;
  for (const auto& entry : table) {
    if (entry.method != wanted || !matches(entry.path, path, params))
      continue;
    auto first = percent_decode(params[0]);
    auto second = percent_decode(params[1]);
    auto fields = parse_query(query);
    if (!first || !second || !fields)
      return malformed();
    return route_match{&entry, std::move(*first), std::move(*second),
                       std::move(*fields)};
  }
  no_route miss;
  for (const auto& entry : table)
    if (matches(entry.path, path, params))
      add_method(miss.allow, entry.method);
  if (!miss.allow.empty())
    miss.why = no_route::reason::method_not_allowed;
  return miss;
}

} // namespace tidegate::http
