#include "config/settings.hpp"

#include <catch2/catch.hpp>

#include "config/config_file.hpp"
#include "config/keys.hpp"

using namespace tidegate::config;

namespace {

/// Returns what `validate` says about the defaults after `change`.
template <class F>
std::vector<tidegate::field_error> problems_after(F change) {
  settings what;
  change(what);
  return validate(what);
}

} // namespace

TEST_CASE("the defaults are valid") {
  CHECK(validate(settings{}).empty());
}

TEST_CASE("every key can be shown and read back") {
  settings odd;
  odd.listen_host = "::1";
  odd.listen_port = 0;
  odd.data = "/srv/queue";
  odd.threads = 7;
  odd.allow_target = {"10.0.0.0/8", "fd00::/8"};
  odd.trusted_ca = "ca.pem";
  odd.tls_cert = "server.pem";
  odd.tls_key = "server.key";
  odd.max_in_flight = 1'000'000;
  odd.max_request_rate = 1'000'000;
  odd.max_body = 2048;
  odd.drain_timeout = std::chrono::seconds{5};
  odd.publish_price = 0.00002;
  odd.log_level = log_level::debug;
  odd.log_format = log_format::text;
  settings copy;
  for (const auto& entry : keys())
    CHECK(entry.read(entry.show(odd), copy) == std::nullopt);
  CHECK(copy == odd);
}

TEST_CASE("a value out of bounds is named with the bounds") {
  auto found = problems_after([](settings& x) { x.threads = 257; });
  REQUIRE(found.size() == 1);
  CHECK(found[0].field == "threads");
  CHECK(found[0].message == "must be a whole number from 0 to 256, got 257");
}

TEST_CASE("each bad key is reported") {
  auto found = problems_after([](settings& x) {
    x.listen_host = "localhost";
    x.data = "";
    x.drain_timeout = std::chrono::seconds{-1};
  });
  REQUIRE(found.size() == 3);
  CHECK(found[0].field == "listen");
  CHECK(found[1].field == "data");
  CHECK(found[2].field == "drain_timeout");
}

TEST_CASE("a price is a number of dollars that is not negative") {
  auto read = [](const std::string& text, settings& out) {
    return find_key("publish_price")->read({text}, out);
  };
  settings with;
  for (std::string text : {"0", "0.00002", "2e-5", "1000"})
    CHECK(read(text, with) == std::nullopt);
  for (std::string text : {"", "-0.1", "1000.1", "nan", "inf", "1 USD", "0x1"})
    CHECK(read(text, with));
  CHECK(read("-1", with) == "must be a number from 0 to 1000, got -1");
  CHECK(read("free", with) == "must be a number from 0 to 1000, got \"free\"");
  CHECK(with.publish_price == 1000);
}

TEST_CASE("the bounds themselves are allowed") {
  auto max_body = GENERATE(1024u, 1'073'741'824u);
  CHECK(problems_after([=](settings& x) { x.max_body = max_body; }).empty());
}

TEST_CASE("just outside of the bounds is refused") {
  auto max_body = GENERATE(0u, 1023u, 1'073'741'825u);
  CHECK(problems_after([=](settings& x) { x.max_body = max_body; }).size()
        == 1);
}

TEST_CASE("the example file says the defaults, and every key") {
  auto content = read_file(CONFIG_DIR "/tidegate.example.toml");
  REQUIRE(content.problems.empty());
  // From settings in which nothing is as it is by default.
  settings read;
  read.listen_host = "10.0.0.1";
  read.listen_port = 1;
  read.data = "/x";
  read.threads = 9;
  read.allow_target = {"10.0.0.0/8"};
  read.dns_server = {"10.0.0.1:53"};
  read.trusted_ca = "x";
  read.tls_cert = read.tls_key = "x";
  read.max_in_flight = 9;
  read.max_request_rate = 9;
  read.max_body = 9999;
  read.drain_timeout = std::chrono::seconds{9};
  read.publish_price = 9;
  read.log_level = log_level::error;
  read.log_format = log_format::text;
  CHECK(assign(content.assignments, read) == std::nullopt);
  CHECK(read == settings{});
  CHECK(content.assignments.size() == keys().size());
}

TEST_CASE("the help of a key ends in its default") {
  settings defaults;
  for (const auto& entry : keys()) {
    auto shown = entry.show(defaults);
    if (shown.empty() || shown.front().empty())
      continue;
    std::string help = entry.help;
    auto expected = "(" + shown.front() + ")";
    INFO(entry.name << ": " << help);
    REQUIRE(help.size() > expected.size());
    CHECK(help.substr(help.size() - expected.size()) == expected);
  }
}
