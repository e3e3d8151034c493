// Bodies that come bit by bit, over real sockets.

#include <thread>

#include <catch2/catch.hpp>

#include "http/body_stream.hpp"
#include "raw_client.hpp"
#include "test_server.hpp"

using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

const std::string ask_events = "GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n";

/// A body, and what was said about it.
struct watched_stream {
  explicit watched_stream(std::size_t room)
    : body(std::make_shared<body_stream>(room)) {
    body->on_room([count = rooms] { ++*count; });
    body->on_gone([count = gone] { ++*count; });
  }

  response make() const {
    response result{200, {}, {}};
    result.content_type = "text/event-stream";
    result.notice =
      std::make_shared<loss_notice>([body = body] { body->abandon(); });
    result.stream = body;
    return result;
  }

  std::shared_ptr<std::atomic<int>> rooms =
    std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> gone =
    std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<body_stream> body;
};

/// Asks for a stream and answers with it.
void open(test_server& server, raw_client& client, const watched_stream& what,
          const std::string& request = ask_events) {
  auto n = server.requests().kept();
  client.send(request);
  server.requests().await_kept(n + 1);
  server.requests().answer(n, what.make());
}

} // namespace

TEST_CASE("a body that comes bit by bit arrives, and ends the connection") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{1000};
  stream.body->put("first,");
  open(server, client, stream);
  std::thread writer{[&] {
    for (auto text : {"second,", "third"})
      stream.body->put(text);
    stream.body->end();
  }};
  auto got = client.receive().value();
  writer.join();
  CHECK(got.status == 200);
  CHECK(got.header("content-type") == "text/event-stream");
  CHECK(got.header("connection") == "close");
  CHECK(got.header("content-length").empty());
  CHECK(got.body == "first,second,third");
  CHECK(client.is_closed());
}

TEST_CASE("what follows a request for a stream is not read") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{1000};
  open(server, client, stream, ask_events + get("q"));
  stream.body->put("x");
  stream.body->end();
  CHECK(client.receive().value().body == "x");
  CHECK(client.is_closed());
  CHECK(server.requests().handled == 1);
}

TEST_CASE("a stream waits for the answers before it") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{1000};
  client.send(get("slow") + ask_events);
  server.requests().await_kept(2);
  stream.body->put("events");
  stream.body->end();
  server.requests().answer(1, stream.make());
  CHECK(client.is_silent(50ms));
  server.requests().answer(0, "first");
  CHECK(client.receive().value().body == "first");
  CHECK(client.receive().value().body == "events");
}

TEST_CASE("a client that leaves its stream is noticed") {
  test_server server;
  watched_stream stream{1000};
  {
    raw_client client{server.port()};
    open(server, client, stream);
  }
  CHECK(test_server::eventually([&] { return *stream.gone == 1; }));
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
  CHECK_FALSE(stream.body->has_room());
}

TEST_CASE("a client that leaves before its stream begins is noticed") {
  test_server server;
  watched_stream stream{1000};
  {
    raw_client client{server.port()};
    client.send(get("slow") + ask_events);
    server.requests().await_kept(2);
  }
  CHECK(test_server::eventually([&] { return server.requests().is_gone(1); }));
  server.requests().answer(1, stream.make());
  CHECK(test_server::eventually([&] { return *stream.gone == 1; }));
}

TEST_CASE("who only asks for the head of a stream gets no more") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{1000};
  open(server, client, stream, "HEAD /v1/events HTTP/1.1\r\nHost: a\r\n\r\n");
  auto got = client.receive(true).value();
  CHECK(got.header("content-type") == "text/event-stream");
  CHECK(client.is_closed());
  CHECK(*stream.gone == 1);
}

TEST_CASE("a reader that takes nothing holds a bounded number of bytes") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{100'000};
  open(server, client, stream);
  std::size_t sent = 0;
  // What the system itself keeps for a socket is far less than this.
  while (sent < (64u << 20) && test_server::eventually_within(300ms, [&] {
           return stream.body->has_room();
         })) {
    stream.body->put(std::string(50'000, 'x'));
    sent += 50'000;
  }
  CHECK(sent < (32u << 20));
  CHECK(*stream.gone == 0);
  auto rooms = stream.rooms->load();
  stream.body->end();
  CHECK(client.receive().value().body.size() == sent);
  CHECK(rooms <= static_cast<int>(sent / 50'000));
}

TEST_CASE("a writer hears when there is room again") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{10};
  open(server, client, stream);
  stream.body->put("0123456789");
  // Whether the bytes have left by now or not: there is room, or it will be
  // told.
  CHECK(test_server::eventually(
    [&] { return stream.body->has_room() || *stream.rooms > 0; }));
  stream.body->end();
  CHECK(client.receive().value().body == "0123456789");
}

TEST_CASE("a reader that takes nothing for too long is cut off") {
  server_options options;
  options.idle_timeout = 300ms;
  test_server server{options};
  raw_client client{server.port()};
  watched_stream stream{1u << 30};
  open(server, client, stream);
  stream.body->put(std::string(64u << 20, 'x'));
  CHECK(test_server::eventually([&] { return *stream.gone == 1; }));
}

TEST_CASE("a stream may be silent for longer than connections may be idle") {
  server_options options;
  options.idle_timeout = 100ms;
  test_server server{options};
  raw_client client{server.port()};
  watched_stream stream{1000};
  open(server, client, stream);
  CHECK_FALSE(
    test_server::eventually_within(400ms, [&] { return *stream.gone == 1; }));
  stream.body->put("late");
  stream.body->end();
  CHECK(client.receive().value().body == "late");
}

TEST_CASE("streams end when the server stops") {
  test_server server;
  raw_client client{server.port()};
  watched_stream stream{1000};
  open(server, client, stream);
  stream.body->put("last");
  std::atomic<bool> stopped = false;
  server.get().stop([&] { stopped = true; });
  CHECK(client.receive().value().body == "last");
  CHECK(client.is_closed());
  CHECK(test_server::eventually([&] { return stopped.load(); }));
}
