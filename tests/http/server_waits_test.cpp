// Clients that wait for an answer and go away, and answers that reach nobody.

#include <future>

#include <catch2/catch.hpp>

#include "raw_client.hpp"
#include "test_server.hpp"

using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

/// A response that tells whether it was lost.
class watched_response {
public:
  response make(std::string body = "{}") {
    response result{200, {}, std::move(body)};
    result.notice =
      std::make_shared<loss_notice>([count = lost_] { ++*count; });
    return result;
  }

  int lost() const {
    return *lost_;
  }

private:
  std::shared_ptr<std::atomic<int>> lost_ =
    std::make_shared<std::atomic<int>>(0);
};

const std::string closing = "Connection: close\r\n";

} // namespace

TEST_CASE("a client that closes while it waits counts as gone") {
  test_server server;
  {
    raw_client client{server.port()};
    client.send(consume("wait"));
    server.requests().await_kept(1);
    CHECK_FALSE(server.requests().is_gone(0));
  }
  CHECK(test_server::eventually([&] { return server.requests().is_gone(0); }));
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
}

TEST_CASE("a client that sends nothing more while it waits counts as gone") {
  for (const auto& header : {std::string{}, closing}) {
    test_server server;
    raw_client client{server.port()};
    client.send(consume("wait", header));
    server.requests().await_kept(1);
    client.finish();
    CHECK(
      test_server::eventually([&] { return server.requests().is_gone(0); }));
    CHECK(client.is_closed());
  }
}

TEST_CASE("a call that does not wait is answered after a half-close") {
  test_server server;
  raw_client client{server.port()};
  client.send(consume("now") + get("slow"));
  client.finish();
  server.requests().await_kept(2);
  server.requests().answer(0, "first");
  CHECK(client.receive().value().body == "first");
  server.requests().answer(1, "second");
  CHECK(client.receive().value().body == "second");
  CHECK(client.is_closed());
}

TEST_CASE("whoever waits is gone after a half-close, the others are not") {
  test_server server;
  raw_client client{server.port()};
  watched_response handed_out;
  client.send(get("slow") + consume("wait") + get("slow"));
  server.requests().await_kept(3);
  client.finish();
  CHECK(test_server::eventually([&] { return server.requests().is_gone(1); }));
  server.requests().answer(2, "third");
  server.requests().answer(1, handed_out.make());
  CHECK(test_server::eventually([&] { return handed_out.lost() == 1; }));
  server.requests().answer(0, "first");
  CHECK(client.receive().value().body == "first");
  CHECK(client.receive().value().status == 503);
  CHECK(client.receive().value().body == "third");
  CHECK(client.is_closed());
}

TEST_CASE("a client may send more while it waits") {
  test_server server;
  raw_client client{server.port()};
  client.send(consume("wait"));
  server.requests().await_kept(1);
  client.send(get("q"));
  CHECK(client.is_silent(50ms));
  CHECK_FALSE(server.requests().is_gone(0));
  server.requests().answer(0, "messages");
  CHECK(client.receive().value().body == "messages");
  CHECK(client.receive().value().body == "q:");
}

