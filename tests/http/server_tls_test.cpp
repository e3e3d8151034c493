// The server over TLS.

#include <catch2/catch.hpp>

#include "http/server_tls.hpp"
#include "raw_client.hpp"
#include "temporary_file.hpp"
#include "test_certificates.hpp"
#include "test_server.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;
using namespace std::chrono_literals;

namespace {

const std::string http_1_1 = "\x08http/1.1";
const std::string http_2 = "\x02h2";

// An authority with the files of a certificate that it has signed.
struct identity_files {
  identity_files() {
    issue(authority);
  }

  void issue(const test_authority& by) {
    auto made = by.issue({});
    certificate.write(made.certificate);
    key.write(made.key);
  }

  std::shared_ptr<server_tls> load() const {
    return *server_tls::load(certificate.name(), key.name());
  }

  test_authority authority;
  temporary_file certificate{""};
  temporary_file key{""};
};

struct tls_world {
  explicit tls_world(server_options options = {}) {
    options.tls = tls;
    server = std::make_unique<test_server>(std::move(options));
  }

  raw_client connect() const {
    raw_client client{server->port()};
    if (!client.secure(files.authority.certificate()))
      throw std::runtime_error{"no TLS"};
    return client;
  }

  bool has_connections(std::size_t n) const {
    return test_server::eventually(
      [&] { return server->get().connections() == n; });
  }

  identity_files files;
  std::shared_ptr<server_tls> tls = files.load();
  std::unique_ptr<test_server> server;
};

std::string complaint_of(const std::string& certificate,
                         const std::string& key) {
  auto loaded = server_tls::load(certificate, key);
  return loaded ? "none" : loaded.reason().message;
}

} // namespace

// -- requests -----------------------------------------------------------------

TEST_CASE("requests over TLS are answered, on one connection") {
  tls_world w;
  auto client = w.connect();
  CHECK(client.ask(post("q", "one")).value().body == "q:one");
  CHECK(client.ask(post("q", "two")).value().body == "q:two");
  CHECK(w.server->get().connections() == 1);
}

TEST_CASE("requests that come at once over TLS are answered in order") {
  tls_world w;
  auto client = w.connect();
  client.send(post("q", "1") + post("q", "2") + post("slow", "3")
              + post("q", "4"));
  CHECK(client.receive().value().body == "q:1");
  CHECK(client.receive().value().body == "q:2");
  w.server->requests().await_kept(1);
  w.server->requests().answer(0, "3");
  CHECK(client.receive().value().body == "3");
  CHECK(client.receive().value().body == "q:4");
}

