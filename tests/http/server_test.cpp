#include <catch2/catch.hpp>

#include "raw_client.hpp"
#include "test_server.hpp"

using namespace tidegate::http;
using namespace std::chrono_literals;

TEST_CASE("a connection serves one request after the other") {
  test_server server;
  raw_client client{server.port()};
  for (auto i = 0; i < 100; ++i) {
    auto got = client.ask(post("q", std::to_string(i)));
    REQUIRE(got);
    CHECK(got->status == 200);
    CHECK(got->body == "q:" + std::to_string(i));
    CHECK(got->header("connection").empty());
  }
  CHECK(server.get().connections() == 1);
}

TEST_CASE("pipelined requests are answered in their order") {
  test_server server;
  raw_client client{server.port()};
  std::string all;
  for (auto i = 0; i < 500; ++i)
    all += post("q", std::to_string(i));
  client.send(all);
  for (auto i = 0; i < 500; ++i)
    CHECK(client.receive().value().body == "q:" + std::to_string(i));
}

TEST_CASE("answers that come out of order are put back into it") {
  test_server server;
  raw_client client{server.port()};
  client.send(get("slow1") + get("slow2") + get("q") + get("slow3"));
  server.requests().await_kept(3);
  server.requests().answer(2, "third");
  server.requests().answer(1, "second");
  CHECK(client.is_silent(50ms));
  server.requests().answer(0, "first");
  CHECK(client.receive().value().body == "first");
  CHECK(client.receive().value().body == "second");
  CHECK(client.receive().value().body == "q:");
  CHECK(client.receive().value().body == "third");
}

TEST_CASE("no more requests are read than may wait for their answer") {
  server_options options;
  options.pipeline_max = 4;
  test_server server{options};
  raw_client client{server.port()};
  std::string all;
  for (auto i = 0; i < 10; ++i)
    all += get("slow");
  client.send(all);
  server.requests().await_kept(4);
  CHECK(client.is_silent(50ms));
  CHECK(server.requests().kept() == 4);
  for (std::size_t i = 0; i < 10; ++i) {
    server.requests().await_kept(i + 1);
    server.requests().answer(i, std::to_string(i));
    CHECK(client.receive().value().body == std::to_string(i));
  }
}

TEST_CASE("few reads wait at a time, since their answers may be large") {
  test_server server;
  raw_client client{server.port()};
  std::string all;
  for (auto i = 0; i < 64; ++i)
    all += get("slow");
  client.send(all);
  server.requests().await_kept(4);
  CHECK(client.is_silent(50ms));
  CHECK(server.requests().kept() == 4);
  for (std::size_t i = 0; i < 64; ++i) {
    server.requests().await_kept(i + 1);
    server.requests().answer(i, std::to_string(i));
    CHECK(client.receive().value().body == std::to_string(i));
  }
}

