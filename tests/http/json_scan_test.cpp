#include "http/json_scan.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tidegate::http;

namespace {

bool accepts(std::string_view text, unsigned depth_max = 128) {
  return std::holds_alternative<json_outline>(scan_json(text, depth_max));
}

json_fault fault_in(std::string_view text) {
  return std::get<json_fault>(scan_json(text, 128));
}

std::string nested(unsigned depth, char open, char close) {
  return std::string(depth, open) + std::string(depth, close);
}

} // namespace

TEST_CASE("the parts of an object are cut out byte for byte") {
  auto outline = std::get<json_outline>(scan_json(
    " { \"a\" :\t[ 1 ,2 ]  ,\n\"b\\u0063\": -0 , \"\":{\"x\":1} } ", 128));
  CHECK(outline.kind == json_kind::object);
  REQUIRE(outline.parts.size() == 3);
  CHECK(outline.parts[0].key == "\"a\"");
  CHECK(outline.parts[0].value == "[ 1 ,2 ]");
  CHECK(outline.parts[1].key == "\"b\\u0063\"");
  CHECK(outline.parts[1].value == "-0");
  CHECK(outline.parts[2].key == "\"\"");
  CHECK(outline.parts[2].value == "{\"x\":1}");
}

TEST_CASE("the elements of an array have no keys") {
  auto outline = std::get<json_outline>(scan_json("[1, \"x\",null]", 128));
  CHECK(outline.kind == json_kind::array);
  REQUIRE(outline.parts.size() == 3);
  CHECK(outline.parts[1].key.empty());
  CHECK(outline.parts[1].value == "\"x\"");
}

TEST_CASE("a scalar is a JSON text without parts") {
  for (auto text : {"1", "\"x\"", "true", "null", " 0.5e-3 "}) {
    auto scanned = scan_json(text, 0);
    REQUIRE(std::holds_alternative<json_outline>(scanned));
    CHECK(std::get<json_outline>(scanned).parts.empty());
  }
}

TEST_CASE("the scanner agrees with nlohmann/json on what is JSON") {
  const std::vector<std::string> texts = {"",
                                          " ",
                                          "{}",
                                          "[]",
                                          "{",
                                          "}",
                                          "[",
                                          "[1,]",
                                          "[,1]",
                                          "{,}",
                                          "{\"a\"}",
                                          "{\"a\":}",
                                          "{\"a\":1,}",
                                          "{a:1}",
                                          "{'a':1}",
                                          "{\"a\":1}",
                                          "[1 2]",
                                          "1 2",
                                          "01",
                                          "-01",
                                          "-",
                                          "+1",
                                          "1.",
                                          ".5",
                                          "1.5",
                                          "1e",
                                          "1e+",
                                          "1e5",
                                          "1E-5",
                                          "-0",
                                          "-0.0",
                                          "0e0",
                                          "00",
                                          "0x1",
                                          "NaN",
                                          "Infinity",
                                          "tru",
                                          "true",
                                          "truex",
                                          "falsey",
                                          "nul",
                                          "null",
                                          "\"",
                                          "\"a",
                                          "\"a\"",
                                          "\"\\\"",
                                          "\"\\\\\"",
                                          "\"\\x\"",
                                          "\"\\u12\"",
                                          "\"\\u12G4\"",
                                          "\"\\u0041\"",
                                          "\"\t\"",
                                          "\"\\t\"",
                                          "\"\x7f\"",
                                          "\"\xc3\xa4\"",
                                          "\"\xc3\"",
                                          "\"\xc0\x80\"",
                                          "\"\xed\xa0\x80\"",
                                          "\"\xf4\x8f\xbf\xbf\"",
                                          "\"\xf4\x90\x80\x80\"",
                                          "\"\xf0\x8f\xbf\xbf\"",
                                          "\"\xe0\x9f\xbf\"",
                                          "\"\xff\"",
                                          "[[[]]]",
                                          "[[]",
                                          "[]]",
                                          "// x\n1",
                                          "1 // x",
                                          "\v1",
                                          "123456789012345678901234567890",
                                          "\"\\ud83d\\ude00\"",
                                          std::string("\"\0\"", 3)};
  for (const auto& text : texts) {
    CAPTURE(text);
    CHECK(accepts(text) == nlohmann::json::accept(text));
  }
}

TEST_CASE("every prefix of a JSON text is refused") {
  const std::string text = R"({"a":[1,-2.5e+3,true,false,null,{"b":"\u00e4\n)"
                           "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"
                           R"("}],"c":{}})";
  REQUIRE(accepts(text));
  for (std::size_t n = 0; n < text.size(); ++n) {
    CAPTURE(n);
    CHECK_FALSE(accepts(std::string_view{text}.substr(0, n)));
  }
}

TEST_CASE("flipping any byte never makes the two parsers disagree") {
  const std::string text =
    "{\"a\":[1,-2.5e+3,true,null],\"b\":\"\\u00e4\xc3"
    "\xa4\",\"c\":{}}";
  for (std::size_t i = 0; i < text.size(); ++i)
    for (unsigned byte = 0; byte < 256; ++byte) {
      auto changed = text;
      changed[i] = static_cast<char>(byte);
      if (accepts(changed) != nlohmann::json::accept(changed)) {
        CAPTURE(changed);
        CHECK(accepts(changed) == nlohmann::json::accept(changed));
      }
    }
}

TEST_CASE("a NUL does not end a text") {
  CHECK_FALSE(accepts(std::string_view{"1\0", 2}));
  CHECK_FALSE(accepts(std::string_view{"{}\0", 3}));
  CHECK_FALSE(accepts(std::string_view{"[\0]", 3}));
}

TEST_CASE("numbers of any size and halves of surrogate pairs are JSON") {
  CHECK(accepts("1e999999"));
  CHECK(accepts("-1E+400"));
  CHECK(accepts("\"\\ud800\""));
}

TEST_CASE("nesting ends at the bound") {
  CHECK(accepts(nested(128, '[', ']'), 128));
  CHECK_FALSE(accepts(nested(129, '[', ']'), 128));
  CHECK(accepts("[[],[],[[]]]", 3));
  CHECK_FALSE(accepts("[[],[],[[]]]", 2));
  CHECK_FALSE(accepts(std::string(1'000'000, '[')));
}

TEST_CASE("a fault names its place") {
  CHECK(fault_in("{\"a\" 1}").at == 5);
  CHECK(std::string{fault_in("\"\xff\"").what} == "invalid UTF-8");
  CHECK(fault_in("\"\xff\"").at == 1);
}
