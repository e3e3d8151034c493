#include "tidegate/queue_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "actors/core/shown_url.hpp"
#include "actors/core/utf8.hpp"

namespace tidegate {

namespace {

constexpr std::size_t url_length_max = 2048;
constexpr std::size_t name_length_max = 120;
constexpr std::size_t headers_max = 32;
constexpr std::size_t header_name_max = 128;
constexpr std::size_t header_value_max = 4096;
constexpr std::size_t ladder_steps_max = 100;
constexpr std::size_t statuses_max = 64;
constexpr std::size_t tls_ca_max = 65'536;
constexpr double wait_max = 2'592'000;

/// The largest integer below which JSON numbers are exact everywhere: 2^53 - 1.
constexpr double depth_max = 9'007'199'254'740'991;

/// Prints a number as people write it: no trailing zeros, no exponent where it
/// can be helped.
std::string print(double x) {
  if (x == std::floor(x) && std::abs(x) <= depth_max)
    return std::to_string(static_cast<std::int64_t>(x));
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", x);
  return text;
}

/// Cuts what a caller sent to a length that fits into a message.
std::string quote(std::string_view text) {
  constexpr std::size_t shown_max = 80;
  auto shown = to_valid_utf8(text.substr(0, shown_max), shown_max);
  for (auto& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return "'" + shown + (text.size() > shown_max ? "…'" : "'");
}

/// Collects what is wrong, field by field.
class findings {
public:
  void add(std::string field, std::string message) {
    list_.push_back({std::move(field), std::move(message)});
  }

  void range(std::string field, double value, double min, double max) {
    if (!(value >= min && value <= max))
      add(std::move(field), "must be " + print(min) + " to " + print(max)
                              + ", got " + print(value));
  }

  std::vector<field_error> take() {
    return std::move(list_);
  }

private:
  std::vector<field_error> list_;
};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

/// Returns what is wrong with the shape of a URL; which addresses may be called
/// is a matter of the server's policy.
std::string complaint_about_url(const std::string& url) {
  if (url.empty())
    return "must be an http or https URL, got ''";
  if (url.size() > url_length_max)
    return "must be at most 2048 characters, got " + std::to_string(url.size());
  if (std::any_of(url.begin(), url.end(), [](char c) {
        return is_control(c) || c == ' ' || static_cast<unsigned char>(c) > 126;
      }))
    return "must have no spaces, control or non-ASCII characters, got "
           + quote(shown_url(url));
  auto scheme = lower(url.substr(0, url.find("://") + 1));
  if (scheme != "http:" && scheme != "https:")
    return "must be an http or https URL, got " + quote(shown_url(url));
  auto rest = std::string_view{url}.substr(scheme.size() + 2);
  auto authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos)
    return "must have no user name or password";
  if (authority.empty() || authority.front() == ':')
    return "must name a host, got " + quote(shown_url(url));
  return {};
}

/// Token of RFC 9110, section 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0
           || others.find(c) != std::string_view::npos;
  });
}

/// Headers that Tidegate or HTTP itself sets.
bool is_reserved(std::string_view lower_name) {
  constexpr std::array<std::string_view, 15> names = {"connection",
                                                      "content-encoding",
                                                      "content-length",
                                                      "content-type",
                                                      "expect",
                                                      "host",
                                                      "keep-alive",
                                                      "te",
                                                      "traceparent",
                                                      "tracestate",
                                                      "trailer",
                                                      "upgrade",
                                                      "user-agent",
                                                      "transfer-encoding",
                                                      "date"};
  constexpr std::array<std::string_view, 4> prefixes = {
    "proxy-", "webhook-", "x-simpleq-", "x-tidegate-"};
  return std::find(names.begin(), names.end(), lower_name) != names.end()
         || std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) {
              return lower_name.starts_with(prefix);
            });
}

