#include "http/routes.hpp"

#include <array>
#include <optional>

namespace tidegate::http {

namespace {

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

api_family family_of(std::string_view target) {
  constexpr std::string_view prefix = "/v1/queue";
  auto path = origin_form(target);
  if (!path.starts_with(prefix))
    return api_family::jobs;
  path.remove_prefix(prefix.size());
  return path.empty() || path[0] == '/' || path[0] == '?' ? api_family::messages
                                                          : api_family::jobs;
}

std::variant<route_match, no_route> find_route(std::string_view method,
                                               std::string_view target) {
  auto query = origin_form(target);
  auto path = take_until(query, '?');
  if (path.empty() || target.find('#') != std::string_view::npos)
    return malformed();
  auto wanted = method == "HEAD" ? std::string_view{"GET"} : method;
  std::array<std::string_view, params_max> params;
  for (const auto& entry : routes()) {
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
  for (const auto& entry : routes())
    if (matches(entry.path, path, params))
      add_method(miss.allow, entry.method);
  if (!miss.allow.empty())
    miss.why = no_route::reason::method_not_allowed;
  return miss;
}

} // namespace tidegate::http
