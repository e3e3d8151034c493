#include "config/keys.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <tuple>
#include <utility>

#include "actors/core/shown_url.hpp"

namespace tidegate::config {

namespace {

using words = std::vector<std::string>;
using refusal = std::optional<std::string>;

std::string quoted(const std::string& text) {
  return '"' + text + '"';
}

// -- numbers ------------------------------------------------------------------

/// Reads a whole number, or nothing where `text` is anything else.
std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, ec] = std::from_chars(text.begin(), text.end(), number);
  if (text.empty() || ec != std::errc{} || end != text.end())
    return std::nullopt;
  return number;
}

/// Reads a number from `min` to `max`, both included, into `out`.
template <class T>
refusal read_number(const std::string& text, std::uint64_t min,
                    std::uint64_t max, T& out) {
  auto number = to_number(text);
  if (!number || *number < min || *number > max) {
    std::ostringstream message;
    message << "must be a whole number from " << min << " to " << max
            << ", got " << (number ? text : quoted(text));
    return message.str();
  }
  out = T(*number);
  return std::nullopt;
}

// -- addresses ----------------------------------------------------------------

/// Returns the number of bits of the IP address `text`, or 0 if it is none.
unsigned address_bits(const std::string& text) {
  std::array<unsigned char, 16> scratch{};
  if (inet_pton(AF_INET, text.c_str(), scratch.data()) == 1)
    return 32;
  return inet_pton(AF_INET6, text.c_str(), scratch.data()) == 1 ? 128 : 0;
}

bool is_network(const std::string& text) {
  auto slash = text.find('/');
  if (slash == std::string::npos)
    return false;
  auto bits = address_bits(text.substr(0, slash));
  auto prefix = to_number(std::string_view{text}.substr(slash + 1));
  return bits > 0 && prefix && *prefix <= bits;
}

/// Takes the brackets off an IPv6 address; anything else stays as it is.
std::string without_brackets(const std::string& host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return host.substr(1, host.size() - 2);
  return host;
}

/// Reads `ADDR:PORT` with a port from `port_min` on; nothing where `text` is
/// anything else.
std::optional<std::pair<std::string, std::uint16_t>>
to_endpoint(const std::string& text, std::uint16_t port_min) {
  auto colon = text.rfind(':');
  auto bracketed = text.substr(0, std::min(colon, text.size()));
  auto host = without_brackets(bracketed);
  auto bits = address_bits(host);
  auto port = colon == std::string::npos
                ? std::nullopt
                : to_number(std::string_view{text}.substr(colon + 1));
  auto needs_brackets = bits == 128;
  if (bits == 0 || !port || *port < port_min || *port > 65535
      || needs_brackets != (host != bracketed))
    return std::nullopt;
  return std::pair{host, static_cast<std::uint16_t>(*port)};
}

refusal read_listen(const words& given, settings& out) {
  auto where = to_endpoint(given.front(), 0);
  if (!where)
    return "must be an IP address and a port from 0 to 65535, such as "
           "127.0.0.1:8080 or [::1]:8080, got "
           + quoted(given.front());
  std::tie(out.listen_host, out.listen_port) = *where;
  return std::nullopt;
}

words show_listen(const settings& from) {
  auto port = std::to_string(from.listen_port);
  if (address_bits(from.listen_host) == 128)
    return {"[" + from.listen_host + "]:" + port};
  return {from.listen_host + ":" + port};
}

refusal read_allow_target(const words& given, settings& out) {
  for (const auto& text : given)
    if (!is_network(text))
      return "must be networks such as 10.0.0.0/8 or fd00::/8, got "
             + quoted(text);
  out.allow_target = given;
  return std::nullopt;
}

words show_allow_target(const settings& from) {
  return from.allow_target;
}

refusal read_dns_server(const words& given, settings& out) {
  constexpr std::size_t servers_max = 8;
  if (given.size() > servers_max)
    return "must be at most 8 servers, got " + std::to_string(given.size());
  for (const auto& text : given)
    if (!to_endpoint(text, 1))
      return "must be IP addresses and ports from 1 to 65535, such as "
             "192.0.2.1:53 or [2001:db8::1]:53, got "
             + quoted(text);
  out.dns_server = given;
  return std::nullopt;
}

