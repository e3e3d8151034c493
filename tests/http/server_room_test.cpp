// More is sent than there is room for: who comes last is told so at once.

#include <catch2/catch.hpp>

#include "http/body_room.hpp"
#include "raw_client.hpp"
#include "test_server.hpp"

using namespace tidegate::http;

namespace {

/// Room for two of the largest bodies.
server_options tight(std::size_t largest) {
  server_options options;
  options.body_bytes_max = largest;
  options.batch_bytes_max = largest;
  options.bodies_bytes_max = 2 * largest;
  return options;
}

/// Clients whose publishes of that size are not answered yet.
class waiting_clients {
public:
  waiting_clients(test_server& server, std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<raw_client>(server.port()));
      clients_.back()->send(post("slow", std::string(bytes, 'x')));
    }
    server.requests().await_kept(count);
  }

  raw_client& operator[](std::size_t i) {
    return *clients_[i];
  }

private:
  std::vector<std::unique_ptr<raw_client>> clients_;
};

void check_refused(const raw_response& got) {
  CHECK(got.status == 503);
  CHECK(got.header("retry-after") == "1");
  CHECK(got.body.find("\"overloaded\"") != std::string::npos);
}

} // namespace

TEST_CASE("a publish that there is no room for is refused, others are not") {
  test_server server{tight(10'000)};
  waiting_clients others{server, 1, 9'000};
  raw_client client{server.port()};
  auto publish = post("q", std::string(8'000, 'x'));
  check_refused(client.ask(publish).value());
  // Whoever reports what became of a job makes room.
  auto ack =
    "POST /v1/jobs/j/ack HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 2\r\n\r\n{}";
  CHECK(client.ask(ack).value().status == 200);
  CHECK(client.ask(get("q")).value().status == 200);
  server.requests().answer(0, "stored");
  CHECK(others[0].receive().value().body == "stored");
  CHECK(client.ask(publish).value().status == 200);
}

TEST_CASE("a small publish takes room beside its body, too") {
  test_server server{tight(10'000)};
  waiting_clients others{server, 9, 10};
  raw_client client{server.port()};
  check_refused(client.ask(post("q", "1")).value());
  server.requests().answer(4, "stored");
  CHECK(client.ask(post("q", "1")).value().status == 200);
}

TEST_CASE("a small publish is refused by its head, and its body is dropped") {
  test_server server{tight(10'000)};
  waiting_clients others{server, 1, 9'000};
  raw_client client{server.port()};
  auto publish = post("q", std::string(9'000, 'x'));
  const auto cut = publish.size() - 8'000;
  check_refused(client.ask(publish.substr(0, cut)).value());
  CHECK(client.send(publish.substr(cut, 4'000)));
  CHECK(client.is_silent(std::chrono::milliseconds{20}));
  auto got = client.ask(publish.substr(cut + 4'000) + get("q"));
  CHECK(got.value().body == "q:");
  server.requests().answer(0, "stored");
  CHECK(client.ask(publish).value().status == 200);
  CHECK(server.requests().body_bytes == 18'000);
}

TEST_CASE("a refused body that does not come ends the connection in time") {
  auto options = tight(10'000);
  options.request_timeout = std::chrono::milliseconds{50};
  test_server server{options};
  waiting_clients others{server, 1, 9'000};
  raw_client client{server.port()};
  auto publish = post("q", std::string(9'000, 'x'));
  check_refused(client.ask(publish.substr(0, 5'000)).value());
  CHECK(client.is_closed());
}

TEST_CASE("a server that ends does not wait for a refused body") {
  test_server server{tight(10'000)};
  waiting_clients others{server, 1, 9'000};
  raw_client client{server.port()};
  auto publish = post("q", std::string(9'000, 'x'));
  check_refused(client.ask(publish.substr(0, 5'000)).value());
  server.get().stop([] {});
  CHECK(client.is_closed());
}

TEST_CASE("who waits to send a body is refused without it") {
  test_server server{tight(10'000)};
  waiting_clients others{server, 1, 9'000};
  raw_client client{server.port()};
  auto got = client.ask(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 9000\r\nExpect: 100-continue\r\n\r\n");
  check_refused(got.value());
  // It may send the body or not: nobody can tell what comes next.
  CHECK(got->header("connection") == "close");
  CHECK(client.is_closed());
}

TEST_CASE("a large body that there is no room for is refused before it comes") {
  test_server server{tight(100'000)};
  waiting_clients others{server, 2, 90'000};
  raw_client client{server.port()};
  auto got = client.ask(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 90000\r\n\r\n");
  check_refused(got.value());
  CHECK(got->header("connection") == "close");
  CHECK(client.is_closed());
}

TEST_CASE("a body of unknown size is refused where the room ends") {
  test_server server{tight(100'000)};
  waiting_clients others{server, 2, 90'000};
  raw_client client{server.port()};
  client.send(
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Transfer-Encoding: chunked\r\n\r\n");
  client.send("10000\r\n" + std::string(0x10000, 'x') + "\r\n");
  check_refused(client.receive().value());
  CHECK(client.is_closed());
}

TEST_CASE("a client that goes away amid its body leaves its room to others") {
  test_server server{tight(100'000)};
  waiting_clients others{server, 1, 90'000};
  auto head =
    "POST /v1/queues/q/jobs HTTP/1.1\r\nHost: a\r\n"
    "Content-Length: 90000\r\n\r\n";
  {
    raw_client gone{server.port()};
    gone.send(head);
    CHECK(test_server::eventually([&] {
      return raw_client{server.port()}.ask(head).value().status == 503;
    }));
  }
  CHECK(test_server::eventually([&] {
    raw_client client{server.port()};
    return client.ask(post("q", std::string(90'000, 'x'))).value().status
           == 200;
  }));
}

TEST_CASE("the largest request has room where it is the only one") {
  body_room room{10};
  body_hold large;
  body_hold small;
  CHECK(large.resize(room, 20));
  CHECK_FALSE(small.resize(room, 1));
  CHECK(small.bytes() == 0);
  CHECK(large.resize(room, 9));
  CHECK(small.resize(room, 1));
  CHECK_FALSE(small.resize(room, 2));
  CHECK(small.bytes() == 1);
  auto moved = std::move(large);
  CHECK(room.taken() == 10);
  moved.release();
  moved.release();
  CHECK(room.taken() == 1);
}
