#include "http/webhook_url.hpp"

#include <algorithm>
#include <charconv>

// Boost.URL is compiled here, the one file that uses it.
#include <boost/url/src.hpp>

namespace tidegate::http {

namespace {

error invalid(std::string why) {
  return {errc::validation_failed, std::move(why)};
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'
         || c == '.' || c == '_';
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return result;
}

bool is_name(std::string_view host) {
  return !host.empty() && host.size() <= 254 && host.front() != '.'
         && std::all_of(host.begin(), host.end(), is_name_character);
}

// The text behind `scheme://`, cut in two. Boost.URL 1.81 has checked every
// character, but it ends a host that starts with four numbers, and a port,
// where the numbers end, and takes the rest for the path.
struct split_url {
  std::string_view authority;
  std::string_view target;
};

split_url split(std::string_view url) {
  url.remove_prefix(url.find("//") + 2);
  url = url.substr(0, url.find('#'));
  auto end = std::min(url.find_first_of("/?"), url.size());
  return {url.substr(0, end), url.substr(end)};
}

// Fills in `host`; returns what is wrong with it, or null.
const char* read_host(std::string_view text, webhook_url& result) {
  if (text.empty())
    return "it has no host";
  if (text.front() == '[') {
    auto address = parse_ip_address(text.substr(1, text.size() - 2));
    if (!text.ends_with(']') || !address || address->is_v4)
      return "its host is not an IPv6 address";
    result.host = to_string(*address);
    return nullptr;
  }
  result.host = lower(text);
  return is_name(result.host) ? nullptr
                              : "its host is neither a name of letters, "
                                "digits, dots and hyphens nor an address";
}

// Fills in `host` and `port`; returns what is wrong with them, or null.
const char* read_authority(std::string_view text, webhook_url& result) {
  if (text.find('@') != std::string_view::npos)
    return "it must not have a user name or password";
  auto colon = text.find_last_of(":]");
  if (colon == std::string_view::npos || text[colon] == ']')
    return read_host(text, result);
  auto digits = text.substr(colon + 1);
  auto last = digits.data() + digits.size();
  auto [end, failure] = std::from_chars(digits.data(), last, result.port);
  if (!digits.empty()
      && (failure != std::errc{} || end != last || result.port == 0))
    return "its port must be 1 to 65535";
  return read_host(text.substr(0, colon), result);
}

void derive(std::string_view target, webhook_url& result) {
  if (!target.starts_with('/'))
    result.target += '/';
  result.target += target;
  if (result.host.find(':') == std::string::npos) {
    result.authority = result.host;
  } else {
    result.authority += '[';
    result.authority += result.host;
    result.authority += ']';
  }
  std::string port(1, ':');
  port += std::to_string(result.port);
  result.origin += result.tls ? "https://" : "http://";
  result.origin += result.authority;
  result.origin += port;
  if (result.port != (result.tls ? 443 : 80))
    result.authority += port;
}

} // namespace

result<webhook_url> parse_webhook_url(std::string_view url) {
  if (url.size() > webhook_url_max)
    return invalid("the URL is longer than " + std::to_string(webhook_url_max)
                   + " bytes");
  auto parsed = boost::urls::parse_uri({url.data(), url.size()});
  if (!parsed)
    return invalid("the URL is not a valid absolute URL");
  auto view = *parsed;
  webhook_url result;
  result.tls = view.scheme_id() == boost::urls::scheme::https;
  if (!result.tls && view.scheme_id() != boost::urls::scheme::http)
    return invalid("the URL's scheme must be http or https");
  if (!view.has_authority())
    return invalid("the URL cannot be called: it has no host");
  result.port = result.tls ? 443 : 80;
  auto [authority, target] = split(url);
  if (auto complaint = read_authority(authority, result); complaint != nullptr)
    return invalid(std::string{"the URL cannot be called: "} + complaint);
  derive(target, result);
  return result;
}

} // namespace tidegate::http
