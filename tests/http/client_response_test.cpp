// The reader of responses, fed in every way that a network might.

#include <catch2/catch.hpp>

#include "http/client_response.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

using state = response_reader::state;

// Feeds `bytes` in pieces of `size`; returns what the reader left over.
std::string feed(response_reader& reader, const std::string& bytes,
                 std::size_t size) {
  std::string waiting;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    waiting += bytes.substr(i, size);
    if (reader.now() == state::head || reader.now() == state::body)
      waiting.erase(0, reader.feed(waiting));
  }
  return waiting;
}

} // namespace

TEST_CASE("a response reads the same in pieces of any size") {
  auto size = GENERATE(range(1, 130));
  response_reader reader{{}};
  auto left = feed(reader,
                   "HTTP/1.1 102 Processing\r\nretry-after: 1\r\n\r\n"
                   "HTTP/1.1 429 Slow down\r\nRetry-After: 2\r\nDATE: now\r\n"
                   "retry-after: 3\r\ntransfer-encoding: chunked\r\n\r\n"
                   "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nretry-after: 4\r\n\r\n",
                   static_cast<std::size_t>(size));
  CHECK(left.empty());
  REQUIRE(reader.now() == state::done);
  CHECK(reader.reusable());
  delivery_reply reply;
  reader.move_to(reply);
  CHECK(reply.http_status == 429);
  CHECK(reply.retry_after == std::vector<std::string>{"2", "3"});
  CHECK(reply.date == "now");
  CHECK(reply.excerpt == "abcde");
}

TEST_CASE("the head has a limit and interim responses count") {
  auto [start, piece] = GENERATE(table<std::string, std::string>({
    {"HTTP/1.1 200 OK\r\n", "a: b\r\n"},
    {"HTTP/1.1 200 OK\r\na: ", "x"},
    {"HTTP/1.1 200 ", "x"},
    {"", "HTTP/1.1 100 Continue\r\n\r\n"},
  }));
  auto size = GENERATE(1u, 7u, 5000u);
  auto bytes = start;
  while (bytes.size() <= response_limits{}.head_max)
    bytes += piece;
  response_reader reader{{}};
  feed(reader, bytes, size);
  CHECK(reader.now() == state::malformed);
}

TEST_CASE("a head as long as the limit is read") {
  auto size = GENERATE(1000u, 100000u);
  std::string start = "HTTP/1.1 200 OK\r\nx: ";
  std::string end = "\r\ncontent-length: 0\r\n\r\n";
  auto room = response_limits{}.head_max - start.size() - end.size();
  response_reader reader{{}};
  feed(reader, start + std::string(room, 'y') + end, size);
  CHECK(reader.now() == state::done);
  response_reader stricter{{}};
  feed(stricter, start + std::string(room + 1, 'y') + end, size);
  CHECK(stricter.now() == state::malformed);
}

TEST_CASE("a body up to the cap leaves the connection usable") {
  auto over = GENERATE(0u, 10000u);
  auto length = response_limits{}.body_max + over;
  response_reader reader{{}};
  feed(reader,
       "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(length)
         + "\r\n\r\n" + std::string(length, 'x'),
       4096);
  CHECK(reader.now() == state::done);
  CHECK(reader.reusable() == (over == 0));
}

TEST_CASE("only a complete response leaves the connection usable") {
  response_reader reader{{}};
  SECTION("the stream ends early") {
    feed(reader, "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab", 100);
    reader.end_of_stream();
  }
  SECTION("the stream is the body") {
    feed(reader, "HTTP/1.1 200 OK\r\n\r\nab", 100);
    reader.end_of_stream();
  }
  SECTION("the body makes no sense") {
    feed(reader,
         "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
         "2\r\nabxxxx\r\n",
         100);
  }
  CHECK(reader.now() == state::done);
  CHECK_FALSE(reader.reusable());
  delivery_reply reply;
  reader.move_to(reply);
  CHECK(reply.http_status == 200);
  CHECK(reply.excerpt == "ab");
}

TEST_CASE("a length together with chunks is malformed") {
  response_reader reader{{}};
  feed(reader,
       "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n"
       "transfer-encoding: chunked\r\n\r\n",
       100);
  CHECK(reader.now() == state::malformed);
  CHECK_FALSE(reader.complaint().empty());
}
