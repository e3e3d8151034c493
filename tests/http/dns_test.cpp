// Looking names up in the hosts file and by DNS.

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "http/dns.hpp"
#include "name_server.hpp"
#include "temporary_file.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;
using namespace std::chrono_literals;

namespace {

dns_options quick(std::vector<std::string> servers) {
  dns_options result;
  result.servers = std::move(servers);
  result.timeout = 100ms;
  return result;
}

std::shared_ptr<dns_client> make(dns_options options) {
  auto made = dns_client::make(std::move(options));
  REQUIRE(made);
  return *made;
}

std::future<lookup_result> ask(dns_client& dns, const std::string& name) {
  auto promise = std::make_shared<std::promise<lookup_result>>();
  dns.look_up(name, [promise](lookup_result found) {
    promise->set_value(std::move(found));
  });
  return promise->get_future();
}

/// Returns the addresses as text, in the order of the alphabet.
std::vector<std::string> addresses(const lookup_result& found) {
  std::vector<std::string> result;
  for (const auto& each : found.addresses)
    result.push_back(to_string(each));
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> look_up(dns_client& dns, const std::string& name) {
  return addresses(ask(dns, name).get());
}

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("the addresses of both families are found") {
  name_server server{[](const std::string& name) {
    return name_answer{name == "both.example"
                         ? strings{"192.0.2.1", "2001:db8::1", "192.0.2.2"}
                         : strings{"192.0.2.3"}};
  }};
  auto dns = make(quick({server.where()}));
  CHECK(look_up(*dns, "both.example")
        == strings{"192.0.2.1", "192.0.2.2", "2001:db8::1"});
  CHECK(look_up(*dns, "four.example") == strings{"192.0.2.3"});
}

TEST_CASE("a name that does not exist says so") {
  name_server server{[](const std::string&) { return name_answer{}; }};
  auto dns = make(quick({server.where()}));
  auto found = ask(*dns, "none.example").get();
  CHECK(found.addresses.empty());
  CHECK_FALSE(found.error.empty());
}

TEST_CASE("names that are no names are errors") {
  name_server server{[](const std::string&) { return name_answer{}; }};
  auto dns = make(quick({server.where()}));
  for (const auto& name :
       {std::string{"a..example"}, std::string(70, 'x') + ".example",
        std::string(300, 'x'), std::string{"."}, std::string{}}) {
    CAPTURE(name);
    auto found = ask(*dns, name).get();
    CHECK(found.addresses.empty());
    CHECK_FALSE(found.error.empty());
  }
}

TEST_CASE("the hosts file is looked into, and addresses are themselves") {
  auto dns = make(quick({"127.0.0.1:9"}));
  auto local = look_up(*dns, "localhost");
  CHECK(std::count(local.begin(), local.end(), "127.0.0.1") == 1);
  CHECK(look_up(*dns, "192.0.2.7") == strings{"192.0.2.7"});
  CHECK(look_up(*dns, "2001:db8::7") == strings{"2001:db8::7"});
}

TEST_CASE("a server that is silent is given up, and the next one is asked") {
  std::atomic<int> asked = 0;
  name_server silent{[&](const std::string&) {
    ++asked;
    return std::optional<name_answer>{};
  }};
  auto dead = make(quick({silent.where()}));
  CHECK_FALSE(ask(*dead, "some.example").get().error.empty());
  // Twice for each family.
  CHECK(asked == 4);
  name_server alive{
    [](const std::string&) { return name_answer{{"192.0.2.1"}}; }};
  auto dns = make(quick({silent.where(), alive.where()}));
  CHECK(look_up(*dns, "some.example") == strings{"192.0.2.1"});
}

TEST_CASE("a thousand names that nobody answers for hold up no other") {
  std::atomic<int> asked = 0;
  name_server server{[&](const std::string& name) {
    ++asked;
    return name == "swift.example" ? std::optional{name_answer{{"192.0.2.1"}}}
                                   : std::nullopt;
  }};
  auto options = quick({server.where()});
  options.timeout = 1h;
  auto dns = make(std::move(options));
  std::vector<std::future<lookup_result>> stuck;
  for (auto i = 1; i <= 1000; ++i) {
    stuck.push_back(ask(*dns, "stuck" + std::to_string(i) + ".example"));
    // The server's socket would drop what it has no room for.
    while (asked < 2 * i)
      std::this_thread::yield();
  }
  CHECK(look_up(*dns, "swift.example") == strings{"192.0.2.1"});
  // Whoever goes leaves nobody without an answer.
  dns = nullptr;
  for (auto& each : stuck)
    CHECK_FALSE(each.get().error.empty());
}

TEST_CASE("what is no answer is passed over") {
  auto garbage = GENERATE(as<std::string>{}, "", "x", std::string(500, '\xff'),
                          std::string(500, '\0'),
                          // A name that points to itself.
                          std::string{"\x81\x80\0\1\0\1\0\0\0\0\xc0\x0c", 12});
  name_server server{[&](const std::string&) {
    return name_answer{{}, garbage};
  }};
  auto dns = make(quick({server.where()}));
  auto found = ask(*dns, "some.example").get();
  CHECK(found.addresses.empty());
  CHECK_FALSE(found.error.empty());
}

TEST_CASE("of an answer with many addresses as many are kept as may be") {
  name_server server{[](const std::string&) {
    name_answer result;
    for (auto i = 1; i <= 20; ++i)
      result.addresses.push_back("192.0.2." + std::to_string(i));
    return result;
  }};
  auto options = quick({server.where()});
  options.addresses_max = 8;
  auto dns = make(std::move(options));
  CHECK(look_up(*dns, "many.example").size() == 8);
}

TEST_CASE("another resolv.conf is taken up while look-ups are under way") {
  name_server first{[](const std::string& name) {
    return name == "stuck.example" ? std::nullopt
                                   : std::optional{name_answer{{"192.0.2.1"}}};
  }};
  name_server second{[](const std::string&) {
                       return name_answer{{"192.0.2.2"}};
                     },
                     "127.0.0.2", first.port()};
  temporary_file file{"nameserver 127.0.0.1\n"};
  dns_options options;
  options.resolv_conf = file.name();
  options.port = first.port();
  options.timeout = 1h;
  auto dns = make(std::move(options));
  auto stuck = ask(*dns, "stuck.example");
  CHECK(look_up(*dns, "some.example") == strings{"192.0.2.1"});
  file.write("nameserver 127.0.0.2\n# another size\n");
  CHECK(look_up(*dns, "some.example") == strings{"192.0.2.2"});
  dns = nullptr;
  CHECK_FALSE(stuck.get().error.empty());
}

TEST_CASE("servers that cannot be asked are an error") {
  CHECK_FALSE(dns_client::make(quick({"nowhere"})));
  CHECK_FALSE(dns_client::make(quick(strings(9, "127.0.0.1:53"))));
}
