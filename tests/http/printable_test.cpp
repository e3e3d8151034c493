// What strangers wrote, for eyes.

#include "http/printable.hpp"

#include <catch2/catch.hpp>

using namespace tidegate::http;

TEST_CASE("what would steer a terminal is shown as a question mark") {
  CHECK(printable("plain, \xC3\xA4 and \xE2\x82\xAC") //
        == "plain, \xC3\xA4 and \xE2\x82\xAC");
  CHECK(printable("\x1b[2J") == "?[2J");
  CHECK(printable("a\nb\tc\rd\x7f") == "a?b?c?d?");
  CHECK(printable("\xC2\x9B"
                  "2J")
        == "?2J");
  CHECK(printable("\xC2\xA0") == "\xC2\xA0");
  CHECK(printable("\xFF\xC3") == "??");
  CHECK(printable(std::string_view{"\0", 1}) == "?");
}

TEST_CASE("what would turn the order of a line is shown as a question mark") {
  CHECK(printable("a\u200f\u202eb") == "a??b");
  CHECK(printable("\u061c\u2028\u2029\u2066\u2069") == "?????");
  // Between them, and beside them, nothing is lost.
  CHECK(printable("\u200d\u2027\u202f\u2065\u206a")
        == "\u200d\u2027\u202f\u2065\u206a");
  CHECK(printable("\U0001f600") == "\U0001f600");
  CHECK(is_printable("\u00e4"));
  CHECK_FALSE(is_printable("\u202e"));
}

TEST_CASE("long text is cut between characters") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abc...");
  CHECK(printable("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 4)
        == "\xC3\xA4...");
}
