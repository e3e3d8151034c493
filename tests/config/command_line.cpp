#include "config/command_line.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace tidegate::config;

namespace {

using variables = std::map<std::string, std::string>;

tidegate::result<command> parse(const std::vector<std::string>& arguments,
                                const variables& set = {}) {
  return parse_command_line(
    arguments, [&](const std::string& name) -> std::optional<std::string> {
      auto hit = set.find(name);
      if (hit == set.end())
        return std::nullopt;
      return hit->second;
    });
}

/// Returns what the server is to run with.
settings serve_with(const std::vector<std::string>& arguments,
                    const variables& set = {}) {
  auto parsed = parse(arguments, set);
  if (!parsed)
    FAIL(parsed.reason().message);
  return std::get<serve>(*parsed).with;
}

/// Returns why the arguments are refused.
std::string refusal_of(const std::vector<std::string>& arguments,
                       const variables& set = {}) {
  auto parsed = parse(arguments, set);
  REQUIRE(!parsed);
  return parsed.reason().message;
}

std::string help_for(const std::vector<std::string>& arguments) {
  auto parsed = parse(arguments);
  REQUIRE(parsed);
  return std::get<show_help>(*parsed).text;
}

const std::string example = CONFIG_DIR "/tidegate.example.toml";

} // namespace

TEST_CASE("serve alone runs with the defaults") {
  CHECK(serve_with({"serve"}) == settings{});
}

TEST_CASE("every flag sets its setting") {
  settings expected;
  expected.listen_host = "0.0.0.0";
  expected.listen_port = 9090;
  expected.data = "/srv/queue";
  expected.threads = 4;
  expected.allow_target = {"127.0.0.0/8", "::1/128"};
  expected.dns_server = {"192.0.2.1:53", "[::1]:5353"};
  expected.trusted_ca = "ca.pem";
  expected.tls_cert = "server.pem";
  expected.tls_key = "server.key";
  expected.max_in_flight = 500;
  expected.max_request_rate = 50;
  expected.max_body = 4096;
  expected.drain_timeout = std::chrono::seconds{1};
  expected.publish_price = 0.00002;
  expected.alert_url = "https://example.com/alerts";
  expected.alert_dead = false;
  expected.alert_held = std::chrono::seconds{60};
  expected.alert_depth = 1000;
  expected.alert_age = std::chrono::seconds{3600};
  expected.alert_window = std::chrono::seconds{300};
  expected.log_level = log_level::warn;
  expected.log_format = log_format::text;
  CHECK(serve_with({"serve",
                    "--listen",
                    "0.0.0.0:9090",
                    "--data=/srv/queue",
                    "--threads",
                    "4",
                    "--allow-target",
                    "127.0.0.0/8",
                    "--allow-target",
                    "::1/128",
                    "--trusted-ca",
                    "ca.pem",
                    "--max-in-flight",
                    "500",
                    "--dns-server",
                    "192.0.2.1:53",
                    "--dns-server",
                    "[::1]:5353",
                    "--max-request-rate",
                    "50",
                    "--max-body",
                    "4096",
                    "--drain-timeout",
                    "1",
                    "--log-level",
                    "warn",
                    "--log-format",
                    "text",
                    "--publish-price",
                    "0.00002",
                    "--tls-cert",
                    "server.pem",
                    "--tls-key",
                    "server.key",
                    "--alert-url",
                    "https://example.com/alerts",
                    "--alert-dead",
                    "off",
                    "--alert-held",
                    "60",
                    "--alert-depth",
                    "1000",
                    "--alert-age",
                    "3600",
                    "--alert-window",
                    "300"})
        == expected);
}

TEST_CASE("a DNS server is an address and a port") {
  for (std::string text : {"192.0.2.1", "dns.example:53", "192.0.2.1:0",
                           "2001:db8::1:53", "192.0.2.1:65536", ""})
    CHECK(refusal_of({"serve", "--dns-server", text})
          == "--dns-server must be IP addresses and ports from 1 to 65535, "
             "such as 192.0.2.1:53 or [2001:db8::1]:53, got \""
               + text + '"');
}

TEST_CASE("every variable sets its setting") {
  settings expected;
  expected.listen_port = 0;
  expected.threads = 2;
  expected.allow_target = {"10.0.0.0/8", "fd00::/8"};
  expected.drain_timeout = std::chrono::seconds{60};
  expected.max_in_flight = 8;
  CHECK(serve_with({"serve"}, {{"TIDEGATE_MAX_IN_FLIGHT", "8"},
                               {"TIDEGATE_LISTEN", "127.0.0.1:0"},
                               {"TIDEGATE_THREADS", "2"},
                               {"TIDEGATE_ALLOW_TARGET", "10.0.0.0/8,fd00::/8"},
                               {"TIDEGATE_DRAIN_TIMEOUT", "60"}})
        == expected);
}

