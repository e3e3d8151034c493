#include "http/json_writer.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tidegate::http;

namespace {

std::string printed(std::string_view text) {
  json_writer out;
  out.value(text);
  return out.take();
}

std::string printed(double number) {
  json_writer out;
  out.value(number);
  return out.take();
}

} // namespace

TEST_CASE("commas stand between members and elements only") {
  json_writer out;
  out.begin_object()
    .member("a", true)
    .key("b")
    .begin_array()
    .value("x")
    .null()
    .begin_object()
    .end_object()
    .end_array()
    .key("c")
    .raw("1E5")
    .end_object();
  CHECK(out.take() == R"({"a":true,"b":["x",null,{}],"c":1E5})");
}

TEST_CASE("every ASCII character survives a round trip") {
  std::string text;
  for (char c = 0; c < 127; ++c)
    text += c;
  text += '\x7f';
  CHECK(nlohmann::json::parse(printed(text)) == text);
}

TEST_CASE("what is not UTF-8 becomes the replacement character") {
  CHECK(printed("a\xff" "b\xc3") == "\"a\xef\xbf\xbd" "b\xef\xbf\xbd\"");
  CHECK(printed("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  CHECK(printed("\xe2\x82\xac\xf0\x9f\x98\x80")
        == "\"\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST_CASE("whole numbers are printed without exponent, others short") {
  CHECK(printed(0.0) == "0");
  CHECK(printed(100000.0) == "100000");
  CHECK(printed(2592000.0) == "2592000");
  CHECK(printed(-3.0) == "-3");
  CHECK(printed(0.1) == "0.1");
  CHECK(printed(2.5) == "2.5");
  CHECK(nlohmann::json::parse(printed(1e300)) == 1e300);
}
