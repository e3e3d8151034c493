#include "http/pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

/// Takes the bytes that may leave.
void take(pipeline& what, std::string& out) {
  std::vector<std::shared_ptr<loss_notice>> notices;
  what.take_ready(out, notices);
}

/// Returns the bodies that may leave, each of one digit.
std::string ready_bodies(pipeline& what) {
  std::string out;
  std::vector<std::shared_ptr<loss_notice>> notices;
  what.take_ready(out, notices);
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
  std::vector<std::shared_ptr<loss_notice>> notices;
  line.take_ready(out, notices);
  CHECK(out.empty());
  line.answer(first, {204, {}, {}}, "now");
  line.take_ready(out, notices);
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
  take(line, out);
  CHECK(line.bytes() == 0);
}

TEST_CASE("the newest answer can be made the last one") {
  pipeline line;
  auto first = line.open({}, 0);
  auto second = line.open({}, 0);
  line.end_after_newest();
  line.answer(first, {200, {}, {}}, "now");
  std::string out;
  take(line, out);
  CHECK(out.find("connection: close") == std::string::npos);
  out.clear();
  line.answer(second, {200, {}, {}}, "now");
  take(line, out);
  CHECK(out.find("connection: close") != std::string::npos);
}

TEST_CASE("who waits is told when the client has gone") {
  pipeline line;
  auto waits = std::make_shared<client_watch>();
  waits->wanted = true;
  auto does_not = std::make_shared<client_watch>();
  auto first = line.open({}, 0, waits);
  line.open({}, 0, does_not);
  CHECK(line.has_waits());
  line.end_waits();
  CHECK(waits->gone);
  CHECK_FALSE(does_not->gone);
  CHECK_FALSE(line.is_abandoned());
  line.abandon();
  CHECK(does_not->gone);
  CHECK(line.is_abandoned());
  line.answer(first, {200, {}, "1"}, "now");
  CHECK_FALSE(line.has_waits());
}

TEST_CASE("what is meant for somebody who has gone is not handed out") {
  pipeline line;
  auto lost = 0;
  auto waits = std::make_shared<client_watch>();
  waits->wanted = true;
  auto first = line.open({}, 0, waits);
  line.end_waits();
  response what{200, {}, "secret"};
  what.notice = std::make_shared<loss_notice>([&] { ++lost; });
  line.answer(first, what, "now");
  what = {};
  CHECK(lost == 1);
  std::string out;
  std::vector<std::shared_ptr<loss_notice>> notices;
  line.take_ready(out, notices);
  CHECK(notices.empty());
  CHECK(out.starts_with("HTTP/1.1 503"));
  CHECK(out.find("secret") == std::string::npos);
}

TEST_CASE("a notice goes along with its answer") {
  pipeline line;
  auto lost = 0;
  auto number = line.open({}, 0);
  response what{200, {}, "1"};
  what.notice = std::make_shared<loss_notice>([&] { ++lost; });
  line.answer(number, what, "now");
  what = {};
  std::string out;
  std::vector<std::shared_ptr<loss_notice>> notices;
  line.take_ready(out, notices);
  REQUIRE(notices.size() == 1);
  notices[0]->written();
  notices.clear();
  CHECK(lost == 0);
}

TEST_CASE("answers that wait for their turn are lost with the connection") {
  pipeline line;
  auto lost = 0;
  line.open({}, 0);
  auto second = line.open({}, 0);
  response what{200, {}, "2"};
  what.notice = std::make_shared<loss_notice>([&] { ++lost; });
  line.answer(second, what, "now");
  what = {};
  line.abandon();
  CHECK(lost == 1);
}
