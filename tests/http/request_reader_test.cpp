#include "http/request_reader.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

using step = request_reader::step;

/// A reader that is fed from strings.
struct fixture {
  static constexpr std::size_t body_max = 2048;

  request_reader reader{1024};

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      auto room = reader.prepare();
      auto n = std::min(room.size(), bytes.size());
      std::copy_n(bytes.begin(), n, room.begin());
      reader.commit(n);
      bytes.remove_prefix(n);
    }
  }

  /// Reads the head of `bytes`, which has to be there.
  step head_of(std::string_view bytes) {
    feed(bytes);
    return reader.advance();
  }

  /// Returns what is wrong with `bytes`; nothing where all is well so far.
  std::optional<problem> fault_in(std::string_view bytes) {
    feed(bytes);
    for (;;)
      switch (reader.advance()) {
        case step::fault:
          return reader.fault();
        case step::head:
          reader.read_body(body_max);
          break;
        case step::complete:
          reader.next();
          break;
        case step::need_more:
          return std::nullopt;
      }
  }
};

std::optional<problem> fault_in(std::string_view bytes) {
  return fixture{}.fault_in(bytes);
}

/// Returns what is wrong with `text` that comes in pieces of that many bytes.
std::optional<problem> fault_in_pieces(std::string_view text,
                                       std::size_t piece) {
  fixture f;
  std::optional<problem> found;
  for (std::size_t i = 0; i < text.size() && !found; i += piece)
    found = f.fault_in(text.substr(i, piece));
  return found;
}

const std::string start = "POST / HTTP/1.1\r\nHost: a\r\n";

} // namespace

TEST_CASE("a request is read whatever pieces it comes in") {
  const auto text = start + "X-A: b\r\nContent-Length: 5\r\n\r\nhello";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    fixture f;
    auto heads = 0;
    auto done = false;
    for (std::size_t i = 0; i < text.size(); i += piece) {
      f.feed(std::string_view{text}.substr(i, piece));
      for (auto s = f.reader.advance(); s != step::need_more;
           s = f.reader.advance()) {
        REQUIRE(s != step::fault);
        if (s == step::complete) {
          done = true;
          break;
        }
        ++heads;
        CHECK(f.reader.head().method == "POST");
        CHECK(find_header(f.reader.head(), "x-a") == "b");
        f.reader.read_body(f.body_max);
      }
    }
    CHECK(heads == 1);
    REQUIRE(done);
    CHECK(f.reader.take_body() == "hello");
    f.reader.next();
    CHECK(f.reader.is_idle());
  }
}

TEST_CASE("a buffer that is being filled stays where it is") {
  fixture f;
  f.feed("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  auto room = f.reader.prepare();
  for (auto target : {"/1", "/2"}) {
    REQUIRE(f.reader.advance() == step::head);
    CHECK(f.reader.head().target == target);
    f.reader.read_body(f.body_max);
    REQUIRE(f.reader.advance() == step::complete);
    f.reader.next();
    if (target == std::string_view{"/2"})
      break;
    CHECK(f.reader.advance() == step::need_more);
    std::string_view second = "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
    std::copy(second.begin(), second.end(), room.begin());
    f.reader.commit(second.size());
  }
  CHECK(f.reader.is_idle());
}

TEST_CASE("a body that nobody wants is dropped, in whatever pieces it comes") {
  const auto body = std::string(40, 'x');
  const auto text = start + "Content-Length: 40\r\n\r\n";
  const auto next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t there = 0; there <= body.size(); ++there) {
    fixture f;
    REQUIRE(f.head_of(text + body.substr(0, there)) == step::head);
    f.reader.skip_body();
    CHECK(f.reader.is_skipping() == (there < body.size()));
    CHECK(f.reader.is_idle() == (there == body.size()));
    CHECK(f.reader.advance() == step::need_more);
    auto middle = (there + body.size()) / 2;
    f.feed(std::string_view{body}.substr(there, middle - there));
    CHECK(f.reader.advance() == step::need_more);
    f.feed(body.substr(middle) + next);
    REQUIRE(f.reader.advance() == step::head);
    CHECK(f.reader.head().target == "/next");
    CHECK_FALSE(f.reader.is_skipping());
  }
}

TEST_CASE("a chunked body is put together, trailers and extensions dropped") {
  fixture f;
  CHECK(f.head_of(start
                  + "Transfer-Encoding: chunked\r\n\r\n"
                    "2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n")
        == step::head);
  f.reader.read_body(f.body_max);
  CHECK(f.reader.advance() == step::complete);
  CHECK(f.reader.take_body() == "hello");
}

