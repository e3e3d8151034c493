// Deliveries over real sockets, when all goes well or nearly.

#include <catch2/catch.hpp>

#include "client_fixture.hpp"
#include "http/signature.hpp"
#include "http/webhook_request.hpp"
#include "scripted_server.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace tidegate::http::testing;

namespace {

using script = connection_script;

std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

} // namespace

TEST_CASE("a delivery is one POST and its answer comes back") {
  scripted_server server{{script{}.answer(
    response(503, "not now", "Retry-After: 7\r\nDate: today\r\n"))}};
  running_client client;
  auto what = make_delivery(server.url());
  auto reply = client.post(what);
  CHECK(reply.http_status == 503);
  CHECK(reply.error_code == delivery_errc::none);
  CHECK(reply.error.empty());
  CHECK(reply.retry_after == std::vector<std::string>{"7"});
  CHECK(reply.date == "today");
  CHECK(reply.excerpt == "not now");
  CHECK(reply.took > duration{0});
  auto url = parse_webhook_url(what.url);
  CHECK(server.requests()
        == std::vector<std::string>{webhook_request(what, *url)});
}

TEST_CASE("a connection is used again") {
  auto ok = response(200, "ok");
  scripted_server server{{script{}.answer(ok).answer(ok).answer(ok)}};
  running_client client;
  for (auto i = 0; i < 3; ++i)
    CHECK(client.post(server.url()).http_status == 200);
  CHECK(server.connections() == 1);
  CHECK(server.requests().size() == 3);
}

TEST_CASE(
  "a connection is used again after a chunked answer and one without "
  "body") {
  scripted_server server{
    {script{}
       .answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
               "5\r\nhello\r\n0\r\nretry-after: 9\r\n\r\n")
       .answer("HTTP/1.1 204 No Content\r\n\r\n")
       .answer("HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n")
       .answer(response(200))}};
  running_client client;
  auto first = client.post(server.url());
  CHECK(first.http_status == 200);
  CHECK(first.excerpt == "hello");
  CHECK(first.retry_after.empty());
  CHECK(client.post(server.url()).http_status == 204);
  CHECK(client.post(server.url()).http_status == 304);
  CHECK(client.post(server.url()).http_status == 200);
  CHECK(server.connections() == 1);
}

TEST_CASE("a connection is not used again when the answer says so") {
  auto head = GENERATE(as<std::string>{},
                       "HTTP/1.1 200 OK\r\nconnection: close\r\n",
                       "HTTP/1.0 200 OK\r\n");
  auto answer = head + "content-length: 0\r\n\r\n";
  scripted_server server{{script{}.answer(answer).stall()}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 200);
  CHECK(client.post(server.url()).http_status == 200);
  CHECK(server.connections() == 2);
}

TEST_CASE("what comes uninvited behind an answer is not taken for the next") {
  auto ok = response(200);
  auto extra = GENERATE_COPY(as<bool>{}, true, false);
  auto first = script{}.answer(ok + (extra ? response(500) : ""));
  if (!extra)
    first = first.wait().send(response(500));
  scripted_server server{{first.stall(), script{}.answer(ok).stall()}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 200);
  // Lets the second answer arrive while the connection is idle.
  std::this_thread::sleep_for(std::chrono::milliseconds{60});
  CHECK(client.post(server.url()).http_status == 200);
  CHECK(server.connections() == 2);
}

TEST_CASE("deliveries to one host at the same time do not mix") {
  // Whether one gets a connection of its own or one that has just become idle
  // depends on who is faster.
  script patient;
  for (auto i = 0; i < 8; ++i)
    patient = patient.answer(response(200));
  scripted_server server{{patient.stall()}};
  running_client client;
  std::vector<std::future<delivery_reply>> replies;
  for (auto i = 0; i < 8; ++i)
    replies.push_back(client.start(make_delivery(server.url())));
  for (auto& reply : replies)
    CHECK(reply.get().http_status == 200);
  CHECK(server.requests().size() == 8);
  CHECK(server.connections() <= 8);
}