TEST_CASE("a flag goes before a variable, a variable before the file") {
  variables set{{"TIDEGATE_THREADS", "2"}, {"TIDEGATE_MAX_BODY", "2048"}};
  auto with = serve_with({"serve", "--config", example, "--threads", "3"}, set);
  CHECK(with.threads == 3);
  CHECK(with.max_body == 2048);
  CHECK(with.drain_timeout == std::chrono::seconds{30});
}

TEST_CASE("a certificate and its key are given together, wherever") {
  CHECK(refusal_of({"serve", "--tls-cert", "server.pem"})
        == "tls_cert is set without tls_key: TLS needs both");
  CHECK(refusal_of({"serve"}, {{"TIDEGATE_TLS_KEY", "server.key"}})
        == "tls_key is set without tls_cert: TLS needs both");
  auto with = serve_with({"serve", "--tls-cert", "server.pem"},
                         {{"TIDEGATE_TLS_KEY", "server.key"}});
  CHECK(with.tls_cert == "server.pem");
  CHECK(with.tls_key == "server.key");
}

TEST_CASE("flags replace the networks of the variable, they do not add") {
  auto with = serve_with({"serve", "--allow-target", "10.0.0.0/8"},
                         {{"TIDEGATE_ALLOW_TARGET", "127.0.0.0/8"}});
  CHECK(with.allow_target == std::vector<std::string>{"10.0.0.0/8"});
}

TEST_CASE("the file can be named by a variable") {
  CHECK(serve_with({"serve"}, {{"TIDEGATE_CONFIG", example}}) == settings{});
  CHECK(refusal_of({"serve"}, {{"TIDEGATE_CONFIG", "/nonexistent"}})
        == "/nonexistent cannot be read");
}

TEST_CASE("of a flag that is repeated the last one counts") {
  CHECK(serve_with({"serve", "--threads", "1", "--threads", "2"}).threads == 2);
}

TEST_CASE("a refusal names where the value came from, and its range") {
  CHECK(refusal_of({"serve", "--threads", "999"})
        == "--threads must be a whole number from 0 to 256, got 999");
  CHECK(refusal_of({"serve", "--max-in-flight", "1000001"})
        == "--max-in-flight must be a whole number from 0 to 1000000, got "
           "1000001");
  CHECK(refusal_of({"serve"}, {{"TIDEGATE_MAX_BODY", "1MiB"}})
        == "TIDEGATE_MAX_BODY must be a whole number from 1024 to "
           "1073741824, got \"1MiB\"");
  CHECK(refusal_of({"serve", "--log-level", "loud"})
        == "--log-level must be one of error, warn, info, debug, got "
           "\"loud\"");
}

TEST_CASE("an address that cannot be listened on is refused") {
  auto address = GENERATE("", "8080", ":8080", "localhost:8080", "127.0.0.1",
                          "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                          "127.0.0.1:80x", "::1:8080", "[127.0.0.1]:8080",
                          "[::1]", "[]:1", "256.0.0.1:1");
  CHECK(refusal_of({"serve", "--listen", address})
          .starts_with("--listen must be an IP address and a port"));
}

TEST_CASE("a target that is no network is refused") {
  auto network = GENERATE("", "127.0.0.1", "127.0.0.0/33", "127.0.0.0/",
                          "127.0.0/8", "::1/129", "example.com/8", "/8",
                          "10.0.0.0/ 8", "10.0.0.0/-1");
  CHECK(refusal_of({"serve", "--allow-target", network})
          .starts_with("--allow-target must be networks"));
}

TEST_CASE("whatever is not a whole number is refused") {
  auto text = GENERATE("", " 1", "1 ", "+1", "1.5", "0x10", "1e3", "one",
                       "99999999999999999999");
  CHECK(refusal_of({"serve", "--drain-timeout", text})
          .starts_with("--drain-timeout must be a whole number from 0 to"));
}

TEST_CASE("options and commands that do not exist are refused") {
  CHECK(refusal_of({"serve", "--lissten", "x"}).find("--lissten")
        != std::string::npos);
  CHECK(refusal_of({"swim"}).find("swim") != std::string::npos);
  CHECK(refusal_of({"serve", "now"}).find("now") != std::string::npos);
  CHECK(!refusal_of({}).empty());
  CHECK(!refusal_of({"serve", "--threads"}).empty());
  CHECK(!refusal_of({"check-config"}).empty());
}

TEST_CASE("a refusal is one line") {
  CHECK(refusal_of({}).find('\n') == std::string::npos);
  CHECK(refusal_of({"swim"}).find('\n') == std::string::npos);
}

TEST_CASE("a key is made with what was said about it") {
  auto parsed = parse({"keys", "create", "--project", "acme", "--scopes",
                       "publish,read", "--name", "the shop", "--expires-at",
                       "2030-01-01T00:00:00Z", "--data", "/srv/queue"});
  REQUIRE(parsed);
  auto& key = std::get<create_key>(*parsed);
  CHECK(key.data == "/srv/queue");
  CHECK(key.project == "acme");
  CHECK(key.scopes == "publish,read");
  CHECK(key.name == "the shop");
  CHECK(key.expires_at == "2030-01-01T00:00:00Z");
}

