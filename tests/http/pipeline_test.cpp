#include "http/pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

/// Returns the bodies that may leave, each of one digit.
std::string ready_bodies(pipeline& what) {
  std::string out;
  what.take_ready(out);
  std::string result;
  for (auto end = out.find("\r\n\r\n"); end != std::string::npos;
       end = out.find("\r\n\r\n", end + 4))
    result += out.substr(end + 4, 1);
  return result;
}

} // namespace

TEST_CASE("answers leave in the order of their requests") {
  pipeline line;
  auto first = line.open({}, 0);
  auto second = line.open({}, 0);
  auto third = line.open({}, 0);
  line.answer(second, {200, {}, "2"}, "now");
  CHECK(ready_bodies(line).empty());
  line.answer(first, {200, {}, "1"}, "now");
  CHECK(ready_bodies(line) == "12");
  line.answer(third, {200, {}, "3"}, "now");
  CHECK(ready_bodies(line) == "3");
  CHECK(line.empty());
}

TEST_CASE("a second answer to a request changes nothing") {
  pipeline line;
  auto first = line.open({}, 0);
  auto second = line.open({}, 0);
  line.answer(second, {200, {}, "2"}, "now");
  line.answer(second, {200, {}, "x"}, "now");
  line.answer(first, {200, {}, "1"}, "now");
  CHECK(ready_bodies(line) == "12");
  line.answer(first, {200, {}, "x"}, "now");
  line.answer(99, {200, {}, "x"}, "now");
  CHECK(ready_bodies(line).empty());
}

TEST_CASE("what is inserted waits for its turn too") {
  pipeline line;
  auto first = line.open({}, 0);
  line.insert("HTTP/1.1 100 Continue\r\n\r\n");
  std::string out;
  line.take_ready(out);
  CHECK(out.empty());
  line.answer(first, {204, {}, {}}, "now");
  line.take_ready(out);
  CHECK(out.ends_with("HTTP/1.1 100 Continue\r\n\r\n"));
}

TEST_CASE("all that waits is counted in bytes") {
  pipeline line;
  auto first = line.open({}, 1000);
  auto second = line.open({}, 10);
  CHECK(line.bytes() == 1010);
  line.answer(second, {200, {}, std::string(5000, 'x')}, "now");
  CHECK(line.bytes() > 6000);
  line.answer(first, {200, {}, {}}, "now");
  std::string out;
  line.take_ready(out);
  CHECK(line.bytes() == 0);
}

TEST_CASE("the newest answer can be made the last one") {
  pipeline line;
  auto first = line.open({}, 0);
  auto second = line.open({}, 0);
  line.end_after_newest();
  line.answer(first, {200, {}, {}}, "now");
  std::string out;
  line.take_ready(out);
  CHECK(out.find("connection: close") == std::string::npos);
  out.clear();
  line.answer(second, {200, {}, {}}, "now");
  line.take_ready(out);
  CHECK(out.find("connection: close") != std::string::npos);
}