TEST_CASE("no more bodies are read than may wait for their answer") {
  test_server server;
  raw_client client{server.port()};
  auto one = post("slow", std::string(600'000, 'x'));
  std::thread sender{[&] {
    for (auto i = 0; i < 20; ++i)
      client.send(one);
  }};
  server.requests().await_kept(2);
  std::this_thread::sleep_for(100ms);
  CHECK(server.requests().kept() <= 3);
  for (std::size_t i = 0; i < 20; ++i) {
    server.requests().await_kept(i + 1);
    server.requests().answer(i, "x");
    CHECK(client.receive().value().body == "x");
  }
  sender.join();
}

TEST_CASE("a request may come byte by byte") {
  test_server server;
  raw_client client{server.port()};
  for (auto c : post("q", "hello") + get("r"))
    client.send({&c, 1});
  CHECK(client.receive().value().body == "q:hello");
  CHECK(client.receive().value().body == "r:");
}

TEST_CASE("a chunked body arrives whole") {
  test_server server;
  raw_client client{server.port()};
  auto got = client.ask(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Transfer-Encoding: chunked\r\n\r\n"
    "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n");
  CHECK(got.value().body == "q:hello");
  CHECK(client.ask(get("q")).value().status == 200);
}

TEST_CASE("HEAD is answered without a body and the connection goes on") {
  test_server server;
  raw_client client{server.port()};
  client.send("HEAD /v1/queues/abc HTTP/1.1\r\nHost: a\r\n\r\n");
  auto got = client.receive(true);
  CHECK(got.value().status == 200);
  CHECK(got->header("content-length") == "4");
  CHECK(client.ask(get("q")).value().body == "q:");
}

TEST_CASE("a target in absolute form is served") {
  test_server server;
  raw_client client{server.port()};
  auto got = client.ask("GET http://a/v1/queues/q HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(got.value().body == "q:");
}

TEST_CASE("HTTP/1.0 is spoken, and closes unless asked not to") {
  test_server server;
  raw_client client{server.port()};
  auto got = client.ask(
    "GET /v1/queues/q HTTP/1.0\r\n"
    "Connection: keep-alive\r\n\r\n");
  CHECK(got.value().header("connection") == "keep-alive");
  got = client.ask("GET /v1/queues/q HTTP/1.0\r\n\r\n");
  CHECK(got.value().header("connection") == "close");
  CHECK(client.is_closed());
}

TEST_CASE("a client that waits to be told to go on is told so") {
  test_server server;
  raw_client client{server.port()};
  client.send(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.receive().value().status == 100);
  client.send("hi");
  CHECK(client.receive().value().body == "q:hi");
}

TEST_CASE("a client that waits in vain is refused without its body") {
  test_server server;
  raw_client client{server.port()};
  client.send(
    "POST /v1/queues/locked/jobs HTTP/1.1\r\nHost: a\r\n"
    "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.receive().value().status == 401);
  CHECK(client.is_closed());
}

TEST_CASE("every response has a request id, the client's where it is sound") {
  test_server server;
  raw_client client{server.port()};
  auto drawn = client.ask(get("q")).value().header("x-request-id");
  CHECK(drawn.size() == 16);
  CHECK(client.ask(get("q")).value().header("x-request-id") != drawn);
  auto echo = [&](const std::string& id) {
    return client.ask(get("q", "X-Request-Id: " + id + "\r\n"))
      .value()
      .header("x-request-id");
  };
  CHECK(echo("abc-123") == "abc-123");
  CHECK(echo("a b").size() == 16);
  CHECK(echo(std::string(129, 'a')).size() == 16);
  CHECK(client.ask("nonsense\r\n\r\n").value().header("x-request-id").size()
        == 16);
}

TEST_CASE("every response has a date") {
  test_server server;
  raw_client client{server.port()};
  CHECK(client.ask(get("q")).value().header("date").ends_with(" GMT"));
}

TEST_CASE("a request whose responder was dropped is answered 503") {
  test_server server;
  raw_client client{server.port()};
  auto got = client.ask(get("dropped"));
  CHECK(got.value().status == 503);
  CHECK_FALSE(got->header("retry-after").empty());
  CHECK(client.ask(get("q")).value().status == 200);
}

TEST_CASE("a client that has finished sending still gets its answers") {
  test_server server;
  raw_client client{server.port()};
  client.send(get("q") + get("slow"));
  client.finish();
  server.requests().await_kept(1);
  CHECK(client.receive().value().body == "q:");
  server.requests().answer(0, "done");
  CHECK(client.receive().value().body == "done");
  CHECK(client.is_closed());
}

TEST_CASE("an answer for a client that is gone is dropped") {
  test_server server;
  {
    raw_client client{server.port()};
    client.send(get("slow"));
    server.requests().await_kept(1);
  }
  server.requests().answer(0, "nobody");
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
}

TEST_CASE("connections are spread over the threads") {
  test_server server{{}, 2};
  std::vector<raw_client> clients;
  for (auto i = 0; i < 8; ++i)
    clients.emplace_back(server.port());
  for (auto round = 0; round < 20; ++round) {
    for (auto& client : clients)
      client.send(post("q", "x"));
    for (auto& client : clients)
      CHECK(client.receive().value().body == "q:x");
  }
}

TEST_CASE("a port that is taken is said so") {
  test_server first;
  server_options options;
  options.address = "nonsense";
  CHECK_THROWS_WITH(test_server{options}, "'nonsense' is no IP address");
}