TEST_CASE("empty lines in front of a request are passed over") {
  fixture f;
  CHECK(f.head_of("\r\n\r\n") == step::need_more);
  CHECK(f.reader.is_idle());
  CHECK(f.head_of("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n") == step::head);
}

TEST_CASE(
  "requests that two readers could understand differently are refused") {
  for (const auto& fields : std::vector<std::string>{
         "Content-Length: 1\r\nContent-Length: 1\r\n",
         "Content-Length: 1\r\nContent-Length: 2\r\n",
         "Content-Length: 1, 1\r\n",
         "Content-Length: +1\r\n",
         "Content-Length: -1\r\n",
         "Content-Length: 0x1\r\n",
         "Content-Length: 1 1\r\n",
         "Content-Length:\r\n",
         "Content-Length: 99999999999999999999\r\n",
         "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
         "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
         "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
         "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
         "Transfer-Encoding: identity\r\nContent-Length: 1\r\n",
         "Content-Length : 1\r\n",
         "X A: 1\r\n",
         ": 1\r\n",
         "X-A\r\n",
         "Host: b\r\n",
         "Content-Length\t: 1\r\n",
         "Content-Length: 1\n",
         "X-A: a\nX-B: b\r\n",
         "X-A: a\rX-B: b\r\n",
         "X-A: a\r\n b\r\n",
         "X-A: a\r\n\tb\r\n",
         "X-A:\r\n Content-Length: 1\r\n",
         " X-A: a\r\n",
         "X-A: a\r\r\n",
         "Authorization: a\r\nAuthorization: b\r\n",
         "Authorization: a\r\nauthorization: a\r\n",
         "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"}) {
    CAPTURE(fields);
    CHECK(fault_in(start + fields + "\r\nx") == problem::bad_request);
  }
}

TEST_CASE("what cannot name a host is refused as one") {
  for (auto host : {"a b", "a/", "a?b", "a#b", "me@a", "a\\b", "a\tb", "<a>",
                    "a, b/", "\xc3\xa4"}) {
    CAPTURE(host);
    CHECK(fault_in("GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n")
          == problem::bad_request);
  }
  for (auto host : {"", "a", "a.example:8080", "[::1]:80", "a_b~%20"}) {
    CAPTURE(host);
    CHECK_FALSE(
      fault_in("GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n"));
  }
}

