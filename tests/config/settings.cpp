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
  odd.alert_url = "https://example.com/alerts";
  odd.alert_dead = false;
  odd.alert_held = std::chrono::seconds{1};
  odd.alert_depth = 1'000'000'000;
  odd.alert_age = std::chrono::seconds{2'592'000};
  odd.alert_window = std::chrono::seconds{604'800};
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

TEST_CASE("what is said of alerts is checked") {
  auto read = [](const char* name, const std::string& text) {
    settings scratch;
    return find_key(name)->read({text}, scratch);
  };
  CHECK(read("alert_url", "ftp://example.com/")
        == "must be an http or https URL, got \"ftp://example.com/\"");
  CHECK(read("alert_url", "") == std::nullopt);
  CHECK(read("alert_dead", "true") == "must be on or off, got \"true\"");
  CHECK(read("alert_held", "2592001")
        == "must be a whole number from 0 to 2592000, got 2592001");
  CHECK(read("alert_depth", "1000000001")
        == "must be a whole number from 0 to 1000000000, got 1000000001");
  CHECK(read("alert_age", "-1")
        == "must be a whole number from 0 to 2592000, got \"-1\"");
  CHECK(read("alert_window", "0")
        == "must be a whole number from 1 to 604800, got 0");
}

TEST_CASE("alerts that nobody would hear are refused") {
  settings with;
  with.alert_depth = 5;
  CHECK(complaint_about_pairs(with)
        == "alert_depth is set without alert_url: nobody is told");
  with.alert_url = "https://example.com/";
  CHECK(complaint_about_pairs(with) == std::nullopt);
  with = {};
  with.alert_url = "https://example.com/";
  CHECK(complaint_about_pairs(with) == std::nullopt);
  with.alert_dead = false;
  with.alert_held = std::chrono::seconds{0};
  CHECK(complaint_about_pairs(with) == "alert_url is set and no alert is on");
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
  read.alert_url = "http://x/";
  read.alert_dead = false;
  read.alert_held = read.alert_age = read.alert_window =
    std::chrono::seconds{9};
  read.alert_depth = 9;
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
