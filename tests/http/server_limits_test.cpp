#include <catch2/catch.hpp>

#include "raw_client.hpp"
#include "test_server.hpp"

using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

server_options small() {
  server_options options;
  options.body_bytes_max = 1000;
  options.header_bytes_max = 1000;
  return options;
}

} // namespace

TEST_CASE("a body at the limit is taken, one beyond it is 413 at once") {
  test_server server{small()};
  raw_client client{server.port()};
  CHECK(client.ask(post("q", std::string(1000, 'x'))).value().status == 200);
  auto got = client.ask(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 1001\r\n\r\n");
  CHECK(got.value().status == 413);
  CHECK(got->header("connection") == "close");
  CHECK(got->body.find("payload_too_large") != std::string::npos);
  CHECK(client.is_closed());
}

TEST_CASE("whatever is refused is told, under the id of its answer") {
  auto options = small();
  options.request_timeout = 300ms;
  test_server server{options};
  auto refused = [&](const std::string& text) {
    raw_client client{server.port()};
    auto got = client.ask(text);
    REQUIRE(got);
    auto told = server.requests().refusals();
    REQUIRE(!told.empty());
    auto id = got->header("x-request-id");
    CHECK(told.back().starts_with(std::string{id} + ' '));
    return told.back().substr(id.size() + 1);
  };
  CHECK(refused("NONSENSE\r\n\r\n") == "400");
  CHECK(refused(get("q", "X-A: " + std::string(1000, 'x') + "\r\n")) == "431");
  CHECK(refused(get("locked")) == "401");
  CHECK(refused(get("locked", "x-request-id: mine\r\n")) == "401");
  CHECK(refused(post("q", std::string(1001, 'x'))) == "413 jobs.publish");
  CHECK(refused("POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
                "Content-Length: 10\r\n\r\nabc")
        == "408 jobs.publish");
  CHECK(refused("POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
                "Transfer-Encoding: chunked\r\n\r\nno size\r\n")
        == "400 jobs.publish");
  CHECK(refused("GET /v1/que") == "408");
  CHECK(refused(get("forbidden")) == "403 queues.get");
  CHECK(server.requests().refusals().size() == 9);
  raw_client client{server.port()};
  CHECK(client.ask(get("q")).value().status == 200);
  CHECK(server.requests().refusals().size() == 9);
}

TEST_CASE("a request that is refused for its head keeps the id it was given") {
  test_server server{small()};
  auto id_of = [&](const std::string& line, const std::string& rest) {
    raw_client client{server.port()};
    auto got = client.ask(line + " HTTP/1.1\r\nHost: a\r\n"
                          + "X-Request-Id: mine\r\n" + rest);
    return std::string{got.value().header("x-request-id")};
  };
  for (const auto* rest :
       {"Transfer-Encoding: gzip\r\n\r\n", "Expect: magic\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "Host: b\r\n\r\n",
        "No field\r\n\r\n"}) {
    CAPTURE(rest);
    CHECK(id_of("POST /v1/queues/q/jobs", rest) == "mine");
  }
  CHECK(id_of("NONSENSE", "\r\n") != "mine");
}

TEST_CASE("many jobs at once may be larger than other bodies") {
  auto options = small();
  options.batch_bytes_max = 2000;
  test_server server{options};
  auto batch = [](std::size_t bytes) {
    return "POST /v1/queues/q/jobs/batch HTTP/1.1\r\nHost: a\r\n"
           "Content-Length: "
           + std::to_string(bytes) + "\r\n\r\n";
  };
  raw_client client{server.port()};
  auto whole = batch(2000) + std::string(2000, 'x');
  CHECK(client.ask(whole).value().status == 200);
  CHECK(client.ask(post("q", std::string(1000, 'x'))).value().status == 200);
  CHECK(client.ask(batch(2001)).value().status == 413);
  raw_client other{server.port()};
  CHECK(other.ask(post("q", std::string(1001, 'x'))).value().status == 413);
}

TEST_CASE("a client that sends all of a large body sees the 413") {
  test_server server{small()};
  raw_client client{server.port()};
  CHECK(client.send(post("q", std::string(4'000'000, 'x'))));
  CHECK(client.receive().value().status == 413);
  CHECK(client.is_closed());
  CHECK(server.requests().handled == 0);
}

TEST_CASE("a chunked body beyond the limit is 413") {
  test_server server{small()};
  raw_client client{server.port()};
  client.send(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Transfer-Encoding: chunked\r\n\r\n");
  for (auto i = 0; i < 100; ++i)
    client.send("10\r\n0123456789abcdef\r\n");
  CHECK(client.receive().value().status == 413);
  CHECK(client.is_closed());
}

TEST_CASE("an endless body of a stranger is cut off and not kept") {
  auto options = small();
  options.linger_bytes_max = 100'000;
  test_server server{options};
  raw_client client{server.port()};
  client.send(
    "POST /v1/queues/locked/jobs HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 10000000000\r\n\r\n");
  const std::string block(64 * 1024, 'x');
  auto sent = 0;
  while (client.send(block) && sent < 10'000)
    ++sent;
  CHECK(sent < 10'000);
  CHECK(server.requests().body_bytes == 0);
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
}

TEST_CASE("a head beyond the limit is 431") {
  test_server server{small()};
  raw_client client{server.port()};
  auto got = client.ask(get("q", "X-A: " + std::string(1000, 'x') + "\r\n"));
  CHECK(got.value().status == 431);
  CHECK(client.is_closed());
  raw_client endless{server.port()};
  CHECK(endless.ask("GET /" + std::string(1000, 'x')).value().status == 431);
}

TEST_CASE("a huge number of headers is 431") {
  test_server server;
  raw_client client{server.port()};
  std::string headers;
  for (auto i = 0; i < 3000; ++i)
    headers += "x" + std::to_string(i) + ": y\r\n";
  CHECK(client.ask(get("q", headers)).value().status == 431);
}

TEST_CASE("many headers within the limit are fine") {
  test_server server;
  raw_client client{server.port()};
  std::string headers;
  for (auto i = 0; i < 1000; ++i)
    headers += "x" + std::to_string(i) + ": y\r\n";
  CHECK(client.ask(get("q", headers)).value().status == 200);
}

TEST_CASE("a refused request without a body leaves the connection open") {
  test_server server;
  raw_client client{server.port()};
  CHECK(client.ask(get("locked")).value().status == 401);
  CHECK(client.ask("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n").value().status
        == 404);
  CHECK(client.ask(get("q")).value().status == 200);
}

TEST_CASE("a refused request with a body ends the connection in its turn") {
  test_server server;
  raw_client client{server.port()};
  client.send(get("slow") + post("locked", "x") + get("q"));
  server.requests().await_kept(1);
  CHECK(client.is_silent(50ms));
  server.requests().answer(0, "first");
  CHECK(client.receive().value().body == "first");
  auto refused = client.receive();
  CHECK(refused.value().status == 401);
  CHECK(refused->header("connection") == "close");
  CHECK(client.is_closed());
  CHECK(server.requests().handled == 1);
}

TEST_CASE("shapes that smuggle requests are 400 and end the connection") {
  test_server server;
  for (const auto& head : std::vector<std::string>{
         "Content-Length: 5\r\nContent-Length: 5\r\n",
         "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
         "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
         "Content-Length : 5\r\n", "X-A: b\r\n Content-Length: 5\r\n",
         "X-A: b\nContent-Length: 5\r\n", "X-A: b\rContent-Length: 5\r\n",
         "Authorization: a\r\nAuthorization: b\r\nContent-Length: 5\r\n"}) {
    CAPTURE(head);
    raw_client client{server.port()};
    auto got = client.ask("POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
                          + head + "\r\n0\r\n\r\n" + get("smuggled"));
    CHECK(got.value().status == 400);
    CHECK(got->header("connection") == "close");
    CHECK(client.is_closed());
  }
  CHECK(server.requests().handled == 0);
}

TEST_CASE("what is no HTTP is 400 and ends the connection") {
  test_server server;
  for (auto text :
       {"nonsense\r\n\r\n", "\x16\x03\x01\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"}) {
    raw_client client{server.port()};
    auto got = client.ask(text);
    CHECK(got.value().status == 400);
    CHECK(got->body.find("bad_request") != std::string::npos);
    CHECK(client.is_closed());
  }
}

TEST_CASE("one deadline covers the whole of a request, dripping or not") {
  server_options options;
  options.request_timeout = 300ms;
  test_server server{options};
  auto start = std::chrono::steady_clock::now();
  raw_client client{server.port()};
  for (auto c : get("q")) {
    client.send({&c, 1});
    std::this_thread::sleep_for(15ms);
  }
  auto got = client.receive();
  CHECK(got.value().status == 408);
  CHECK(got->header("connection") == "close");
  CHECK(client.is_closed());
  CHECK(std::chrono::steady_clock::now() - start >= 300ms);
}

TEST_CASE("the deadline covers the body too") {
  server_options options;
  options.request_timeout = 200ms;
  test_server server{options};
  raw_client client{server.port()};
  auto got = client.ask(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 5\r\n\r\nhe");
  CHECK(got.value().status == 408);
}

TEST_CASE("the deadline does not cover the answer") {
  server_options options;
  options.request_timeout = 100ms;
  options.idle_timeout = 150ms;
  test_server server{options};
  raw_client client{server.port()};
  client.send(post("slow", "x"));
  server.requests().await_kept(1);
  CHECK(client.is_silent(400ms));
  server.requests().answer(0, "late");
  CHECK(client.receive().value().body == "late");
}

TEST_CASE("each request has a deadline of its own") {
  server_options options;
  options.request_timeout = 250ms;
  test_server server{options};
  raw_client client{server.port()};
  for (auto i = 0; i < 4; ++i) {
    client.send("GET /v1/queues/q HTTP/1.1\r\n");
    std::this_thread::sleep_for(100ms);
    CHECK(client.ask("Host: a\r\n\r\n").value().status == 200);
  }
}

TEST_CASE("a connection with nothing going on is closed in silence") {
  server_options options;
  options.idle_timeout = 200ms;
  test_server server{options};
  raw_client fresh{server.port()};
  raw_client used{server.port()};
  CHECK(used.ask(get("q")).value().status == 200);
  CHECK(fresh.is_closed());
  CHECK(used.is_closed());
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
}

TEST_CASE("a client that does not read its answers is dropped") {
  server_options options;
  options.idle_timeout = 300ms;
  test_server server{options};
  raw_client client{server.port()};
  auto one = post("q", std::string(500'000, 'x'));
  std::thread sender{[&] {
    while (client.send(one)) {
      // nop
    }
  }};
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
  sender.join();
  CHECK(server.requests().handled < 100);
}

TEST_CASE("one connection too many is told so") {
  server_options options;
  options.connections_max = 2;
  test_server server{options};
  {
    raw_client first{server.port()};
    raw_client second{server.port()};
    CHECK(first.ask(get("q")).value().status == 200);
    CHECK(second.ask(get("q")).value().status == 200);
    raw_client third{server.port()};
    auto got = third.receive();
    CHECK(got.value().status == 503);
    CHECK_FALSE(got->header("retry-after").empty());
    CHECK(third.is_closed());
    CHECK(first.ask(get("q")).value().status == 200);
  }
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
  raw_client again{server.port()};
  CHECK(again.ask(get("q")).value().status == 200);
}
