// Deliveries over real sockets to servers that misbehave.

#include <catch2/catch.hpp>

#include <atomic>

#include <boost/asio/ip/tcp.hpp>

#include "client_fixture.hpp"
#include "name_server.hpp"
#include "scripted_server.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;

namespace {

using script = connection_script;

const std::string endless_head =
  "HTTP/1.1 200 OK\r\ncontent-length: "
  "1000000000000\r\n\r\n";

// Listens, but nobody accepts and there is room for one: whoever connects is
// left without an answer.
class deaf_listener {
public:
  deaf_listener(const std::string& address, std::uint16_t port) {
    acceptor_.open(tcp::v4());
    acceptor_.bind({boost::asio::ip::make_address(address), port});
    acceptor_.listen(0);
    auto endpoint = acceptor_.local_endpoint();
    for (auto i = 0; i < 4; ++i) {
      auto& filler = fillers_.emplace_back(context_, tcp::v4());
      filler.native_non_blocking(true);
      (void) ::connect(filler.native_handle(), endpoint.data(),
                       static_cast<socklen_t>(endpoint.size()));
    }
  }

  std::uint16_t port() const {
    return acceptor_.local_endpoint().port();
  }

private:
  using tcp = boost::asio::ip::tcp;

  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_};
  std::vector<tcp::socket> fillers_;
};

} // namespace

// -- dead connections ---------------------------------------------------------

TEST_CASE("a connection that died while it was idle is replaced in silence") {
  auto dead = GENERATE(script{}.answer(response(200)),
                       script{}.answer(response(200)).reset());
  scripted_server server{{dead, script{}.answer(response(201)).stall()}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 200);
  server.wait_until_closed(0);
  CHECK(client.post(server.url()).http_status == 201);
  CHECK(server.connections() == 2);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a connection that dies under its second request is replaced once") {
  // The server reads the request and closes: nothing shows before it was sent.
  auto dead = script{}.answer(response(200)).read_request();
  SECTION("and the fresh one answers") {
    scripted_server server{{dead, script{}.answer(response(201)).stall()}};
    running_client client;
    CHECK(client.post(server.url()).http_status == 200);
    CHECK(client.post(server.url()).http_status == 201);
    CHECK(server.connections() == 2);
    CHECK(server.requests().size() == 3);
  }
  SECTION("and not again when the fresh one dies too") {
    scripted_server server{{dead, script{}.read_request()}};
    running_client client;
    CHECK(client.post(server.url()).http_status == 200);
    CHECK(client.post(server.url()).error_code
          == delivery_errc::connection_reset);
    CHECK(server.connections() == 2);
  }
}

TEST_CASE(
  "a reused connection that dies in the middle of an answer is not "
  "replaced") {
  auto dying = script{}.answer(response(200)).answer("HTTP/1.1 2");
  scripted_server server{{dying, script{}.answer(response(200))}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 200);
  CHECK(client.post(server.url()).error_code
        == delivery_errc::connection_reset);
  CHECK(server.connections() == 1);
}

TEST_CASE("a fresh connection that dies before its answer is a failure") {
  auto dead = GENERATE(script{}, script{}.read_request(),
                       script{}.read_request().reset(),
                       script{}.answer("HTTP/1.1 200 OK\r\nco"),
                       script{}.answer("HTTP/1.1 100 Continue\r\n\r\n"));
  scripted_server server{{dead}};
  running_client client;
  auto reply = client.post(server.url());
  CHECK(reply.error_code == delivery_errc::connection_reset);
  CHECK_FALSE(reply.http_status);
  CHECK_FALSE(reply.error.empty());
  CHECK(server.connections() == 1);
}

TEST_CASE("nobody listening is a failure to connect") {
  std::string url;
  {
    scripted_server gone{{script{}}};
    url = gone.url();
  }
  running_client client;
  auto reply = client.post(url);
  CHECK(reply.error_code == delivery_errc::connect_failed);
  CHECK(reply.error.find("refused") != std::string::npos);
}

