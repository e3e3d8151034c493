// Deliveries over TLS, and everything that is wrong with certificates.

#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "client_fixture.hpp"
#include "scripted_server.hpp"
#include "test_certificates.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;

namespace {

using script = connection_script;

// Writes `text` to a file that is gone when the test has ended.
class temporary_file {
public:
  explicit temporary_file(const std::string& text) {
    char name[] = "/tmp/tidegate-test-XXXXXX";
    ::close(::mkstemp(name));
    name_ = name;
    std::ofstream{name_} << text;
  }

  ~temporary_file() {
    std::remove(name_.c_str());
  }

  const std::string& name() const {
    return name_;
  }

private:
  std::string name_;
};

// Returns what comes of calling a server with this certificate by this name.
delivery_reply call(const test_authority& trusted,
                    const server_identity& identity, const std::string& host) {
  temporary_file file{trusted.certificate()};
  scripted_server server{{script{}.answer(response(200, "ok")).stall()},
                         identity};
  auto options = loopback_allowed();
  options.trusted_ca_file = file.name();
  running_client client{std::move(options)};
  auto reply = client.post(server.url(host));
  // Whoever is not trusted does not get to see the request.
  CHECK(server.requests().size() == (reply.http_status ? 1 : 0));
  return reply;
}

} // namespace

TEST_CASE(
  "a certificate of a trusted authority for the right name is "
  "accepted") {
  test_authority authority;
  auto host = GENERATE(as<std::string>{}, "localhost", "localhost.",
                       "LOCALHOST", "127.0.0.1", "2130706433");
  auto reply = call(authority, authority.issue({}), host);
  CHECK(reply.error == "");
  CHECK(reply.http_status == 200);
  CHECK(reply.excerpt == "ok");
}

TEST_CASE("a TLS connection is used again") {
  test_authority authority;
  temporary_file file{authority.certificate()};
  auto ok = response(200);
  scripted_server server{{script{}.answer(ok).answer(ok).answer(ok)},
                         authority.issue({})};
  auto options = loopback_allowed();
  options.trusted_ca_file = file.name();
  running_client client{std::move(options)};
  for (auto i = 0; i < 3; ++i)
    CHECK(client.post(server.url()).http_status == 200);
  CHECK(server.connections() == 1);
}

TEST_CASE("a TLS connection that died while it was idle is replaced") {
  test_authority authority;
  temporary_file file{authority.certificate()};
  scripted_server server{{script{}.answer(response(200)),
                          script{}.answer(response(201)).stall()},
                         authority.issue({})};
  auto options = loopback_allowed();
  options.trusted_ca_file = file.name();
  running_client client{std::move(options)};
  CHECK(client.post(server.url()).http_status == 200);
  server.wait_until_closed(0);
  CHECK(client.post(server.url()).http_status == 201);
}

TEST_CASE(
  "a certificate that has expired, or is not valid yet, is refused as "
  "expired") {
  test_authority authority;
  certificate_plan plan;
  SECTION("expired") {
    plan.from = -std::chrono::hours{2};
    plan.until = -std::chrono::hours{1};
  }
  SECTION("not valid yet") {
    plan.from = std::chrono::hours{1};
    plan.until = std::chrono::hours{2};
  }
  CHECK(call(authority, authority.issue(plan), "localhost").error_code
        == delivery_errc::tls_certificate_expired);
}

TEST_CASE(
  "a certificate that nobody trusted has signed is refused as "
  "untrusted") {
  test_authority authority;
  test_authority stranger;
  auto identity = GENERATE_REF(self_signed({}), stranger.issue({}));
  auto reply = call(authority, identity, "localhost");
  CHECK(reply.error_code == delivery_errc::tls_certificate_untrusted);
  CHECK_FALSE(reply.error.empty());
}

TEST_CASE("a certificate for another name is refused as such") {
  test_authority authority;
  certificate_plan plan;
  std::string host = "localhost";
  SECTION("a name") {
    plan.names = "DNS:hooks.example";
  }
  SECTION("an address for a name") {
    plan.names = "IP:127.0.0.1";
  }
  SECTION("a name for an address") {
    plan.names = "DNS:localhost,DNS:127.0.0.1";
    host = "127.0.0.1";
  }
  CHECK(call(authority, authority.issue(plan), host).error_code
        == delivery_errc::tls_certificate_name_mismatch);
}

TEST_CASE("a server that does not speak TLS is a TLS failure") {
  auto answer = GENERATE(script{}.send(response(400)).wait(), script{});
  scripted_server server{{answer}};
  running_client client;
  auto reply = client.post("https" + server.url().substr(4));
  CHECK(reply.error_code == delivery_errc::tls_failed);
}

TEST_CASE("a file of trusted authorities that cannot be used is an error") {
  boost::asio::io_context context;
  client_options options;
  options.contexts = {&context};
  options.trusted_ca_file = "/does/not/exist.pem";
  auto made = client::make(std::move(options));
  REQUIRE_FALSE(made);
  CHECK(made.reason().message.find("/does/not/exist.pem") != std::string::npos);
}
