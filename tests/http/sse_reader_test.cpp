// Server-sent events out of a stream's bytes.

#include "http/sse_reader.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace tidegate;
using namespace tidegate::http;

namespace {

/// Reads a stream in pieces of `size` bytes. Returns `type|data` of each event.
std::vector<std::string> read(std::string_view stream, std::size_t size) {
  std::vector<std::string> seen;
  sse_reader reader{[&](const sse_event& event) {
    seen.push_back(event.type + '|' + event.data);
  }};
  for (std::size_t at = 0; at < stream.size(); at += size)
    reader.feed(stream.substr(at, size));
  return seen;
}

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("events are the same however the stream is cut") {
  std::string_view stream =
    ":\n\nretry: 2000\nid: 1\n\n"
    "event: a\nid: 2\ndata: {\"x\": 1}\n\n"
    "data:one\r\ndata: two\r\n\r\n"
    "event: b\rdata\r\r"
    "event: lost without data\n\n"
    "unknown: field\ndata: z\n\n"
    "data: never ended\n";
  strings expected{"a|{\"x\": 1}", "message|one\ntwo", "b|", "message|z"};
  for (std::size_t size = 1; size <= stream.size(); ++size)
    CHECK(read(stream, size) == expected);
}

TEST_CASE("the id of the last whole event is where a stream goes on") {
  sse_reader reader{[](const sse_event&) {}};
  CHECK(reader.last_id().empty());
  reader.feed("id: 7\ndata: x\n");
  CHECK(reader.last_id().empty());
  reader.feed("\n");
  CHECK(reader.last_id() == "7");
  reader.feed("data: y\n\nid: 8\ndata: cut o");
  CHECK(reader.last_id() == "7");
}

TEST_CASE("what a connection left unfinished is forgotten with it") {
  strings seen;
  sse_reader reader{
    [&](const sse_event& event) { seen.push_back(event.data); }};
  reader.feed("id: 7\ndata: x\n\nid: 8\nevent: e\ndata: cut o");
  reader.reset();
  CHECK(reader.last_id() == "7");
  reader.feed("data: y\n\n");
  CHECK(seen == strings{"x", "y"});
  CHECK(reader.last_id() == "7");
}

TEST_CASE("the server says how long to wait, within bounds") {
  sse_reader reader{[](const sse_event&) {}};
  CHECK_FALSE(reader.retry());
  reader.feed(
    "retry: x\nretry: -1\nretry: 99999999999999999999\n"
    "retry: 600001\nretry: 1.5\nretry:\n");
  CHECK_FALSE(reader.retry());
  reader.feed("retry: 250\n");
  CHECK(reader.retry() == duration{250'000});
}

TEST_CASE("an event that is too long is passed over, the next one is not") {
  std::string line(sse_max + 1, 'x');
  CHECK(read("data: " + line + "\n\ndata: y\n\n", 4096)
        == strings{"message|y"});
  std::string half(sse_max / 2 + 1, 'x');
  CHECK(read("data: " + half + "\ndata: " + half + "\n\ndata: y\n\n", 4096)
        == strings{"message|y"});
}
