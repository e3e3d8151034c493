#include <future>

#include <catch2/catch.hpp>

#include "raw_client.hpp"
#include "test_server.hpp"

using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

/// Stops the server; the result is ready when its last connection is gone.
std::future<void> stop(test_server& what) {
  auto done = std::make_shared<std::promise<void>>();
  auto result = done->get_future();
  what.get().stop([done] { done->set_value(); });
  return result;
}

/// Options for a server whose clients need not be waited for.
server_options impatient() {
  server_options options;
  options.linger_timeout = 100ms;
  return options;
}

bool is_done(const std::future<void>& what) {
  return what.wait_for(10s) == std::future_status::ready;
}

bool can_connect(std::uint16_t port) {
  try {
    raw_client client{port};
    return !client.is_closed();
  } catch (const std::runtime_error&) {
    return false;
  }
}

} // namespace

TEST_CASE("a server without connections stops at once") {
  test_server server;
  CHECK(is_done(stop(server)));
  CHECK_FALSE(can_connect(server.port()));
}

TEST_CASE("idle connections are closed when the server stops") {
  test_server server{{}, 2};
  raw_client one{server.port()};
  raw_client two{server.port()};
  CHECK(one.ask(get("q")).value().status == 200);
  CHECK(two.ask(get("q")).value().status == 200);
  auto stopped = stop(server);
  CHECK(one.is_closed());
  CHECK(two.is_closed());
  CHECK(is_done(stopped));
}

TEST_CASE("a request under way is answered when the server stops") {
  test_server server{impatient()};
  raw_client client{server.port()};
  client.send(get("slow1") + get("slow2"));
  server.requests().await_kept(2);
  auto stopped = stop(server);
  CHECK(test_server::eventually([&] { return !can_connect(server.port()); }));
  CHECK(stopped.wait_for(50ms) == std::future_status::timeout);
  server.requests().answer(0, "first");
  server.requests().answer(1, "second");
  CHECK(client.receive().value().body == "first");
  auto last = client.receive();
  CHECK(last.value().body == "second");
  CHECK(last->header("connection") == "close");
  CHECK(client.is_closed());
  CHECK(is_done(stopped));
}

TEST_CASE("a request that has begun is read to its end when the server stops") {
  test_server server{impatient()};
  raw_client client{server.port()};
  auto text = post("q", "hello");
  client.send(std::string_view{text}.substr(0, text.size() - 3));
  std::this_thread::sleep_for(20ms);
  auto stopped = stop(server);
  CHECK(test_server::eventually([&] { return !can_connect(server.port()); }));
  client.send(std::string_view{text}.substr(text.size() - 3));
  auto got = client.receive();
  CHECK(got.value().body == "q:hello");
  CHECK(got->header("connection") == "close");
  CHECK(is_done(stopped));
}

TEST_CASE("a client that never reads or closes does not keep the server") {
  test_server server{impatient()};
  raw_client client{server.port()};
  client.send(get("slow"));
  server.requests().await_kept(1);
  auto stopped = stop(server);
  server.requests().answer(0, "x");
  CHECK(is_done(stopped));
}

TEST_CASE("an abort drops what is under way") {
  test_server server;
  raw_client client{server.port()};
  client.send(get("slow"));
  server.requests().await_kept(1);
  server.get().abort();
  CHECK(client.is_closed());
  server.requests().answer(0, "nobody");
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
}

TEST_CASE("answers may come from many threads while connections come and go") {
  test_server server{{}, 2};
  std::atomic<bool> done = false;
  std::thread answering{[&] {
    for (std::size_t i = 0; !done; ++i) {
      while (!done && server.requests().kept() <= i)
        std::this_thread::yield();
      if (!done)
        server.requests().answer(i, "x");
    }
  }};
  for (auto i = 0; i < 100; ++i) {
    raw_client client{server.port()};
    client.send(get("slow") + get("q") + get("slow"));
    if (i % 3 == 0)
      continue;
    CHECK(client.receive().value().body == "x");
    CHECK(client.receive().value().body == "q:");
    CHECK(client.receive().value().body == "x");
  }
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
  done = true;
  answering.join();
}