TEST_CASE("bodies of many TLS records arrive whole, both ways") {
  tls_world w;
  auto client = w.connect();
  std::string body(700'000, 'x');
  body[100'000] = 'y';
  CHECK(client.ask(post("q", body)).value().body == "q:" + body);
}

TEST_CASE("a client that sends all of a large body sees the 413 over TLS") {
  server_options options;
  options.body_bytes_max = 1000;
  tls_world w{options};
  auto client = w.connect();
  CHECK(client.send(post("q", std::string(4'000'000, 'x'))));
  CHECK(client.receive().value().status == 413);
  CHECK(client.is_closed());
  CHECK(client.was_told());
  CHECK(w.server->requests().handled == 0);
}

TEST_CASE("HTTP/1.1 is what ALPN agrees on, and nothing else") {
  tls_world w;
  raw_client client{w.server->port()};
  CHECK(client.secure(w.files.authority.certificate(), http_2 + http_1_1));
  CHECK(client.protocol() == "http/1.1");
  CHECK(client.ask(get("q")).value().status == 200);
  raw_client other{w.server->port()};
  CHECK_FALSE(other.secure(w.files.authority.certificate(), http_2));
}

// -- ends ---------------------------------------------------------------------

TEST_CASE("a client that has said close_notify gets its answers") {
  tls_world w;
  auto client = w.connect();
  client.send(get("slow"));
  client.finish();
  w.server->requests().await_kept(1);
  w.server->requests().answer(0, "late");
  CHECK(client.receive().value().body == "late");
  CHECK(client.is_closed());
  CHECK(client.was_told());
  CHECK(w.has_connections(0));
}

TEST_CASE("the last answer over TLS is followed by a close_notify") {
  tls_world w;
  auto client = w.connect();
  CHECK(client.ask(get("q", "Connection: close\r\n")).value().status == 200);
  CHECK(client.is_closed());
  CHECK(client.was_told());
}

TEST_CASE("a TLS connection that idles is told before it is closed") {
  server_options options;
  options.idle_timeout = 50ms;
  tls_world w{options};
  auto client = w.connect();
  CHECK(client.ask(get("q")).value().status == 200);
  CHECK(client.is_closed());
  CHECK(client.was_told());
}

TEST_CASE("a client that hears of the end and says nothing is let go") {
  server_options options;
  options.idle_timeout = 50ms;
  options.linger_timeout = 50ms;
  tls_world w{options};
  auto client = w.connect();
  CHECK(w.has_connections(0));
}

TEST_CASE("a stop lets TLS connections answer, and tells the idle ones") {
  tls_world w;
  auto idle = w.connect();
  CHECK(idle.ask(get("q")).value().status == 200);
  auto busy = w.connect();
  busy.send(get("slow"));
  w.server->requests().await_kept(1);
  raw_client mute{w.server->port()};
  CHECK(w.has_connections(3));
  std::atomic<bool> stopped = false;
  w.server->get().stop([&] { stopped = true; });
  CHECK(idle.is_closed());
  CHECK(idle.was_told());
  CHECK(mute.is_closed());
  w.server->requests().answer(0, "late");
  auto got = busy.receive();
  CHECK(got.value().body == "late");
  CHECK(got->header("connection") == "close");
  CHECK(busy.is_closed());
  CHECK(busy.was_told());
  { auto gone = std::move(idle), too = std::move(busy); }
  CHECK(test_server::eventually([&] { return stopped.load(); }));
}

// -- handshakes ---------------------------------------------------------------

TEST_CASE("a handshake that is not done in time ends the connection") {
  server_options options;
  options.request_timeout = 50ms;
  tls_world w{options};
  raw_client silent{w.server->port()};
  CHECK(silent.is_closed());
  // The beginning of a TLS record that never goes on.
  raw_client slow{w.server->port()};
  slow.send(std::string_view{"\x16\x03\x01\x02\x00\x01", 6});
  CHECK(slow.is_closed());
  CHECK(w.has_connections(0));
}

TEST_CASE("the time for a handshake is not that of an idle connection") {
  server_options options;
  options.idle_timeout = 1ms;
  options.request_timeout = 10s;
  tls_world w{options};
  raw_client late{w.server->port()};
  CHECK(late.is_silent(50ms));
  CHECK(late.secure(w.files.authority.certificate()));
}

TEST_CASE("a client that speaks plain HTTP to the TLS port is closed") {
  tls_world w;
  for (auto& bytes :
       {get("q"), std::string{"nonsense\r\n\r\n"}, std::string(9, '\0')}) {
    raw_client client{w.server->port()};
    client.send(bytes);
    CHECK_FALSE(client.receive());
  }
  CHECK(w.server->requests().handled == 0);
  CHECK(w.has_connections(0));
}

TEST_CASE("a handshake counts as a connection, also one that is half done") {
  server_options options;
  options.connections_max = 1;
  tls_world w{options};
  {
    raw_client half{w.server->port()};
    half.send("\x16\x03\x01");
    CHECK(w.has_connections(1));
    raw_client other{w.server->port()};
    CHECK(other.is_closed());
  }
  CHECK(w.has_connections(0));
  CHECK(w.connect().ask(get("q")).value().status == 200);
}

TEST_CASE("many clients that break off their handshake leave nothing") {
  tls_world w;
  for (auto i = 0; i < 200; ++i) {
    raw_client client{w.server->port()};
    client.send("\x16\x03\x01\x02");
  }
  CHECK(w.has_connections(0));
  CHECK(w.connect().ask(get("q")).value().status == 200);
}

// -- certificates -------------------------------------------------------------

TEST_CASE("new connections get a new certificate, old ones go on") {
  tls_world w;
  auto old = w.connect();
  test_authority other{"Another authority"};
  w.files.issue(other);
  CHECK_FALSE(w.tls->reload());
  CHECK(old.ask(get("q")).value().status == 200);
  raw_client refusing{w.server->port()};
  CHECK_FALSE(refusing.secure(w.files.authority.certificate()));
  raw_client accepting{w.server->port()};
  CHECK(accepting.secure(other.certificate()));
  CHECK(accepting.ask(get("q")).value().status == 200);
}

TEST_CASE("files that cannot be used leave the certificate as it was") {
  tls_world w;
  SECTION("another key") {
    w.files.key.write(w.files.authority.issue({}).key);
    CHECK_THAT(w.tls->reload().value().message,
               Catch::Contains("does not belong"));
  }
  SECTION("no certificate") {
    w.files.certificate.write("hello");
    CHECK_THAT(w.tls->reload().value().message,
               Catch::Contains(w.files.certificate.name()));
  }
  CHECK(w.connect().ask(get("q")).value().status == 200);
}

TEST_CASE("what is wrong with certificate and key is said, with the file") {
  identity_files files;
  const auto& certificate = files.certificate.name();
  const auto& key = files.key.name();
  CHECK(complaint_of(certificate, key) == "none");
  CHECK(complaint_of("/no/cert", key)
        == "tls-cert: /no/cert cannot be read: No such file or directory");
  CHECK(complaint_of(certificate, "/no/key")
        == "tls-key: /no/key cannot be read: No such file or directory");
  CHECK(complaint_of("/tmp", key)
        == "tls-cert: /tmp cannot be read: Is a directory");
  CHECK_THAT(complaint_of(key, key),
             Catch::StartsWith("tls-cert: " + key + " holds no"));
  CHECK_THAT(complaint_of(certificate, certificate),
             Catch::StartsWith("tls-key: " + certificate + " holds no"));
  temporary_file other{files.authority.issue({}).key};
  CHECK(complaint_of(certificate, other.name())
        == "tls-key: the key in " + other.name()
             + " does not belong to the certificate in tls-cert");
}

TEST_CASE("a chain of several certificates is shown whole") {
  identity_files files;
  auto intermediate = files.authority.make_intermediate();
  auto made = intermediate.issue({});
  files.certificate.write(made.certificate + intermediate.certificate());
  files.key.write(made.key);
  server_options options;
  options.tls = files.load();
  test_server server{options};
  raw_client client{server.port()};
  CHECK(client.secure(files.authority.certificate()));
}
