#include "http/response_writer.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

std::string written(const response& what, response_frame frame) {
  frame.request_id = "id";
  std::string out;
  append_response(out, what, frame, "now");
  return out;
}

} // namespace

TEST_CASE("a response has its status line, headers and body") {
  CHECK(written({201, {{"x-a", "b"}}, "{}"}, {})
        == "HTTP/1.1 201 Created\r\ndate: now\r\nx-request-id: id\r\n"
           "x-a: b\r\ncontent-type: application/json\r\n"
           "content-length: 2\r\n\r\n{}");
}

TEST_CASE("a body that is not JSON says what it is") {
  response what{200, {}, "a{}"};
  what.content_type = "text/css";
  auto text = written(what, {});
  CHECK(text.find("content-type: text/css\r\n") != std::string::npos);
  CHECK(text.find("application/json") == std::string::npos);
}

TEST_CASE("a 304 has neither body nor length") {
  CHECK(written({304, {{"etag", "\"a\""}}, {}}, {})
        == "HTTP/1.1 304 Not Modified\r\ndate: now\r\nx-request-id: id\r\n"
           "etag: \"a\"\r\n\r\n");
}

TEST_CASE("a 204 has neither body nor length") {
  CHECK(written({204, {}, {}}, {})
        == "HTTP/1.1 204 No Content\r\ndate: now\r\nx-request-id: id\r\n\r\n");
}

TEST_CASE("an answer to HEAD has the length of the body that it leaves out") {
  auto text = written({200, {}, "12345"}, {true, true, false, {}, {}, {}});
  CHECK(text.find("content-length: 5\r\n") != std::string::npos);
  CHECK(text.ends_with("\r\n\r\n"));
}

TEST_CASE("the connection header says only what is not understood anyway") {
  auto says = [](response_frame frame) {
    auto text = written({200, {}, {}}, frame);
    auto at = text.find("connection: ");
    return at == std::string::npos ? "" : text.substr(at + 12, 5);
  };
  CHECK(says({true, false, false, {}}) == "");
  CHECK(says({false, false, false, {}}) == "close");
  CHECK(says({true, false, true, {}}) == "keep-");
  CHECK(says({false, false, true, {}}) == "close");
}

TEST_CASE("the date is one that HTTP knows") {
  date_cache dates;
  auto text = dates.now();
  CHECK(text.size() == 29);
  CHECK(text.substr(3, 2) == ", ");
  CHECK(text.ends_with(" GMT"));
}

TEST_CASE("request ids are taken over only where they are harmless") {
  CHECK(is_request_id("a-Z_0.9"));
  CHECK(is_request_id(std::string(128, 'a')));
  for (std::string_view text : {"", " ", "a b", "a\r\nb", "\xc3\xa4", "a,b"})
    CHECK_FALSE(is_request_id(text));
  CHECK_FALSE(is_request_id(std::string(129, 'a')));
}

TEST_CASE("request ids are drawn without repetition") {
  request_ids ids;
  request_ids others;
  std::set<std::string> seen;
  for (auto i = 0; i < 10'000; ++i) {
    CHECK(seen.insert(ids.next()).second);
    CHECK(seen.insert(others.next()).second);
  }
  CHECK(seen.begin()->size() == 16);
  CHECK(is_request_id(*seen.begin()));
}

TEST_CASE("an envelope has the request id and the time that it took") {
  response_frame frame;
  frame.since = std::chrono::steady_clock::now();
  auto text = written({200, {}, "[1]", body_shape::data}, frame);
  auto body = text.substr(text.find("\r\n\r\n") + 4);
  CHECK(body.starts_with(
    R"({"ok":true,"data":[1],"metadata":{"request_id":"id","latency_ms":)"));
  CHECK(body.ends_with("}}"));
  CHECK(text.find("content-length: " + std::to_string(body.size()) + "\r\n")
        != std::string::npos);
  text = written({409, {}, "{}", body_shape::error}, frame);
  CHECK(text.find(R"({"ok":false,"error":{},"metadata":{"request_id":"id")")
        != std::string::npos);
}

TEST_CASE("the length of an envelope is told to HEAD as well") {
  response_frame frame;
  frame.head_only = true;
  frame.since = std::chrono::steady_clock::now();
  auto text = written({200, {}, "[1]", body_shape::data}, frame);
  CHECK(text.ends_with("\r\n\r\n"));
  CHECK(text.find("content-length: 3\r\n") == std::string::npos);
}