std::string complaint_about_header(const header& h) {
  const auto& [name, value] = h;
  if (!is_token(name) || name.size() > header_name_max)
    return "must be named by 1 to 128 token characters, got " + quote(name);
  if (is_reserved(lower(name)))
    return "must not set the reserved header " + quote(name);
  if (value.size() > header_value_max)
    return "must have values of at most 4096 characters, got "
           + std::to_string(value.size()) + " for " + quote(name);
  if (std::any_of(value.begin(), value.end(),
                  [](char c) { return is_control(c) && c != '\t'; }))
    return "must have no control characters in the value of " + quote(name);
  auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  if (!value.empty() && (is_blank(value.front()) || is_blank(value.back())))
    return "must have no blanks around the value of " + quote(name);
  return {};
}

void validate_headers(const std::vector<header>& headers, findings& out) {
  if (headers.size() > headers_max)
    out.add("headers",
            "must be at most 32, got " + std::to_string(headers.size()));
  std::vector<std::string> seen;
  for (const auto& h : headers) {
    if (auto complaint = complaint_about_header(h); !complaint.empty())
      out.add("headers", std::move(complaint));
    auto name = lower(h.first);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      out.add("headers", "must not name " + quote(h.first) + " twice");
    seen.push_back(std::move(name));
  }
}

void validate_statuses(const std::vector<std::uint16_t>& statuses,
                       findings& out) {
  const std::string field = "permanentFailureStatuses";
  if (statuses.size() > statuses_max)
    out.add(field, "must be at most 64 statuses, got "
                     + std::to_string(statuses.size()));
  for (auto i = statuses.begin(); i != statuses.end(); ++i) {
    out.range(field, *i, 300, 599);
    if (*i == 429 || *i == 503 || *i == 529)
      out.add(field, "must not name " + std::to_string(*i)
                       + ", which means \"not now\"");
    if (std::find(statuses.begin(), i, *i) != i)
      out.add(field, "must not name " + std::to_string(*i) + " twice");
  }
}

void validate_hold_bounds(const queue_settings& s, findings& out) {
  if (s.min_hold)
    out.range("minHold", to_seconds(*s.min_hold), 0, wait_max);
  if (s.max_hold)
    out.range("maxHold", to_seconds(*s.max_hold), 0, wait_max);
  if (s.min_hold && s.max_hold && *s.min_hold > *s.max_hold)
    out.add("minHold", "must be at most maxHold, which is "
                         + print(to_seconds(*s.max_hold)) + ", got "
                         + print(to_seconds(*s.min_hold)));
}

/// The certificates themselves are for whoever knows X.509 to read.
std::string complaint_about_ca(const std::string& pem) {
  if (pem.size() > tls_ca_max)
    return "must be at most 65536 bytes, got " + std::to_string(pem.size());
  auto is_line_end = [](char c) { return c == '\r' || c == '\n' || c == '\t'; };
  if (std::any_of(pem.begin(), pem.end(),
                  [&](char c) { return is_control(c) && !is_line_end(c); }))
    return "must have no control characters but tabs and line ends";
  return {};
}

void validate_ladder(const std::vector<double>& steps, findings& out) {
  if (steps.empty() || steps.size() > ladder_steps_max)
    out.add("backoff.steps",
            "must be 1 to 100 waits, got " + std::to_string(steps.size()));
  for (auto step : steps)
    out.range("backoff.steps", step, 0, wait_max);
}

void validate_backoff(const backoff_settings& backoff, findings& out) {
  using kind = backoff_settings::kind;
  if (backoff.type == kind::ladder)
    validate_ladder(backoff.steps, out);
  else
    out.range("backoff.delay", backoff.delay, 0, wait_max);
  if (backoff.type == kind::exponential) {
    out.range("backoff.factor", backoff.factor, 1, 100);
    out.range("backoff.maxDelay", backoff.max_delay, 0, wait_max);
  }
  out.range("backoff.jitter", backoff.jitter, 0, 1);
}

} // namespace

