// Queues that trust authorities of their own, or anybody.

#include <catch2/catch.hpp>

#include "client_fixture.hpp"
#include "http/certificates.hpp"
#include "http/client_trust.hpp"
#include "scripted_server.hpp"
#include "temporary_file.hpp"
#include "test_certificates.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;

namespace {

using script = connection_script;

// Whom the server itself trusts.
const test_authority trusted;

// A server, and a client that trusts `trusted`.
struct world {
  explicit world(const server_identity& identity)
    : server({script{}
                .answer(response(200))
                .answer(response(200))
                .answer(response(200))
                .stall()},
             identity) {
    auto options = loopback_allowed();
    options.trusted_ca_file = file.name();
    client = std::make_unique<running_client>(std::move(options));
  }

  // Makes a delivery by the name localhost.
  delivery_reply post(const std::string& tls_ca, bool insecure = false) {
    auto what = make_delivery(server.url("localhost"));
    what.tls_ca = tls_ca;
    what.tls_insecure = insecure;
    return client->post(std::move(what));
  }

  temporary_file file{trusted.certificate()};
  scripted_server server;
  std::unique_ptr<running_client> client;
};

delivery to_queue_with(std::string authorities) {
  auto result = make_delivery("https://localhost/");
  result.tls_ca = std::move(authorities);
  return result;
}

std::string complaint_of(const std::string& pem) {
  return complaint_about_authorities(pem).value_or("none");
}

} // namespace

TEST_CASE("a queue's own authority is trusted by that queue only") {
  test_authority own{"Private"};
  world w{own.issue({})};
  CHECK(w.post({}).error_code == delivery_errc::tls_certificate_issuer_unknown);
  CHECK(w.post(own.certificate()).http_status == 200);
  CHECK(w.post({}).error_code == delivery_errc::tls_certificate_issuer_unknown);
}

TEST_CASE("a queue with authorities of its own trusts no others") {
  test_authority own{"Private"};
  world w{trusted.issue({})};
  CHECK(w.post({}).http_status == 200);
  CHECK(w.post(own.certificate()).error_code
        == delivery_errc::tls_certificate_issuer_unknown);
  CHECK(w.post(own.certificate() + trusted.certificate()).http_status == 200);
}

TEST_CASE("a queue may trust an intermediate alone") {
  test_authority root{"Private"};
  auto intermediate = root.make_intermediate();
  world w{intermediate.issue({})};
  CHECK(w.post(root.certificate()).error_code
        == delivery_errc::tls_certificate_issuer_unknown);
  CHECK(w.post(intermediate.certificate()).http_status == 200);
}

TEST_CASE("authorities of a queue do not excuse a wrong name") {
  test_authority own{"Private"};
  certificate_plan plan;
  plan.names = "DNS:hooks.example";
  world w{own.issue(plan)};
  CHECK(w.post(own.certificate()).error_code
        == delivery_errc::tls_certificate_name_mismatch);
}

TEST_CASE("an insecure queue takes any certificate") {
  certificate_plan plan;
  plan.names = "DNS:hooks.example";
  plan.from = -std::chrono::hours{2};
  plan.until = -std::chrono::hours{1};
  world w{self_signed(plan)};
  CHECK(w.post({}, true).http_status == 200);
  CHECK(w.post(trusted.certificate(), true).http_status == 200);
  CHECK_FALSE(w.post({}).http_status);
}

TEST_CASE("a connection is used again by whoever trusts alike, and only so") {
  test_authority own{"Private"};
  world w{own.issue({})};
  CHECK(w.post({}, true).http_status == 200);
  CHECK(w.post(own.certificate()).http_status == 200);
  CHECK(w.server.connections() == 2);
  CHECK(w.post({}, true).http_status == 200);
  CHECK(w.post(own.certificate()).http_status == 200);
  CHECK(w.server.connections() == 2);
  CHECK_FALSE(w.post({}).http_status);
  CHECK(w.server.connections() == 3);
}

TEST_CASE("a context is made once for each text of authorities") {
  auto trust = *client_trust::make({});
  test_authority a;
  test_authority b;
  auto first = *trust->of(to_queue_with(a.certificate()));
  auto other = *trust->of(to_queue_with(b.certificate()));
  CHECK(first == *trust->of(to_queue_with(a.certificate())));
  CHECK(first->context != other->context);
  CHECK(first->mark != other->mark);
  CHECK(trust->kept() == 2);
}

TEST_CASE("few contexts are kept, those that were used last") {
  auto trust = *client_trust::make({});
  test_authority authority;
  auto queue = [&](std::size_t n) {
    return to_queue_with(authority.certificate() + std::to_string(n));
  };
  auto first = *trust->of(queue(0));
  auto second = *trust->of(queue(1));
  for (std::size_t n = 2; n <= client_trust::kept_max; ++n) {
    REQUIRE(*trust->of(queue(0)) == first);
    REQUIRE(trust->of(queue(n)));
  }
  CHECK(trust->kept() == client_trust::kept_max);
  CHECK(*trust->of(queue(0)) == first);
  CHECK(*trust->of(queue(1)) != second);
}

TEST_CASE("text that is no list of certificates is refused, and not shown") {
  test_authority authority;
  auto good = authority.certificate();
  auto key = authority.issue({}).key;
  CHECK(complaint_of(good) == "none");
  CHECK(complaint_of("Our own:\n" + good + good) == "none");
  CHECK_THAT(complaint_of(""), Catch::Contains("found none"));
  CHECK_THAT(complaint_of("hello"), Catch::Contains("found none"));
  CHECK_THAT(complaint_of(good + key), Catch::Contains("block 2 is none"));
  CHECK_THAT(complaint_of("-----BEGIN CERTIFICATE-----\nAAAA\n"
                          "-----END CERTIFICATE-----\n"),
             Catch::Contains("block 1 cannot be read"));
  CHECK(complaint_of(good.substr(0, good.size() / 2)) != "none");
  auto trust = *client_trust::make({});
  CHECK_FALSE(trust->of(to_queue_with("hello")));
}

TEST_CASE("a delivery with authorities that cannot be read fails") {
  world w{trusted.issue({})};
  auto reply = w.post("hello");
  CHECK(reply.error_code == delivery_errc::tls_failed);
  CHECK_THAT(reply.error, Catch::StartsWith("tlsCa must"));
}