TEST_CASE("an answer before the request was read whole counts") {
  scripted_server server{
    {script{}.send("HTTP/1.1 413 Too Large\r\nconnection: close\r\n\r\nno")}};
  running_client client;
  auto what = make_delivery(server.url());
  CHECK(client.post(what).http_status == 413);
}

// -- answers that make no sense -----------------------------------------------

TEST_CASE("what is not HTTP/1.x is malformed") {
  auto answer = GENERATE(
    as<std::string>{}, "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n");
  scripted_server server{{script{}.answer(answer).stall()}};
  running_client client;
  auto reply = client.post(server.url());
  CHECK(reply.error_code == delivery_errc::malformed_response);
  CHECK_FALSE(reply.http_status);
  CHECK_FALSE(reply.error.empty());
}

TEST_CASE("a head without end is malformed") {
  auto piece = GENERATE(as<std::string>{}, "a: b\r\n", "x",
                        "HTTP/1.1 100 Continue\r\n\r\n");
  auto start = piece.starts_with("HTTP") ? "" : "HTTP/1.1 200 OK\r\nx: y";
  scripted_server server{{script{}.answer(start).flood(piece)}};
  running_client client;
  CHECK(client.post(server.url()).error_code
        == delivery_errc::malformed_response);
}

// -- bodies that never end ----------------------------------------------------

TEST_CASE("a body that breaks off does not change the status") {
  auto answer = GENERATE(
    as<std::string>{}, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart",
    "HTTP/1.1 200 OK\r\n\r\npart",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nnonsense"
    "\r\n\r\n");
  scripted_server server{{script{}.answer(answer)}};
  running_client client;
  auto reply = client.post(server.url());
  CHECK(reply.http_status == 200);
  CHECK(reply.error_code == delivery_errc::none);
  CHECK(reply.excerpt == "part");
}

TEST_CASE("an endless body is read up to the cap and its connection closed") {
  auto head = GENERATE(as<std::string>{}, endless_head,
                       "HTTP/1.1 200 OK\r\n\r\n");
  scripted_server server{{script{}.answer(head).flood(std::string(1000, 'x'))}};
  running_client client;
  auto reply = client.post(server.url());
  CHECK(reply.http_status == 200);
  CHECK(reply.excerpt == std::string(2048, 'x'));
  server.wait_until_closed(0);
}

TEST_CASE("endless chunk headers are read up to the cap") {
  scripted_server server{
    {script{}
       .answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;")
       .flood(std::string(1000, 'x'))}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 200);
  server.wait_until_closed(0);
}

TEST_CASE("a dripping body ends at the deadline with the status that came") {
  scripted_server server{{script{}.answer(endless_head).drip("x")}};
  running_client client;
  auto reply = client.post(make_delivery(server.url(), soon));
  CHECK(reply.http_status == 200);
  CHECK(reply.error_code == delivery_errc::none);
  CHECK_FALSE(reply.excerpt.empty());
  CHECK(reply.took >= soon);
  server.wait_until_closed(0);
}

TEST_CASE("who says not now is heard before the body is in") {
  auto end = GENERATE(as<std::string>{}, "content-length: 10\r\n\r\npart",
                      "transfer-encoding: chunked\r\n\r\n");
  scripted_server server{
    {script{}
       .answer("HTTP/1.1 429 Too Many\r\nretry-after: 3\r\n" + end)
       .stall()}};
  running_client client;
  auto reply =
    client.post(make_delivery(server.url(), std::chrono::minutes{10}));
  CHECK(reply.http_status == 429);
  CHECK(reply.retry_after == std::vector<std::string>{"3"});
  server.wait_until_closed(0);
}

// -- one deadline over every stage --------------------------------------------