words show_dns_server(const settings& from) {
  return from.dns_server;
}

// -- paths --------------------------------------------------------------------

refusal read_data(const words& given, settings& out) {
  if (given.front().empty())
    return "must be the path of a directory, got " + quoted(given.front());
  out.data = given.front();
  return std::nullopt;
}

words show_data(const settings& from) {
  return {from.data.string()};
}

refusal read_tls_cert(const words& given, settings& out) {
  out.tls_cert = given.front();
  return std::nullopt;
}

words show_tls_cert(const settings& from) {
  return {from.tls_cert.string()};
}

refusal read_tls_key(const words& given, settings& out) {
  out.tls_key = given.front();
  return std::nullopt;
}

words show_tls_key(const settings& from) {
  return {from.tls_key.string()};
}

refusal read_trusted_ca(const words& given, settings& out) {
  out.trusted_ca = given.front();
  return std::nullopt;
}

words show_trusted_ca(const settings& from) {
  return {from.trusted_ca.string()};
}

// -- limits -------------------------------------------------------------------

refusal read_threads(const words& given, settings& out) {
  return read_number(given.front(), 0, 256, out.threads);
}

words show_threads(const settings& from) {
  return {std::to_string(from.threads)};
}

refusal read_max_in_flight(const words& given, settings& out) {
  return read_number(given.front(), 0, 1'000'000, out.max_in_flight);
}

words show_max_in_flight(const settings& from) {
  return {std::to_string(from.max_in_flight)};
}

refusal read_max_request_rate(const words& given, settings& out) {
  return read_number(given.front(), 0, 1'000'000, out.max_request_rate);
}

words show_max_request_rate(const settings& from) {
  return {std::to_string(from.max_request_rate)};
}

