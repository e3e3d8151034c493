// Hosts and URLs as a tenant may write them: no spelling of a blocked address
// gets through.

#include "http/ip_address.hpp"
#include "http/target_policy.hpp"
#include "http/webhook_url.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <string>

namespace tidegate::fuzz {

namespace {

using http::ip_address;

/// Returns the address that the C library takes `host` for without asking
/// anybody, if it does.
std::optional<ip_address> numeric_address(const std::string& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0)
    return std::nullopt;
  ip_address result;
  result.is_v4 = found->ai_family == AF_INET;
  if (result.is_v4) {
    sockaddr_in address;
    std::memcpy(&address, found->ai_addr, sizeof(address));
    std::memcpy(result.bytes.data(), &address.sin_addr, 4);
  } else {
    sockaddr_in6 address;
    std::memcpy(&address, found->ai_addr, sizeof(address));
    std::memcpy(result.bytes.data(), &address.sin6_addr, 16);
  }
  freeaddrinfo(found);
  return result;
}

} // namespace

void run(std::string_view input) {
  static const http::target_policy policy;
  std::string host{input.substr(0, 300)};
  // The C library sees no further than the first zero byte, and knows the zones
  // of RFC 6874, which no URL of a webhook may have.
  if (host.find('%') != std::string::npos) {
    auto url = "http://[" + host + "]/";
    must(http::complaint_about_webhook(policy, url).has_value(),
         "no address has a zone");
  } else if (host.find('\0') == std::string::npos) {
    auto known = http::addresses_without_lookup(host);
    if (auto address = numeric_address(host)) {
      auto is_known = std::find(known.begin(), known.end(), *address)
                      != known.end();
      must(is_known, "what needs no look-up is known without one");
      must(policy.objection(*address).has_value()
             == policy.literal_objection(host).has_value(),
           "a literal is judged as its address is");
    }
  }
  for (const auto& address : http::addresses_without_lookup(host)) {
    auto again = http::parse_ip_address(http::to_string(address));
    must(again == address, "an address is read as it is printed");
  }
  if (auto network = http::parse_ip_network(input)) {
    auto again = http::parse_ip_network(http::to_string(*network));
    must(again && *again == *network, "a network is read as it is printed");
    must(network->contains(network->base), "a network has its base");
  }
  http::complaint_about_webhook(policy, input);
}

} // namespace tidegate::fuzz