TEST_CASE("a server that stalls is given up on at the deadline") {
  auto stalling = GENERATE(script{}.stall(), script{}.read_request().stall(),
                           script{}.answer("HTTP/1.1 200 OK\r\n").stall(),
                           script{}.answer("HTTP/1.1 102 P\r\n\r\n").stall(),
                           script{}.answer("HTTP/1.1 200 OK\r\na: ").drip("x"),
                           script{}.answer(response(200)).stall());
  scripted_server server{{stalling}};
  running_client client;
  auto reply = client.post(make_delivery(server.url(), soon));
  if (reply.http_status)
    // The last script: its second request is the one that stalls.
    reply = client.post(make_delivery(server.url(), soon));
  CHECK(reply.error_code == delivery_errc::timeout);
  CHECK(reply.error == "no answer within 0.3 s: still waiting for the answer");
  CHECK_FALSE(reply.http_status);
  CHECK(reply.took >= soon);
  server.wait_until_closed(0);
}

TEST_CASE("a request that nobody reads is given up on at the deadline") {
  scripted_server server{{script{}.wait().wait().wait().wait().wait().wait()}};
  running_client client;
  auto what = make_delivery(server.url(), std::chrono::milliseconds{50});
  what.payload = payload{'"' + std::string(8'000'000, 'x') + '"'};
  CHECK(client.post(what).error_code == delivery_errc::timeout);
}

TEST_CASE("a handshake that stalls is given up on at the deadline") {
  scripted_server server{{script{}.stall()}};
  running_client client;
  auto url = "https" + server.url().substr(4);
  auto reply = client.post(make_delivery(url, soon));
  CHECK(reply.error_code == delivery_errc::timeout);
  CHECK(reply.error.find("TLS") != std::string::npos);
  server.wait_until_closed(0);
}

TEST_CASE("a connect that stalls is given up on at the deadline") {
  deaf_listener deaf{"127.0.0.1", 0};
  running_client client;
  auto url = "http://127.0.0.1:" + std::to_string(deaf.port()) + '/';
  auto reply = client.post(make_delivery(url, soon));
  CHECK(reply.error_code == delivery_errc::timeout);
  CHECK(reply.error == "no answer within 0.3 s: still connecting");
}

TEST_CASE("an address that does not answer gives way to the next") {
  scripted_server server{{script{}.answer(response(200)).stall()}};
  deaf_listener deaf{"127.0.0.2", server.port()};
  auto options = loopback_allowed();
  options.resolver.lookup = [](const std::string&, const auto& done) {
    done(
      {{*parse_ip_address("127.0.0.2"), *parse_ip_address("127.0.0.1")}, {}});
  };
  running_client client{std::move(options)};
  CHECK(client.post(server.url("hooks.example")).http_status == 200);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a resolver that stalls is given up on at the deadline") {
  name_server silent{
    [](const std::string&) { return std::optional<name_answer>{}; }};
  auto options = loopback_allowed();
  options.dns_servers = {silent.where()};
  // The client goes while its look-up is still under way.
  running_client client{std::move(options)};
  auto reply = client.post(make_delivery("http://hooks.example/", soon));
  CHECK(reply.error_code == delivery_errc::timeout);
  CHECK(reply.error.find("looking up") != std::string::npos);
}

TEST_CASE("a replaced connection does not get a deadline of its own") {
  auto dead = script{}.answer(response(200)).read_request();
  scripted_server server{{dead, script{}.read_request().stall()}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 200);
  CHECK(client.post(make_delivery(server.url(), soon)).error_code
        == delivery_errc::timeout);
  CHECK(server.connections() == 2);
}

// -- calls that are never made ------------------------------------------------

TEST_CASE("by default loopback is blocked and not a byte is sent") {
  scripted_server server{{script{}.answer(response(200))}};
  auto host = GENERATE(as<std::string>{}, "127.0.0.1", "2130706433", "0x7f.1",
                       "0177.0.0.1", "0", "[::ffff:127.0.0.1]", "localhost",
                       "localhost.");
  running_client client{client_options{}};
  auto reply = client.post(server.url(host));
  CHECK(reply.error_code == delivery_errc::target_blocked);
  CHECK(reply.error.find("allow-target") != std::string::npos);
  CHECK(reply.error.find("TIDEGATE_ALLOW_TARGET") != std::string::npos);
  CHECK(server.connections() == 0);
}

