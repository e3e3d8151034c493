#include <catch2/catch.hpp>

#include "tests/bench/items.hpp"
#include "tests/bench/json_line.hpp"
#include "tests/bench/latencies.hpp"
#include "tests/bench/message_cutter.hpp"

namespace tidegate::bench {

TEST_CASE("a message is cut out once all of it is there") {
  std::string text = "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello";
  message_cutter cutter;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    cutter.add(text.substr(i, 1));
    REQUIRE(!cutter.next());
  }
  cutter.add("o");
  auto whole = cutter.next();
  REQUIRE(whole);
  CHECK(status_of(whole->head) == 201);
  CHECK(whole->body == "hello");
  CHECK(!cutter.next());
}

TEST_CASE("messages that come together are cut apart") {
  message_cutter cutter;
  cutter.add(
    "POST / HTTP/1.1\r\ncontent-length: 2\r\nx: y\r\n\r\nab"
    "GET / HTTP/1.1\r\n\r\nPOST");
  CHECK(cutter.next()->body == "ab");
  CHECK(cutter.next()->body.empty());
  CHECK(!cutter.next());
}

TEST_CASE("numbers are found by what stands before them") {
  CHECK(number_after("{\"a\":1,\"sent\":42}", "\"sent\":") == 42);
  CHECK(number_after("{\"sent\":\"x\"}", "\"sent\":") == std::nullopt);
  CHECK(number_after("{}", "\"sent\":") == std::nullopt);
}

TEST_CASE("texts are found by what stands before them") {
  CHECK(text_after(R"({"a":"x","b":"y"})", R"("b":")") == "y");
  CHECK(text_after(R"({"a":""})", R"("a":")").empty());
  CHECK(text_after("{}", R"("a":")").empty());
}

TEST_CASE("the items of an answer are cut apart") {
  auto text = R"({"items":[{"message_id":"a","receipt_handle":"1"},)"
              R"({"message_id":"b","receipt_handle":"2"}]})";
  auto items = cut_items(text);
  REQUIRE(items.size() == 2);
  CHECK(items[0].id == "a");
  CHECK(items[0].handle == "1");
  CHECK(items[1].id == "b");
  CHECK(items[1].handle == "2");
  CHECK(cut_items(R"({"items":[]})").empty());
}

TEST_CASE("a percentile is one of the values") {
  latencies took;
  CHECK(took.percentile(0.5) == 0);
  for (std::uint64_t us = 100; us > 0; --us)
    took.add(us);
  CHECK(took.percentile(0.5) == 50);
  CHECK(took.percentile(0.99) == 99);
  CHECK(took.percentile(1) == 100);
}

TEST_CASE("a line of JSON has its numbers in order") {
  CHECK(json_line{}.add("a", 1).add("b", 2.5).str() == R"({"a":1,"b":2.5})");
  CHECK(json_line{}.str() == "{}");
}

} // namespace tidegate::bench
