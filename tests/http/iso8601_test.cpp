#include "http/iso8601.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;

TEST_CASE("an instant is read with Z or with an offset") {
  struct row {
    const char* text;
    const char* same;
  };
  for (auto [text, same] :
       {row{"2026-01-01T12:00:00Z", "2026-01-01T12:00:00.000000Z"},
        row{"2026-01-01t12:00:00z", "2026-01-01T12:00:00.000000Z"},
        row{"2026-01-01T12:00:00.5Z", "2026-01-01T12:00:00.500000Z"},
        row{"2026-01-01T12:00:00.1234569Z", "2026-01-01T12:00:00.123456Z"},
        row{"2026-01-01T14:00:00+02:00", "2026-01-01T12:00:00.000000Z"},
        row{"2025-12-31T20:30:00-15:30", "2026-01-01T12:00:00.000000Z"},
        row{"2024-02-29T23:59:59-00:00", "2024-02-29T23:59:59.000000Z"},
        row{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"},
        row{"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"}}) {
    CAPTURE(text);
    auto at = parse_iso8601(text);
    REQUIRE(at);
    CHECK(to_iso8601(*at, precision::microseconds) == same);
  }
}

TEST_CASE("what is no instant is refused") {
  for (auto text : {"",
                    "2026-01-01",
                    "2026-01-01T12:00:00",
                    "2026-01-01T12:00Z",
                    "2026-01-01 12:00:00Z",
                    "2026-13-01T12:00:00Z",
                    "2026-00-01T12:00:00Z",
                    "2026-02-29T12:00:00Z",
                    "2026-04-31T12:00:00Z",
                    "2026-01-01T24:00:00Z",
                    "2026-01-01T12:60:00Z",
                    "2026-01-01T12:00:60Z",
                    "2026-01-01T12:00:00.Z",
                    "2026-01-01T12:00:00+0200",
                    "2026-01-01T12:00:00+02",
                    "2026-01-01T12:00:00+24:00",
                    "2026-01-01T12:00:00Zx",
                    "+2026-01-01T12:00:00Z",
                    "26-01-01T12:00:00Z",
                    "1767268800",
                    "9999-12-31T23:59:59-00:01",
                    "0000-01-01T00:00:00+00:01"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_iso8601(text));
  }
}

TEST_CASE("a day is read and printed") {
  CHECK(parse_day("1970-01-01") == 0);
  CHECK(parse_day("2026-01-31") == 20'484);
  CHECK(print_day(20'484) == "2026-01-31");
  CHECK(print_day(-1) == "1969-12-31");
  for (auto text : {"", "2026-1-31", "2026-02-30", "2026-01-31T", "today"})
    CHECK_FALSE(parse_day(text));
}
