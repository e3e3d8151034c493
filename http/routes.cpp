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
  route{"POST", "/v1/queues/{name}/jobs", operation::publish, scope::publish,
        false, "Publish a job"},
  route{"GET", "/v1/jobs/{id}", operation::get_job, scope::read, false,
        "Show a job: state, history and what blocks it"},
  route{"GET", "/healthz", operation::health, scope::read, true,
        "Is the process up?"},
  route{"GET", "/readyz", operation::readiness, scope::read, true,
        "Can the server do its work?"},
};

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

/// Tells whether `path` has the form of `pattern`. Sets `param` to the segment
/// that stands where `pattern` has braces; it is not empty.
bool matches(std::string_view pattern, std::string_view path,
             std::string_view& param) {
  auto open = pattern.find('{');
  if (open == std::string_view::npos)
    return path == pattern;
  auto tail = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= open + tail.size() || !path.ends_with(tail)
      || path.substr(0, open) != pattern.substr(0, open))
    return false;
  param = path.substr(open, path.size() - open - tail.size());
  return param.find('/') == std::string_view::npos;
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
  std::string allow;
  for (const auto& entry : table) {
    std::string_view param;
    if (!matches(entry.path, path, param))
      continue;
    if (entry.method != wanted) {
      add_method(allow, entry.method);
      continue;
    }
    auto name = percent_decode(param);
    auto fields = parse_query(query);
    if (!name || !fields)
      return malformed();
    return route_match{&entry, std::move(*name), std::move(*fields)};
  }
  if (allow.empty())
    return no_route{};
  return no_route{no_route::reason::method_not_allowed, std::move(allow)};
}

} // namespace tidegate::http
