// Deliveries over TLS, and everything that is wrong with certificates.

#include <catch2/catch.hpp>

#include "client_fixture.hpp"
#include "scripted_server.hpp"
#include "temporary_file.hpp"
#include "test_certificates.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;

namespace {

using script = connection_script;

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

TEST_CASE("a certificate that has expired is refused as expired") {
  test_authority authority;
  certificate_plan plan;
  plan.from = -std::chrono::hours{2};
  plan.until = -std::chrono::hours{1};
  CHECK(call(authority, authority.issue(plan), "localhost").error_code
        == delivery_errc::tls_certificate_expired);
}

TEST_CASE("a certificate that is not valid yet is refused as such") {
  test_authority authority;
  certificate_plan plan;
  plan.from = std::chrono::hours{1};
  plan.until = std::chrono::hours{2};
  CHECK(call(authority, authority.issue(plan), "localhost").error_code
        == delivery_errc::tls_certificate_not_yet_valid);
}

TEST_CASE("a certificate that only itself has signed is refused as such") {
  test_authority authority;
  CHECK(call(authority, self_signed({}), "localhost").error_code
        == delivery_errc::tls_certificate_self_signed);
}

TEST_CASE("a chain that ends at a stranger is refused as untrusted") {
  test_authority authority;
  test_authority stranger{"Somebody else"};
  auto identity = stranger.issue({});
  identity.certificate += stranger.certificate();
  auto reply = call(authority, identity, "localhost");
  CHECK(reply.error_code == delivery_errc::tls_certificate_untrusted);
  CHECK_FALSE(reply.error.empty());
}

TEST_CASE("a stranger with the name of an authority is untrusted") {
  test_authority authority;
  test_authority stranger;
  CHECK(call(authority, stranger.issue({}), "localhost").error_code
        == delivery_errc::tls_certificate_untrusted);
}

TEST_CASE("a chain without its intermediate has an unknown issuer") {
  test_authority authority;
  auto intermediate = authority.make_intermediate();
  auto identity = intermediate.issue({});
  CHECK(call(authority, identity, "localhost").error_code
        == delivery_errc::tls_certificate_issuer_unknown);
  identity.certificate += intermediate.certificate();
  CHECK(call(authority, identity, "localhost").http_status == 200);
}

TEST_CASE("the server learns which name is called") {
  test_authority authority;
  temporary_file file{authority.certificate()};
  certificate_plan other;
  other.names = "DNS:hooks.example";
  scripted_server server{{script{}.answer(response(200)).stall()},
                         authority.issue(other),
                         authority.issue({})};
  auto options = loopback_allowed();
  options.trusted_ca_file = file.name();
  running_client client{std::move(options)};
  CHECK(client.post(server.url("localhost")).http_status == 200);
  // An address is no name to ask for: the server cannot know better.
  CHECK(client.post(server.url("127.0.0.1")).error_code
        == delivery_errc::tls_certificate_name_mismatch);
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