refusal read_max_body(const words& given, settings& out) {
  return read_number(given.front(), 1024, 1'073'741'824, out.max_body);
}

words show_max_body(const settings& from) {
  return {std::to_string(from.max_body)};
}

refusal read_drain_timeout(const words& given, settings& out) {
  return read_number(given.front(), 0, 3600, out.drain_timeout);
}

words show_drain_timeout(const settings& from) {
  return {std::to_string(from.drain_timeout.count())};
}

// -- alerts -------------------------------------------------------------------

/// 30 days. Unit: seconds.
constexpr std::uint64_t alert_span_max = 2'592'000;

refusal read_alert_url(const words& given, settings& out) {
  const auto& url = given.front();
  if (!url.empty() && !url.starts_with("http://")
      && !url.starts_with("https://"))
    return "must be an http or https URL, got " + quoted(shown_url(url));
  out.alert_url = url;
  return std::nullopt;
}

words show_alert_url(const settings& from) {
  return {from.alert_url};
}

refusal read_alert_dead(const words& given, settings& out) {
  const auto& text = given.front();
  if (text != "on" && text != "off")
    return "must be on or off, got " + quoted(text);
  out.alert_dead = text == "on";
  return std::nullopt;
}

words show_alert_dead(const settings& from) {
  return {from.alert_dead ? "on" : "off"};
}

refusal read_alert_held(const words& given, settings& out) {
  return read_number(given.front(), 0, alert_span_max, out.alert_held);
}

words show_alert_held(const settings& from) {
  return {std::to_string(from.alert_held.count())};
}

refusal read_alert_depth(const words& given, settings& out) {
  return read_number(given.front(), 0, 1'000'000'000, out.alert_depth);
}

words show_alert_depth(const settings& from) {
  return {std::to_string(from.alert_depth)};
}

refusal read_alert_age(const words& given, settings& out) {
  return read_number(given.front(), 0, alert_span_max, out.alert_age);
}

words show_alert_age(const settings& from) {
  return {std::to_string(from.alert_age.count())};
}

refusal read_alert_window(const words& given, settings& out) {
  return read_number(given.front(), 1, 604'800, out.alert_window);
}

words show_alert_window(const settings& from) {
  return {std::to_string(from.alert_window.count())};
}

// -- metrics ------------------------------------------------------------------

refusal read_metrics_queues(const words& given, settings& out) {
  return read_number(given.front(), 0, 100'000, out.metrics_queues);
}

words show_metrics_queues(const settings& from) {
  return {std::to_string(from.metrics_queues)};
}

// -- prices -------------------------------------------------------------------

refusal read_publish_price(const words& given, settings& out) {
  constexpr double price_max = 1000;
  const auto& text = given.front();
  double price = 0;
  const auto* last = text.data() + text.size();
  auto [end, ec] = std::from_chars(text.data(), last, price);
  auto is_number = !text.empty() && ec == std::errc{} && end == last;
  if (!is_number || !(price >= 0 && price <= price_max))
    return "must be a number from 0 to 1000, got "
           + (is_number ? text : quoted(text));
  out.publish_price = price;
  return std::nullopt;
}

words show_publish_price(const settings& from) {
  return {print_number(from.publish_price)};
}

// -- the log ------------------------------------------------------------------

/// Reads the one of `choices` that is spelled `text` into `out`.
template <class T>
refusal
read_choice(const std::string& text, std::initializer_list<T> choices, T& out) {
  std::string all;
  for (auto choice : choices) {
    if (text == to_string(choice)) {
      out = choice;
      return std::nullopt;
    }
    all += all.empty() ? "" : ", ";
    all += to_string(choice);
  }
  return "must be one of " + all + ", got " + quoted(text);
}

refusal read_log_level(const words& given, settings& out) {
  using enum log_level;
  return read_choice(given.front(), {error, warn, info, debug}, out.log_level);
}

words show_log_level(const settings& from) {
  return {to_string(from.log_level)};
}

refusal read_log_format(const words& given, settings& out) {
  return read_choice(given.front(), {log_format::json, log_format::text},
                     out.log_format);
}

words show_log_format(const settings& from) {
  return {to_string(from.log_format)};
}

// -- the table ----------------------------------------------------------------

constexpr std::array table{
  key{"listen", key_kind::text, "ADDR:PORT",
      "where to accept connections; port 0 picks a free one (127.0.0.1:8080)",
      read_listen, show_listen},
  key{"tls_cert", key_kind::text, "FILE",
      "certificate and chain to speak TLS with, as PEM (none: no TLS)",
      read_tls_cert, show_tls_cert},
  key{"tls_key", key_kind::text, "FILE", "its private key, as PEM (none)",
      read_tls_key, show_tls_key},
  key{"data", key_kind::text, "DIR", "where everything is kept (./data)",
      read_data, show_data},
  key{"threads", key_kind::integer, "N",
      "threads for actors and sockets; 0: one for each core (0)", read_threads,
      show_threads},
  key{"allow_target", key_kind::list, "CIDR",
      "a network that webhooks may be in although it is not public; "
      "repeatable (none)",
      read_allow_target, show_allow_target},
  key{"dns_server", key_kind::list, "ADDR:PORT",
      "a DNS server to ask for webhooks' addresses; repeatable (those of "
      "/etc/resolv.conf)",
      read_dns_server, show_dns_server},
  key{"trusted_ca", key_kind::text, "FILE",
      "authorities that are trusted besides the system's (none)",
      read_trusted_ca, show_trusted_ca},
  key{"max_in_flight", key_kind::integer, "N",
      "most deliveries in flight, over all queues; 0: no limit (0)",
      read_max_in_flight, show_max_in_flight},
  key{"max_request_rate", key_kind::integer, "N",
      "most requests a second with one API key; 0: no limit (0)",
      read_max_request_rate, show_max_request_rate},
  key{"max_body", key_kind::integer, "BYTES",
      "largest body of a request (1048576)", read_max_body, show_max_body},
  key{"drain_timeout", key_kind::integer, "SECONDS",
      "longest wait for running deliveries at the end (30)", read_drain_timeout,
      show_drain_timeout},
  key{"alert_url", key_kind::text, "URL",
      "webhook that alerts are sent to (none: no alerts)", read_alert_url,
      show_alert_url},
  key{"alert_dead", key_kind::text, "on|off",
      "tell when jobs were given up on (on)", read_alert_dead, show_alert_dead},
  key{"alert_held", key_kind::integer, "SECONDS",
      "tell when a queue is held for longer; 0: never (900)", read_alert_held,
      show_alert_held},
  key{"alert_depth", key_kind::integer, "N",
      "tell when a queue has more live jobs; 0: never (0)", read_alert_depth,
      show_alert_depth},
  key{"alert_age", key_kind::integer, "SECONDS",
      "tell when the oldest job of a queue is older; 0: never (0)",
      read_alert_age, show_alert_age},
  key{"alert_window", key_kind::integer, "SECONDS",
      "least time between two alerts of one cause and queue (900)",
      read_alert_window, show_alert_window},
  key{"publish_price", key_kind::number, "USD",
      "what discovery says that a publish costs, in US dollars (0)",
      read_publish_price, show_publish_price},
  key{"metrics_queues", key_kind::integer, "N",
      "most queues with metrics of their own (1000)", read_metrics_queues,
      show_metrics_queues},
  key{"log_level", key_kind::text, "LEVEL", "error, warn, info or debug (info)",
      read_log_level, show_log_level},
  key{"log_format", key_kind::text, "FORMAT",
      "json for programs, text for people (json)", read_log_format,
      show_log_format},
};

} // namespace

std::span<const key> keys() {
  return table;
}

const key* find_key(std::string_view name) {
  auto hit = std::find_if(table.begin(), table.end(),
                          [=](const key& x) { return x.name == name; });
  return hit == table.end() ? nullptr : &*hit;
}

std::string flag_of(std::string_view name) {
  auto flag = "--" + std::string{name};
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string variable_of(std::string_view name) {
  std::string variable = "TIDEGATE_";
  for (auto letter : name)
    variable += letter >= 'a' && letter <= 'z' ? char(letter - 'a' + 'A')
                                               : letter;
  return variable;
}

std::string print_number(double number) {
  std::array<char, 32> text;
  auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

std::optional<std::string> assign(std::span<const assignment> all,
                                  settings& out) {
  for (const auto& each : all)
    if (auto message = each.what->read(each.words, out))
      return each.subject + " " + *message;
  return complaint_about_pairs(out);
}

namespace {

/// Returns the sentence where somebody waits for alerts that nobody sends.
std::optional<std::string> complaint_about_alerts(const settings& what) {
  auto none = !what.alert_dead && what.alert_held.count() == 0
              && what.alert_depth == 0 && what.alert_age.count() == 0;
  if (!what.alert_url.empty() && none)
    return "alert_url is set and no alert is on";
  if (!what.alert_url.empty())
    return std::nullopt;
  settings defaults;
  auto without_url = [](const char* name) {
    return std::string{name} + " is set without alert_url: nobody is told";
  };
  if (what.alert_dead != defaults.alert_dead)
    return without_url("alert_dead");
  if (what.alert_held != defaults.alert_held)
    return without_url("alert_held");
  if (what.alert_depth != defaults.alert_depth)
    return without_url("alert_depth");
  if (what.alert_age != defaults.alert_age)
    return without_url("alert_age");
  if (what.alert_window != defaults.alert_window)
    return without_url("alert_window");
  return std::nullopt;
}

} // namespace

std::optional<std::string> complaint_about_pairs(const settings& what) {
  if (auto complaint = complaint_about_alerts(what))
    return complaint;
  if (what.tls_cert.empty() == what.tls_key.empty())
    return std::nullopt;
  return what.tls_cert.empty()
           ? "tls_key is set without tls_cert: TLS needs both"
           : "tls_cert is set without tls_key: TLS needs both";
}

} // namespace tidegate::config