TEST_CASE("the rest of a key may be left out") {
  auto parsed = parse({"keys", "create", "--project", "a", "--scopes", "read"});
  REQUIRE(parsed);
  auto& key = std::get<create_key>(*parsed);
  CHECK(key.data == "./data");
  CHECK(key.name.empty());
  CHECK_FALSE(key.expires_at);
}

TEST_CASE("keys are where the server would have its data") {
  variables set{{"TIDEGATE_DATA", "/from/variable"}};
  auto list = parse({"keys", "list", "--json"}, set);
  REQUIRE(list);
  CHECK(std::get<list_keys>(*list).json);
  CHECK(std::get<list_keys>(*list).data == "/from/variable");
  auto revoke = parse({"keys", "revoke", "--config", example, "key_3"}, {});
  REQUIRE(revoke);
  CHECK(std::get<revoke_key>(*revoke).id == "key_3");
  CHECK(std::get<revoke_key>(*revoke).data == "./data");
  auto flag = parse({"keys", "list", "--data=/from/flag"}, set);
  REQUIRE(flag);
  CHECK(std::get<list_keys>(*flag).data == "/from/flag");
  CHECK_FALSE(std::get<list_keys>(*flag).json);
}

TEST_CASE("keys without what they need are refused") {
  CHECK(!refusal_of({"keys"}).empty());
  CHECK(refusal_of({"keys", "eat"}).find('\n') == std::string::npos);
  CHECK(refusal_of({"keys", "create", "--scopes", "read"}).find("--project")
        != std::string::npos);
  CHECK(refusal_of({"keys", "create", "--project", "a"}).find("--scopes")
        != std::string::npos);
  CHECK(!refusal_of({"keys", "revoke"}).empty());
  CHECK(refusal_of({"keys", "list", "--threads", "1"}).find("--threads")
        != std::string::npos);
  CHECK(refusal_of({"keys", "list", "--data", ""})
        == "--data must be the path of a directory, got \"\"");
}

TEST_CASE("an empty word turns nothing off in silence") {
  for (std::string name : {"alert-url", "tls-cert", "tls-key", "trusted-ca"})
    CHECK(refusal_of({"serve", "--" + name, ""})
          == "--" + name + " must not be empty: leave it out where there is "
                           "none");
  CHECK(refusal_of({"serve"}, {{"TIDEGATE_ALERT_URL", ""}})
        == "TIDEGATE_ALERT_URL must not be empty: leave it out where there is "
           "none");
}

TEST_CASE("no option takes another one for its value") {
  for (std::string name : {"--data", "--threads", "--trusted-ca"}) {
    CHECK(refusal_of({"serve", name + "=", "--max-request-rate=5"})
          == name + " must not be empty");
    CHECK(refusal_of({"serve", name, "--max-request-rate=5"})
          == name + " needs a value, got the option --max-request-rate=5");
  }
  CHECK(refusal_of({"jobs", "list", "--queue=", "--json"})
        == "--queue must not be empty");
}

TEST_CASE("a secret of a URL that is refused is not repeated") {
  CHECK(refusal_of({"serve", "--alert-url", "user:SECRET@x/?tok=SECRET"})
        == "--alert-url must be an http or https URL, got \"***@x/?***\"");
  CHECK(refusal_of({"serve"}, {{"TIDEGATE_ALERT_URL", "ftp://u:SECRET@h/"}})
        == "TIDEGATE_ALERT_URL must be an http or https URL, got "
           "\"ftp://***@h/\"");
}

TEST_CASE("the other commands are told apart") {
  auto version = parse({"version"});
  REQUIRE(version);
  CHECK(std::holds_alternative<show_version>(*version));
  auto check = parse({"check-config", "x.toml"});
  REQUIRE(check);
  CHECK(std::get<check_config>(*check).file == "x.toml");
}

TEST_CASE("the help names all commands, that of serve all flags") {
  auto all = help_for({"--help"});
  for (const auto* name : {"serve", "keys", "check-config", "version"})
    CHECK(all.find(name) != std::string::npos);
  auto flags = help_for({"serve", "--help"});
  for (const auto* name :
       {"--config",        "--listen",           "--data",
        "--threads",       "--allow-target",     "--dns-server",
        "--trusted-ca",    "--tls-cert",         "--tls-key",
        "--max-in-flight", "--max-request-rate", "--max-body",
        "--alert-url",     "--alert-dead",       "--alert-held",
        "--alert-depth",   "--alert-age",        "--alert-window",
        "--drain-timeout", "--log-level",        "--log-format"})
    CHECK(flags.find(name) != std::string::npos);
  for (const auto* name : {"create", "list", "revoke"})
    CHECK(help_for({"keys", "--help"}).find(name) != std::string::npos);
  CHECK(help_for({"keys", "create", "--help"}).find("--expires-at")
        != std::string::npos);
}
