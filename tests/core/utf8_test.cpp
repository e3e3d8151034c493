// Making text of bytes that came from strangers.

#include "actors/core/utf8.hpp"

#include <catch2/catch.hpp>

#include <random>

using tidegate::to_valid_utf8;

namespace {

constexpr auto plenty = std::size_t{1000};

const std::string bad = "\xEF\xBF\xBD";

std::string times(std::size_t n, const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < n; ++i)
    result += text;
  return result;
}

/// Decodes strictly, in a way of its own: by the value of each character.
bool is_valid(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    auto first = static_cast<unsigned char>(text[i]);
    auto length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first == 0 || (first >= 0x80 && first < 0xC0) || first > 0xF7
        || i + length > text.size())
      return false;
    std::uint32_t value = length == 1 ? first : first & (0x7F >> length);
    for (auto k = 1; k < length; ++k) {
      auto next = static_cast<unsigned char>(text[i + k]);
      if (next >> 6 != 2)
        return false;
      value = value << 6 | (next & 63);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[length] || value > 0x10FFFF
        || (value >= 0xD800 && value <= 0xDFFF))
      return false;
    i += length;
  }
  return true;
}

} // namespace

TEST_CASE("text that is valid stays as it is") {
  std::string text = GENERATE("", "plain", "\r\n\t\x01\x7f", "h\xC3\xB6he",
                              "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                              "\xEF\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80",
                              "\xF4\x8F\xBF\xBF", "\xC2\x80", "\xE0\xA0\x80",
                              "\xF0\x90\x80\x80");
  CHECK(to_valid_utf8(text, plenty) == text);
}

TEST_CASE("a NUL is replaced") {
  CHECK(to_valid_utf8(std::string{"a\0b", 3}, plenty) == "a" + bad + "b");
}

TEST_CASE("bytes that are no character are replaced one by one") {
  CHECK(to_valid_utf8("a\xFFz", plenty) == "a" + bad + "z");
  CHECK(to_valid_utf8("\x80z", plenty) == bad + "z");
  CHECK(to_valid_utf8("\xC0\xAFz", plenty) == times(2, bad) + "z");
  CHECK(to_valid_utf8("\xE0\x80\xAFz", plenty) == times(3, bad) + "z");
  CHECK(to_valid_utf8("\xED\xA0\x80z", plenty) == times(3, bad) + "z");
  CHECK(to_valid_utf8("\xF4\x90\x80\x80z", plenty) == times(4, bad) + "z");
  CHECK(to_valid_utf8("\xF5\x80\x80\x80z", plenty) == times(4, bad) + "z");
  CHECK(to_valid_utf8("\xF0\x8F\xBF\xBFz", plenty) == times(4, bad) + "z");
  CHECK(to_valid_utf8("\xE2\x82z", plenty) == times(2, bad) + "z");
}

TEST_CASE("a character that the end cuts in half is dropped") {
  CHECK(to_valid_utf8("a\xE2\x82", plenty) == "a");
  CHECK(to_valid_utf8("a\xF0\x9F\x98", plenty) == "a");
  CHECK(to_valid_utf8("a\xC3", plenty) == "a");
}

TEST_CASE("no character is cut in half by the limit") {
  CHECK(to_valid_utf8("ab\xE2\x82\xAC", 4) == "ab");
  CHECK(to_valid_utf8("ab\xE2\x82\xAC", 5) == "ab\xE2\x82\xAC");
  CHECK(to_valid_utf8("abc", 2) == "ab");
  CHECK(to_valid_utf8("\xFF", 2).empty());
  CHECK(to_valid_utf8("abc", 0).empty());
}

TEST_CASE("whatever comes in, what comes out is valid and not too long") {
  std::mt19937 random{2};
  for (auto i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 12, ' ');
    // Mostly bytes that begin or go on with a character.
    for (auto& c : bytes)
      c = static_cast<char>(random() % 4 ? 0x80 + random() % 0x80
                                         : random() % 0x80);
    auto bytes_max = random() % 16;
    auto text = to_valid_utf8(bytes, bytes_max);
    REQUIRE(is_valid(text));
    REQUIRE(text.size() <= bytes_max);
    if (is_valid(bytes) && bytes.size() <= bytes_max)
      REQUIRE(text == bytes);
  }
}
