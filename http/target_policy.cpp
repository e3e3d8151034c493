#include "http/target_policy.hpp"

#include <algorithm>
#include <charconv>

#include "actors/core/shown_url.hpp"
#include "http/webhook_url.hpp"

namespace tidegate::http {

namespace {

struct special_network {
  const char* network;
  const char* kind;
};

// From the IANA special-purpose address registries (RFC 6890 and updates).
// The first that matches gives the name.
constexpr special_network special_networks[] = {
  {"0.0.0.0/8", "an unspecified address"},
  {"10.0.0.0/8", "a private address"},
  {"100.64.0.0/10", "a shared (carrier NAT) address"},
  {"127.0.0.0/8", "a loopback address"},
  {"169.254.0.0/16", "a link-local address"},
  {"172.16.0.0/12", "a private address"},
  {"192.0.0.0/24", "a protocol assignment address"},
  {"192.0.2.0/24", "a documentation address"},
  {"192.88.99.0/24", "a reserved address"},
  {"192.168.0.0/16", "a private address"},
  {"198.18.0.0/15", "a benchmarking address"},
  {"198.51.100.0/24", "a documentation address"},
  {"203.0.113.0/24", "a documentation address"},
  {"224.0.0.0/4", "a multicast address"},
  {"255.255.255.255/32", "a broadcast address"},
  {"240.0.0.0/4", "a reserved address"},
  {"::/128", "an unspecified address"},
  {"::1/128", "a loopback address"},
  {"2001::/23", "a protocol assignment address"},
  {"2001:db8::/32", "a documentation address"},
  {"3fff::/20", "a documentation address"},
  {"fc00::/7", "a private address"},
  {"fe80::/10", "a link-local address"},
  {"fec0::/10", "a site-local address"},
  {"ff00::/8", "a multicast address"},
};

// All that has ever been given out for public IPv6 (RFC 3587).
constexpr const char* public_v6 = "2000::/3";

struct parsed_special {
  ip_network network;
  const char* kind;
};

const std::vector<parsed_special>& specials() {
  static const auto parsed = [] {
    std::vector<parsed_special> result;
    for (const auto& x : special_networks)
      result.push_back({*parse_ip_network(x.network), x.kind});
    return result;
  }();
  return parsed;
}

ip_address embedded_v4(const ip_address& address, std::size_t offset,
                       std::uint8_t mask = 0) {
  ip_address result;
  for (std::size_t i = 0; i < 4; ++i)
    result.bytes[i] = address.bytes[offset + i] ^ mask;
  return result;
}

// Returns the IPv4 address that is reached by way of `address`, if any.
std::optional<ip_address> unwrap(const ip_address& address) {
  // RFC 4291 2.5.5.2, RFC 6052 2.1, RFC 3056 2, RFC 4380 4 (bits inverted).
  static const auto mapped = *parse_ip_network("::ffff:0:0/96");
  static const auto nat64 = *parse_ip_network("64:ff9b::/96");
  static const auto six_to_four = *parse_ip_network("2002::/16");
  static const auto teredo = *parse_ip_network("2001::/32");
  if (address.is_v4)
    return std::nullopt;
  if (mapped.contains(address) || nat64.contains(address))
    return embedded_v4(address, 12);
  if (six_to_four.contains(address))
    return embedded_v4(address, 2);
  if (teredo.contains(address))
    return embedded_v4(address, 12, 0xff);
  return std::nullopt;
}

error bad_network(std::string_view text, const char* why) {
  std::string message = "\"";
  message += text;
  message += "\" is not a network: ";
  message += why;
  return {errc::validation_failed, std::move(message)};
}

} // namespace

bool ip_network::contains(const ip_address& address) const {
  if (address.is_v4 != base.is_v4)
    return false;
  auto whole = static_cast<std::size_t>(prefix / 8);
  if (!std::equal(base.bytes.begin(), base.bytes.begin() + whole,
                  address.bytes.begin()))
    return false;
  auto rest = prefix % 8;
  return rest == 0
         || (base.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

std::string to_string(const ip_network& network) {
  return to_string(network.base) + '/' + std::to_string(network.prefix);
}

result<ip_network> parse_ip_network(std::string_view text) {
  auto slash = text.find('/');
  auto base = parse_ip_address(text.substr(0, slash));
  if (!base)
    return bad_network(text, "it does not start with an IP address");
  auto longest = base->is_v4 ? 32 : 128;
  ip_network network{*base, longest};
  if (slash == std::string_view::npos)
    return network;
  auto digits = text.substr(slash + 1);
  auto last = digits.data() + digits.size();
  auto [end, failure] = std::from_chars(digits.data(), last, network.prefix);
  if (failure != std::errc{} || end != last || network.prefix < 0
      || network.prefix > longest)
    return bad_network(text, base->is_v4 ? "the prefix must be 0 to 32"
                                         : "the prefix must be 0 to 128");
  for (auto bit = network.prefix; bit < longest; ++bit)
    if (base->bytes[bit / 8] >> (7 - bit % 8) & 1)
      return bad_network(text, "bits are set behind the prefix");
  return network;
}

target_policy::target_policy(std::vector<ip_network> allowed)
  : allowed_(std::move(allowed)) {
  // nop
}

std::optional<std::string>
target_policy::objection(const ip_address& address) const {
  for (const auto& network : allowed_)
    if (network.contains(address))
      return std::nullopt;
  if (auto inner = unwrap(address))
    return objection(*inner);
  for (const auto& special : specials())
    if (special.network.contains(address))
      return special.kind;
  static const auto global = *parse_ip_network(public_v6);
  if (!address.is_v4 && !global.contains(address))
    return "a reserved address";
  return std::nullopt;
}

std::optional<std::string>
target_policy::literal_objection(std::string_view host) const {
  std::optional<std::string> result;
  for (const auto& address : addresses_without_lookup(host)) {
    auto kind = objection(address);
    if (!kind)
      return std::nullopt;
    result = blocked_text(address, *kind);
  }
  return result;
}

std::string blocked_text(const ip_address& address, std::string_view kind) {
  return to_string(address) + " is " + std::string{kind}
         + " and may not be called; the setting allow-target "
           "(TIDEGATE_ALLOW_TARGET) would allow it";
}

std::optional<std::string> complaint_about_webhook(const target_policy& policy,
                                                   std::string_view url) {
  auto parsed = parse_webhook_url(url);
  if (!parsed)
    return parsed.reason().message + ", got '" + shown_url(url) + "'";
  return policy.literal_objection(parsed->host);
}

} // namespace tidegate::http