TEST_CASE(
  "a name is looked up and the first address that may be called is "
  "used") {
  scripted_server server{{script{}.answer(response(200)).stall()}};
  auto options = loopback_allowed();
  options.resolver.lookup = [](const std::string& host, const auto& done) {
    CHECK(host == "hooks.example");
    done({{*parse_ip_address("10.0.0.1"), *parse_ip_address("127.0.0.1")}, {}});
  };
  running_client client{std::move(options)};
  CHECK(client.post(server.url("hooks.example")).http_status == 200);
  auto request = server.requests().front();
  CHECK(request.find("\r\nhost: hooks.example:" + std::to_string(server.port())
                     + "\r\n")
        != std::string::npos);
}

TEST_CASE("an address that refuses gives way to the next") {
  scripted_server server{{script{}.answer(response(200)).stall()}};
  auto options = loopback_allowed();
  options.resolver.lookup = [](const std::string&, const auto& done) {
    done({{*parse_ip_address("::1"), *parse_ip_address("127.0.0.2"),
           *parse_ip_address("127.0.0.1")},
          {}});
  };
  running_client client{std::move(options)};
  CHECK(client.post(server.url("hooks.example")).http_status == 200);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("the body of a delivery is the payload byte for byte") {
  auto text = GENERATE(as<std::string>{}, "12345678901234567890.0e+400",
                       R"({"a":1,"a":2,"b":"\u0000\ud800"})", " [ 1 ,\t2 ] ",
                       "\"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\"", "null");
  scripted_server server{{script{}.answer(response(200))}};
  running_client client;
  auto what = make_delivery(server.url());
  what.payload = payload{text};
  CHECK(client.post(what).http_status == 200);
  auto request = server.requests().front();
  CHECK(body_of(request) == webhook_body(what));
  CHECK(body_of(request).find("\"payload\":" + text + ",\"attempt\"")
        != std::string::npos);
  CHECK(request.find("x-simpleq-signature: "
                     + body_signature(what.secrets[0], body_of(request)))
        != std::string::npos);
}

TEST_CASE("a large delivery goes out whole") {
  scripted_server server{{script{}.wait().answer(response(200))}};
  running_client client;
  auto what = make_delivery(server.url());
  what.payload = payload{'"' + std::string(8'000'000, 'x') + '"'};
  CHECK(client.post(what).http_status == 200);
  CHECK(body_of(server.requests().front()) == webhook_body(what));
}

TEST_CASE("only the first 2048 bytes of an answer's body are kept") {
  std::string body(5000, 'x');
  scripted_server server{
    {script{}.answer(response(200, body)).answer(response(200, "second"))}};
  running_client client;
  CHECK(client.post(server.url()).excerpt == std::string(2048, 'x'));
  CHECK(client.post(server.url()).excerpt == "second");
  CHECK(server.connections() == 1);
}

TEST_CASE("interim answers are passed over") {
  scripted_server server{
    {script{}
       .answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n"
               "retry-after: 5\r\n\r\n")
       .wait()
       .send(response(200, "final"))}};
  running_client client;
  auto reply = client.post(server.url());
  CHECK(reply.http_status == 200);
  CHECK(reply.excerpt == "final");
  CHECK(reply.retry_after.empty());
}

TEST_CASE("a redirect is a failure and is never followed") {
  scripted_server target{{script{}.answer(response(200))}};
  scripted_server server{
    {script{}.answer(response(307, "", "location: " + target.url() + "\r\n"))}};
  running_client client;
  CHECK(client.post(server.url()).http_status == 307);
  CHECK(target.connections() == 0);
}

TEST_CASE("a callback may post the next delivery") {
  scripted_server server{
    {script{}.answer(response(200)).answer(response(201))}};
  running_client client;
  std::promise<delivery_reply> second;
  client->post(make_delivery(server.url()), [&](delivery_reply) {
    client->post(make_delivery(server.url()), [&](delivery_reply reply) {
      second.set_value(std::move(reply));
    });
  });
  CHECK(second.get_future().get().http_status == 201);
  CHECK(server.connections() == 1);
}