TEST_CASE("a name for an address that is no public one is blocked") {
  auto address = GENERATE(as<std::string>{}, "127.0.0.1", "127.1.2.3",
                          "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1",
                          "169.254.169.254", "100.64.0.1", "::1",
                          "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
                          "fe80::1", "fd00::1");
  name_server names{[&](const std::string&) { return name_answer{{address}}; }};
  client_options options;
  options.dns_servers = {names.where()};
  running_client client{std::move(options)};
  CAPTURE(address);
  auto reply = client.post("http://hooks.example/");
  CHECK(reply.error_code == delivery_errc::target_blocked);
  CHECK(reply.error.find("allow-target") != std::string::npos);
}

TEST_CASE("a name that changes its address is judged anew") {
  scripted_server server{{script{}.answer(
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")}};
  std::atomic<bool> moved = false;
  name_server names{[&](const std::string&) {
    return name_answer{{moved ? "127.0.0.2" : "127.0.0.1"}};
  }};
  client_options options;
  options.targets = target_policy{{*parse_ip_network("127.0.0.1")}};
  options.resolver.cache_for = std::chrono::milliseconds{0};
  options.dns_servers = {names.where()};
  running_client client{std::move(options)};
  auto url = server.url("hooks.example");
  CHECK(client.post(url).http_status == 200);
  moved = true;
  CHECK(client.post(url).error_code == delivery_errc::target_blocked);
  CHECK(server.connections() == 1);
}

TEST_CASE("a name that does not resolve says so") {
  name_server names{[](const std::string&) { return name_answer{}; }};
  auto options = loopback_allowed();
  options.dns_servers = {names.where()};
  running_client client{std::move(options)};
  auto reply = client.post("http://hooks.example/");
  CHECK(reply.error_code == delivery_errc::dns_failed);
  CHECK(reply.error
        == "the name \"hooks.example\" did not resolve: Domain name not found");
}

TEST_CASE("servers that cannot be asked for names are an error") {
  boost::asio::io_context context;
  client_options options;
  options.contexts = {&context};
  options.dns_servers = {"nowhere"};
  auto made = client::make(std::move(options));
  REQUIRE_FALSE(made);
  CHECK(made.reason().message.find("nowhere") != std::string::npos);
}

TEST_CASE("a URL that cannot be called says so") {
  auto url = GENERATE(as<std::string>{}, "", "ftp://a.example/", "hooks",
                      "http://user@a.example/");
  running_client client;
  auto reply = client.post(url);
  CHECK(reply.error_code == delivery_errc::invalid_url);
  CHECK_FALSE(reply.error.empty());
}

// -- aborting -----------------------------------------------------------------

TEST_CASE("an aborted delivery is answered once, with aborted") {
  scripted_server server{{script{}.read_request().stall()}};
  running_client client;
  auto reply = client.start(make_delivery(server.url()));
  client.call->abort();
  client.call->abort();
  CHECK(reply.get().error_code == delivery_errc::aborted);
  client.call->abort();
}

TEST_CASE("aborting does not undo a status that has come in") {
  scripted_server server{{script{}.answer(endless_head + "some").stall()}};
  running_client client;
  auto reply = client.start(make_delivery(server.url()));
  while (server.requests().empty())
    std::this_thread::yield();
  // Lets the head arrive.
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  client.call->abort();
  CHECK(reply.get().http_status == 200);
}

TEST_CASE("stopping answers everything that is under way") {
  scripted_server server{{script{}.read_request().stall()}};
  running_client client;
  std::vector<std::future<delivery_reply>> replies;
  for (auto i = 0; i < 20; ++i)
    replies.push_back(client.start(make_delivery(server.url())));
  client->stop();
  for (auto& reply : replies)
    CHECK(reply.get().error_code == delivery_errc::aborted);
  CHECK(client.post(server.url()).error_code == delivery_errc::aborted);
}