queue_settings apply(queue_settings settings,
                     const queue_settings_patch& patch) {
  auto set = [](auto& field, const auto& change) {
    if (change)
      field = *change;
  };
  set(settings.webhook_url, patch.webhook_url);
  set(settings.mode, patch.mode);
  set(settings.concurrency, patch.concurrency);
  set(settings.rate_limit_max, patch.rate_limit_max);
  set(settings.rate_limit_window, patch.rate_limit_window);
  set(settings.max_attempts, patch.max_attempts);
  set(settings.max_defers, patch.max_defers);
  set(settings.backoff, patch.backoff);
  set(settings.timeout, patch.timeout);
  set(settings.lifetime, patch.lifetime);
  set(settings.ack_timeout, patch.ack_timeout);
  set(settings.ack_timeout_action, patch.ack_timeout_action);
  set(settings.retention, patch.retention);
  set(settings.dead_letter, patch.dead_letter);
  set(settings.headers, patch.headers);
  set(settings.permanent_failure_statuses, patch.permanent_failure_statuses);
  set(settings.key_concurrency, patch.key_concurrency);
  set(settings.key_rate_limit_max, patch.key_rate_limit_max);
  set(settings.backpressure_scope, patch.backpressure_scope);
  set(settings.recovery, patch.recovery);
  set(settings.min_hold, patch.min_hold);
  set(settings.max_hold, patch.max_hold);
  set(settings.max_depth, patch.max_depth);
  set(settings.tls_ca, patch.tls_ca);
  set(settings.tls_insecure, patch.tls_insecure);
  return settings;
}

std::vector<field_error> validate(const queue_settings& s) {
  findings out;
  if (auto complaint = complaint_about_url(s.webhook_url); !complaint.empty())
    out.add("webhookUrl", std::move(complaint));
  out.range("concurrency", s.concurrency, 1, 10'000);
  if (s.rate_limit_max)
    out.range("rateLimitMax", *s.rate_limit_max, 1, 100'000);
  out.range("rateLimitWindow", to_seconds(s.rate_limit_window), 1, 86'400);
  out.range("maxAttempts", s.max_attempts, 1, 1'000);
  out.range("maxDefers", s.max_defers, 0, 1'000'000);
  validate_backoff(s.backoff, out);
  out.range("timeout", to_seconds(s.timeout), 0.1, 900);
  out.range("lifetime", to_seconds(s.lifetime), 1, 2'592'000);
  out.range("ackTimeout", to_seconds(s.ack_timeout), 1, 604'800);
  out.range("retention", to_seconds(s.retention), 0, 2'592'000);
  validate_headers(s.headers, out);
  validate_statuses(s.permanent_failure_statuses, out);
  if (s.key_concurrency)
    out.range("keyConcurrency", *s.key_concurrency, 1, 10'000);
  if (s.key_rate_limit_max)
    out.range("keyRateLimitMax", *s.key_rate_limit_max, 1, 100'000);
  out.range("recovery.start", s.recovery.start, 1, 10'000);
  out.range("recovery.factor", s.recovery.factor, 1.1, 100);
  validate_hold_bounds(s, out);
  if (s.max_depth)
    out.range("maxDepth", static_cast<double>(*s.max_depth), 1, depth_max);
  if (auto complaint = complaint_about_ca(s.tls_ca); !complaint.empty())
    out.add("tlsCa", std::move(complaint));
  return out.take();
}

std::vector<field_error> validate_headers(const std::vector<header>& headers) {
  findings out;
  validate_headers(headers, out);
  return out.take();
}

namespace {

std::optional<field_error> validate_name(const char* field,
                                         std::string_view name,
                                         std::size_t length_max) {
  auto complain = [&](std::string message) {
    return field_error{field, std::move(message)};
  };
  if (name.empty() || name.size() > length_max)
    return complain("must be 1 to " + std::to_string(length_max)
                    + " characters, got " + std::to_string(name.size()));
  if (name.front() == '.')
    return complain("must not start with '.', got " + quote(name));
  auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
           || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (!std::all_of(name.begin(), name.end(), allowed))
    return complain("must be of A-Z a-z 0-9 . _ - only, got " + quote(name));
  return std::nullopt;
}

} // namespace

std::optional<field_error> validate_queue_name(std::string_view name) {
  // Every queue can have a dead-letter queue that is called after it.
  constexpr std::string_view suffix = ".dlq";
  auto more = name.ends_with(suffix) ? suffix.size() : 0;
  return validate_name("name", name, name_length_max + more);
}

std::optional<field_error> validate_project_name(std::string_view name) {
  return validate_name("project", name, name_length_max);
}

} // namespace tidegate