TEST_CASE("transfer codings other than chunked are not understood") {
  for (auto coding : {"gzip", "gzip, chunked", "chunked, chunked", "identity",
                      "xchunked", "chunked;q=1"}) {
    CAPTURE(coding);
    CHECK(fault_in(start + "Transfer-Encoding: " + coding + "\r\n\r\n")
            .has_value());
  }
  CHECK(fault_in("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
        == problem::bad_request);
}

TEST_CASE("bad request lines are refused") {
  for (auto line : {"GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 x",
                    " GET / HTTP/1.1", "GET / http/1.1", "GET / HTTP/1",
                    "G(T / HTTP/1.1", "GET", "GET /a b HTTP/1.1", "/ HTTP/1.1",
                    "\x16\x03\x01", "GET /\x01 HTTP/1.1"}) {
    CAPTURE(line);
    CHECK(fault_in(std::string{line} + "\r\nHost: a\r\n\r\n")
          == problem::bad_request);
  }
}

TEST_CASE("versions other than 1.0 and 1.1 are refused") {
  CHECK(fault_in("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == problem::bad_request);
  CHECK(fault_in("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == problem::bad_request);
}

TEST_CASE("HTTP/1.1 needs a host, HTTP/1.0 does not") {
  CHECK(fault_in("GET / HTTP/1.1\r\n\r\n") == problem::bad_request);
  CHECK_FALSE(fault_in("GET / HTTP/1.0\r\n\r\n").has_value());
}

TEST_CASE("expectations other than 100-continue are refused") {
  CHECK(fault_in(start + "Expect: tea\r\n\r\n") == problem::expectation_failed);
  CHECK_FALSE(fault_in(start + "Expect: 100-Continue\r\n\r\n").has_value());
}

TEST_CASE("heads beyond the limit are refused, also when they never end") {
  CHECK(fault_in(start + "X: " + std::string(2000, 'x') + "\r\n\r\n")
        == problem::headers_too_large);
  CHECK(fault_in("GET /" + std::string(2000, 'x'))
        == problem::headers_too_large);
  std::string many = start;
  for (auto i = 0; i < 500; ++i)
    many += "a: b\r\n";
  CHECK(fault_in(many + "\r\n") == problem::headers_too_large);
}

TEST_CASE("a head may have its limit to the byte, however it is cut") {
  // The second host is 400 where the head is not too large before that.
  auto second = GENERATE(as<std::string>{}, "", "Host: b\r\n");
  for (std::size_t size = 1024 - 8; size <= 1024 + 8; ++size) {
    auto text = start + second + "X: ";
    text += std::string(size - text.size() - 4, 'x') + "\r\n\r\n";
    auto expected = size > 1024      ? problem::headers_too_large
                    : second.empty() ? std::optional<problem>{}
                                     : problem::bad_request;
    for (std::size_t piece : {1, 2, 3, 7, 64, 1024, 4096}) {
      CAPTURE(size, piece);
      CHECK(fault_in_pieces(text, piece) == expected);
    }
  }
}

TEST_CASE("a fault in a head is the same one, however the head is cut") {
  auto filling = "X: " + std::string(2000, 'x') + "\r\n";
  auto bad = GENERATE_COPY(
    as<std::string>{}, "POST / HTTP/1\xd2\xce\r\nHost: a\r\n" + filling,
    "POST / HTTP/1.1\n" + filling, start + "no field\r\n" + filling,
    start + "a: b\r\n c: d\r\n" + filling, start + "A: \x01\r\n" + filling,
    "\x16\x03\x01" + filling, "GET /a b HTTP/1.1\r\n" + filling,
    "GET / x\r\na: b\r\n" + filling);
  for (std::size_t piece : {1, 2, 3, 7, 64, 1024, 4096}) {
    CAPTURE(bad, piece);
    CHECK(fault_in_pieces(bad, piece) == problem::bad_request);
  }
}

TEST_CASE("a bad line is refused before the head has ended") {
  fixture f;
  CHECK_FALSE(f.fault_in(start + "A: b\r").has_value());
  CHECK_FALSE(f.fault_in("\nno field").has_value());
  CHECK(f.fault_in("\r\nC") == problem::bad_request);
  CHECK(fault_in("\x16\x03\x01\x02") == problem::bad_request);
}

TEST_CASE("chunks beyond the limit are refused") {
  auto chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  std::string text = chunked;
  for (auto i = 0; i < 300; ++i)
    text += "10\r\n0123456789abcdef\r\n";
  CHECK(fault_in(text) == problem::payload_too_large);
  CHECK(fault_in(chunked + "ffffffffffffffff\r\n")
        == problem::payload_too_large);
}

TEST_CASE("chunks that make no sense are refused") {
  auto chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  for (auto rest :
       {"x\r\n", "-1\r\n", "1\r\nab\r\n0\r\n\r\n", "fffffffffffffffff\r\n"}) {
    CAPTURE(rest);
    CHECK(fault_in(chunked + rest).has_value());
  }
}

TEST_CASE("the line before a chunk and trailers have an end, however cut") {
  auto chunked = start + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
  auto text = GENERATE_COPY(
    as<std::string>{}, chunked + "1;" + std::string(5000, 'x'),
    chunked + "1;" + std::string(5000, 'x') + "\r\na\r\n0\r\n\r\n",
    chunked + "1*" + std::string(5000, 'x') + "\r\na\r\n0\r\n\r\n",
    chunked + "0\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
  for (std::size_t piece : {1, 2, 3, 7, 64, 1024, 8192}) {
    CAPTURE(text, piece);
    CHECK(fault_in_pieces(text, piece) == problem::headers_too_large);
  }
}

TEST_CASE("a length beyond the limit shows at the head") {
  fixture f;
  CHECK(f.head_of(start + "Content-Length: 2049\r\n\r\n") == step::head);
  CHECK(f.reader.is_too_large(f.body_max));
  fixture g;
  CHECK(g.head_of(start + "Content-Length: 2048\r\n\r\n") == step::head);
  CHECK_FALSE(g.reader.is_too_large(g.body_max));
}

TEST_CASE("the connection header and the version decide on another request") {
  auto keeps = [](const std::string& head) {
    fixture f;
    CHECK(f.head_of(head + "\r\n") == step::head);
    return f.reader.keep_alive();
  };
  CHECK(keeps("GET / HTTP/1.1\r\nHost: a\r\n"));
  CHECK_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n"));
  CHECK_FALSE(keeps("GET / HTTP/1.0\r\n"));
  CHECK(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n"));
}