TEST_CASE("bytes behind the last request do not end a wait") {
  test_server server;
  raw_client client{server.port()};
  client.send(consume("wait", closing) + std::string(100'000, 'x'));
  server.requests().await_kept(1);
  CHECK(client.is_silent(50ms));
  server.requests().answer(0, "messages");
  CHECK(client.receive().value().body == "messages");
}

TEST_CASE("a client that goes is noticed behind requests that are not taken") {
  server_options options;
  options.pipeline_max = 2;
  test_server server{options};
  raw_client client{server.port()};
  client.send(consume("wait") + consume("wait"));
  server.requests().await_kept(2);
  client.finish();
  CHECK(test_server::eventually([&] { return server.requests().is_gone(1); }));
  CHECK(client.is_closed());
}

TEST_CASE(
  "requests before a half-close are served, whoever waits before them") {
  server_options options;
  options.pipeline_max = 2;
  test_server server{options};
  raw_client client{server.port()};
  client.send(consume("wait") + consume("wait") + get("q") + consume("wait"));
  server.requests().await_kept(2);
  client.finish();
  CHECK(test_server::eventually([&] { return server.requests().is_gone(1); }));
  server.requests().answer(0, "messages");
  CHECK(client.receive().value().status == 503);
  server.requests().answer(1, "messages");
  CHECK(client.receive().value().status == 503);
  CHECK(client.receive().value().body == "q:");
  server.requests().await_kept(3);
  CHECK(test_server::eventually([&] { return server.requests().is_gone(2); }));
  CHECK(client.is_closed());
}

TEST_CASE(
  "what is read while an earlier request is taken comes through whole") {
  server_options options;
  options.pipeline_max = 2;
  test_server server{options};
  raw_client client{server.port()};
  client.send(consume("wait") + consume("wait") + get("first"));
  server.requests().await_kept(2);
  // A read is under way now, behind bytes that are about to be taken.
  server.requests().answer(0, "messages");
  CHECK(client.receive().value().body == "messages");
  server.requests().answer(1, "messages");
  CHECK(client.receive().value().body == "messages");
  CHECK(client.receive().value().body == "first:");
  CHECK(client.ask(get("second")).value().body == "second:");
}

TEST_CASE("requests that were read ahead are served in their turn") {
  server_options options;
  options.pipeline_max = 1;
  test_server server{options};
  raw_client client{server.port()};
  client.send(consume("wait"));
  server.requests().await_kept(1);
  std::string more;
  for (auto i = 0; i < 2000; ++i)
    more += post("q", std::to_string(i));
  client.send(more);
  CHECK(client.is_silent(50ms));
  server.requests().answer(0, "messages");
  CHECK(client.receive().value().body == "messages");
  for (auto i = 0; i < 2000; ++i)
    CHECK(client.receive().value().body == "q:" + std::to_string(i));
}

TEST_CASE("an answer that was written is not lost") {
  test_server server;
  watched_response handed_out;
  {
    raw_client client{server.port()};
    client.send(consume("wait"));
    server.requests().await_kept(1);
    server.requests().answer(0, handed_out.make("messages"));
    CHECK(client.receive().value().body == "messages");
  }
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
  CHECK(handed_out.lost() == 0);
}

TEST_CASE("an answer to a connection that is gone is lost") {
  test_server server;
  watched_response handed_out;
  {
    raw_client client{server.port()};
    client.send(consume("wait"));
    server.requests().await_kept(1);
  }
  CHECK(
    test_server::eventually([&] { return server.get().connections() == 0; }));
  server.requests().answer(0, handed_out.make());
  CHECK(test_server::eventually([&] { return handed_out.lost() == 1; }));
}

TEST_CASE(
  "an answer that a client leaves unread is lost when that is cut off") {
  server_options options;
  options.idle_timeout = 300ms;
  test_server server{options};
  watched_response handed_out;
  raw_client client{server.port()};
  client.send(consume("wait"));
  server.requests().await_kept(1);
  server.requests().answer(0, handed_out.make(std::string(64 << 20, 'x')));
  CHECK(test_server::eventually([&] { return handed_out.lost() == 1; }));
}

TEST_CASE("an answer behind one that never comes is lost with the connection") {
  test_server server;
  watched_response handed_out;
  {
    raw_client client{server.port()};
    client.send(get("slow") + consume("wait"));
    server.requests().await_kept(2);
    server.requests().answer(1, handed_out.make());
    CHECK(client.is_silent(50ms));
    CHECK(handed_out.lost() == 0);
    server.get().abort();
  }
  CHECK(test_server::eventually([&] { return handed_out.lost() == 1; }));
}

TEST_CASE("what is refused below /v1/queue/ is refused in its envelope") {
  server_options options;
  options.body_bytes_max = 10;
  test_server server{options};
  raw_client client{server.port()};
  auto got =
    client.ask(consume("01234567890", "X-Request-Id: abc\r\n")).value();
  CHECK(got.status == 413);
  CHECK(got.body.starts_with(
    R"({"ok":false,"error":{"code":"PAYLOAD_TOO_LARGE","message":)"));
  CHECK(got.body.find(R"("metadata":{"request_id":"abc","latency_ms":)")
        != std::string::npos);
}
