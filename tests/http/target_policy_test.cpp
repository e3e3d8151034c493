// Which addresses may be called.

#include <catch2/catch.hpp>

#include "http/target_policy.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

bool allows(const target_policy& policy, const std::string& address) {
  auto parsed = parse_ip_address(address);
  REQUIRE(parsed);
  return !policy.objection(*parsed);
}

target_policy allowing(const std::string& network) {
  return target_policy{{*parse_ip_network(network)}};
}

} // namespace

TEST_CASE("public addresses may be called") {
  auto address = GENERATE(
    as<std::string>{}, "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0",
    "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "198.51.101.0", "203.0.112.255",
    "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:200::1",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    // Teredo: the client's address is inverted, 0xf7f7f7f7 is 8.8.8.8.
    "2001:0:1:2:3:4:f7f7:f7f7");
  INFO(address);
  CHECK(allows({}, address));
}

TEST_CASE("all others may not") {
  auto address = GENERATE(
    as<std::string>{}, "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255",
    "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255",
    "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.2.1",
    "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.0",
    "255.255.255.255", "::", "::1", "::127.0.0.1", "fe80::1", "febf::1",
    "fec0::1", "fc00::1", "fdff::1", "ff02::1", "2001:db8::1", "2001:2::1",
    "100::1", "4000::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::1",
    "2002:a00:1::", "2001:0:1:2:3:4:80ff:fffe");
  INFO(address);
  CHECK_FALSE(allows({}, address));
}

TEST_CASE("an operator may allow more, and only that") {
  CHECK(allows(allowing("10.1.0.0/16"), "10.1.255.255"));
  CHECK_FALSE(allows(allowing("10.1.0.0/16"), "10.2.0.0"));
  CHECK(allows(allowing("10.1.0.0/16"), "::ffff:10.1.0.1"));
  CHECK(allows(allowing("10.1.0.0/16"), "8.8.8.8"));
  CHECK_FALSE(allows(allowing("0.0.0.0/0"), "::1"));
  CHECK(allows(allowing("0.0.0.0/0"), "127.0.0.1"));
  CHECK(allows(allowing("::/0"), "fe80::1"));
  CHECK(allows(allowing("fc00::/7"), "fdff::1"));
  CHECK(allows(allowing("127.0.0.1"), "127.0.0.1"));
  CHECK_FALSE(allows(allowing("127.0.0.1"), "127.0.0.2"));
  CHECK(allows(allowing("10.0.0.0/9"), "10.127.255.255"));
  CHECK_FALSE(allows(allowing("10.0.0.0/9"), "10.128.0.0"));
}

TEST_CASE("a network is printed as it was read") {
  auto text = GENERATE(as<std::string>{}, "10.0.0.0/8", "0.0.0.0/0",
                       "192.0.2.1/32", "fc00::/7", "::1/128", "::/0");
  auto network = parse_ip_network(text);
  REQUIRE(network);
  CHECK(to_string(*network) == text);
}

TEST_CASE("what is no network is refused by name") {
  auto [text, why] = GENERATE(table<std::string, std::string>({
    {"", "IP address"},
    {"localhost", "IP address"},
    {"10.0.0/8", "IP address"},
    {"010.0.0.0/8", "IP address"},
    {"[::1]/128", "IP address"},
    {" 10.0.0.0/8", "IP address"},
    {"10.0.0.0/", "0 to 32"},
    {"10.0.0.0/33", "0 to 32"},
    {"10.0.0.0/-1", "0 to 32"},
    {"10.0.0.0/8x", "0 to 32"},
    {"::/129", "0 to 128"},
    {"10.0.0.1/8", "behind the prefix"},
    {"fc00::1/7", "behind the prefix"},
  }));
  auto network = parse_ip_network(text);
  REQUIRE_FALSE(network);
  CHECK(network.reason().message.find('"' + text + '"') != std::string::npos);
  CHECK(network.reason().message.find(why) != std::string::npos);
}

TEST_CASE("a URL with a literal blocked address is refused in any spelling") {
  auto host = GENERATE(as<std::string>{}, "127.0.0.1", "127.0.0.1.", "127.1",
                       "2130706433", "0x7f000001", "0x7f.1", "0X7F.0.0.1",
                       "0177.0.0.1", "017700000001", "127.0.1", "0", "[::1]",
                       "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
                       "[0:0:0:0:0:0:0:1]", "localhost", "LocalHost",
                       "localhost.", "a.localhost", "10.1", "169.254.169.254",
                       "0xa9fea9fe", "[fd00::1]");
  INFO(host);
  auto refusal = complaint_about_webhook({}, "http://" + host + ":8080/x");
  REQUIRE(refusal);
  CHECK(refusal->find("allow-target") != std::string::npos);
  CHECK(refusal->find("TIDEGATE_ALLOW_TARGET") != std::string::npos);
}

TEST_CASE("a URL with a name or a public address is left for later") {
  auto host = GENERATE(as<std::string>{}, "hooks.example", "8.8.8.8",
                       "134744072", "notlocalhost", "localhost.example",
                       "localhos", "0x7f.example", "08.8.8.8", "1.2.3.4.5",
                       "256.1.1.1", "4294967296", "1..2", "0x", "[2a00::1]");
  INFO(host);
  CHECK_FALSE(complaint_about_webhook({}, "https://" + host + "/"));
}

TEST_CASE("a URL that can never be called is refused, and why") {
  auto url = GENERATE(as<std::string>{}, "http://h.example:0/",
                      "http://h.example:65536/", "http://h.example:8x/",
                      "http://[::1", "http://[::1]x/", "http://[1.2.3.4]/",
                      "http://[fe80::1%25eth0]/", "http://%31%32%37.0.0.1/",
                      "ftp://h.example/", "http:///x", "h.example");
  INFO(url);
  auto refusal = complaint_about_webhook(allowing("0.0.0.0/0"), url);
  REQUIRE(refusal);
  CHECK(refusal->find("got '" + url + "'") != std::string::npos);
}

TEST_CASE("a literal address that is allowed is not refused") {
  auto policy = allowing("127.0.0.0/8");
  auto host = GENERATE(as<std::string>{}, "127.0.0.1", "2130706433",
                       "localhost", "[::ffff:127.0.0.1]");
  CHECK_FALSE(complaint_about_webhook(policy, "http://" + host + "/"));
}
