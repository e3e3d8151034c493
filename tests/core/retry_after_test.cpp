// Reading how long a downstream asks to be left alone.

#include "actors/core/retry_after.hpp"

#include <catch2/catch.hpp>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

using values = std::vector<std::string>;

/// Reads one header at midnight, in a response without a date.
std::optional<duration> read(const std::string& value) {
  return read_retry_after({value}, "", midnight);
}

std::optional<duration> ms(std::int64_t n) {
  return std::chrono::milliseconds{n};
}

std::optional<wall_time> date(const std::string& text) {
  return read_http_date(text, midnight);
}

/// 1994-11-06T08:49:37Z, the example of RFC 9110.
constexpr wall_time example{std::chrono::seconds{784'111'777}};

} // namespace

// -- seconds ------------------------------------------------------------------

TEST_CASE("a number of seconds is taken exactly") {
  CHECK(read("0") == ms(0));
  CHECK(read("1") == ms(1'000));
  CHECK(read("007") == ms(7'000));
  CHECK(read("86400") == ms(86'400'000));
  CHECK(read("31536000") == ms(31'536'000'000));
}

TEST_CASE("a fraction is rounded up to the next millisecond") {
  CHECK(read("1.5") == ms(1'500));
  CHECK(read("0.25") == ms(250));
  CHECK(read("0.001") == ms(1));
  CHECK(read("0.0001") == ms(1));
  CHECK(read("0.0010") == ms(1));
  CHECK(read("0.0010000001") == ms(2));
  CHECK(read("2.007") == ms(2'007));
  CHECK(read("0.9991") == ms(1'000));
  CHECK(read("59.9999999999999999999999999") == ms(60'000));
  CHECK(read("0." + std::string(5'000, '0') + "1") == ms(1));
  CHECK(read("0.0") == ms(0));
}

TEST_CASE("a duration in seconds may carry its unit") {
  CHECK(read("5s") == ms(5'000));
  CHECK(read("0s") == ms(0));
  CHECK(read("1.5s") == ms(1'500));
}

TEST_CASE("blanks around a value do not matter") {
  CHECK(read(" 5 ") == ms(5'000));
  CHECK(read("\t5s\t") == ms(5'000));
}

TEST_CASE("a number too large for the clock is the longest wait") {
  auto text = GENERATE(std::string{"253402300799"}, std::string{"253402300800"},
                       std::string{"9223372036854775807"},
                       std::string{"9223372036854775808"},
                       std::string{"18446744073709551616"},
                       std::string(100'000, '9'), std::string(400, '9') + ".5",
                       std::string(400, '9') + "s");
  CHECK(read(text) == longest_wait);
}

TEST_CASE("what cannot be read counts as absent") {
  auto text = GENERATE("", " ", "-1", "-0", "+5", "-0.5", "5m", "5S", "5 s",
                       "s", ".", ".5", "5.", "5.s", "1,5", "1e3", "0x10",
                       "5, 5", "5;5", "1.2.3", "NaN", "inf", "soon", "5ss",
                       "\xC2\xB2", "five", "5\n", "1 2");
  CAPTURE(text);
  CHECK_FALSE(read(text));
}

TEST_CASE("a NUL in a number makes it unreadable") {
  CHECK_FALSE(read(std::string{"5\0", 2}));
  CHECK_FALSE(read(std::string{"\0005", 2}));
}

// -- several ------------------------------------------------------------------

TEST_CASE("no header at all counts as absent") {
  CHECK_FALSE(read_retry_after({}, "", midnight));
}

TEST_CASE("the same value again is the same value") {
  CHECK(read_retry_after({"5", "5"}, "", midnight) == ms(5'000));
  CHECK(read_retry_after({"5", "5.0", "5s", " 5"}, "", midnight) == ms(5'000));
}

TEST_CASE("values that differ count as absent") {
  CHECK_FALSE(read_retry_after({"5", "6"}, "", midnight));
  CHECK_FALSE(read_retry_after({"5", "5", "6"}, "", midnight));
  CHECK_FALSE(read_retry_after({"5", "x"}, "", midnight));
  CHECK_FALSE(read_retry_after({"x", "5"}, "", midnight));
  CHECK_FALSE(read_retry_after({"5", ""}, "", midnight));
}

// -- dates --------------------------------------------------------------------

TEST_CASE("all three forms of a date are the same instant") {
  CHECK(date("Sun, 06 Nov 1994 08:49:37 GMT") == example);
  CHECK(date("Sunday, 06-Nov-94 08:49:37 GMT") == example);
  CHECK(date("Sun Nov  6 08:49:37 1994") == example);
}

TEST_CASE("a date is a wait until then") {
  CHECK(read("Thu, 01 Jan 2026 00:00:10 GMT") == ms(10'000));
  CHECK(read("Thursday, 01-Jan-26 00:00:10 GMT") == ms(10'000));
  CHECK(read("Thu Jan  1 00:00:10 2026") == ms(10'000));
  CHECK(read("Thu, 01 Jan 2026 00:00:00 GMT") == ms(0));
}

TEST_CASE("a date is measured to the microsecond of our clock") {
  CHECK(read_retry_after({"Thu, 01 Jan 2026 00:00:10 GMT"}, "",
                         midnight + seconds(0.25))
        == ms(9'750));
}

TEST_CASE("a date in the past means now") {
  CHECK(read("Sun, 06 Nov 1994 08:49:37 GMT") == ms(0));
  CHECK(read("Wed, 31 Dec 2025 23:59:59 GMT") == ms(0));
}

TEST_CASE("a date is measured against the response's own date") {
  auto read_with = [](const char* date) {
    return read_retry_after({"Thu, 01 Jan 2026 00:00:10 GMT"}, date, midnight);
  };
  CHECK(read_with("Thu, 01 Jan 2026 00:00:08 GMT") == ms(2'000));
  CHECK(read_with(" Thu, 01 Jan 2026 00:00:08 GMT ") == ms(2'000));
  CHECK(read_with("Thursday, 01-Jan-26 00:00:08 GMT") == ms(2'000));
  CHECK(read_with("Wed, 31 Dec 2025 23:59:50 GMT") == ms(20'000));
  CHECK(read_with("Thu, 01 Jan 2026 00:00:11 GMT") == ms(0));
}

TEST_CASE("a date of the response that cannot be read is left aside") {
  CHECK(
    read_retry_after({"Thu, 01 Jan 2026 00:00:10 GMT"}, "yesterday", midnight)
    == ms(10'000));
}

TEST_CASE("a number of seconds does not care about the response's date") {
  CHECK(read_retry_after({"5"}, "Sun, 06 Nov 1994 08:49:37 GMT", midnight)
        == ms(5'000));
}

TEST_CASE("a date and the same wait in seconds agree") {
  CHECK(read_retry_after({"Thu, 01 Jan 2026 00:00:10 GMT", "10"}, "", midnight)
        == ms(10'000));
}

TEST_CASE("no date is farther away than the longest wait") {
  auto wait = read_retry_after({"Fri, 31 Dec 9999 23:59:59 GMT"},
                               "Mon, 01 Jan 0001 00:00:00 GMT", midnight);
  CHECK(wait == longest_wait);
}

TEST_CASE("a leap day exists in leap years only") {
  CHECK(date("Sat, 29 Feb 2028 00:00:00 GMT"));
  CHECK_FALSE(date("Thu, 29 Feb 2027 00:00:00 GMT"));
  CHECK_FALSE(date("Mon, 29 Feb 2100 00:00:00 GMT"));
  CHECK(date("Tue, 29 Feb 2000 00:00:00 GMT"));
}

TEST_CASE("a leap second is the next minute") {
  CHECK(date("Sat, 31 Dec 2016 23:59:60 GMT")
        == date("Sun, 01 Jan 2017 00:00:00 GMT"));
}

TEST_CASE("a two-digit year is never more than fifty years ahead") {
  CHECK(date("Friday, 01-Jan-27 00:00:00 GMT")
        == date("Fri, 01 Jan 2027 00:00:00 GMT"));
  CHECK(date("Wednesday, 01-Jan-76 00:00:00 GMT")
        == date("Wed, 01 Jan 2076 00:00:00 GMT"));
  CHECK(date("Saturday, 01-Jan-77 00:00:00 GMT")
        == date("Sat, 01 Jan 1977 00:00:00 GMT"));
  CHECK(date("Friday, 01-Jan-99 00:00:00 GMT")
        == date("Fri, 01 Jan 1999 00:00:00 GMT"));
}

TEST_CASE("a date that is almost one is none") {
  auto text = GENERATE(
    "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 08:49:37 GMT+1",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 06 Now 1994 08:49:37 GMT", "Xun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
    "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT",
    "Sun Nov   08:49:37 1994", "1994-11-06T08:49:37Z", "Sun", "Sun, ",
    "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT");
  CAPTURE(text);
  CHECK_FALSE(date(text));
}

TEST_CASE("a date that is cut off anywhere is none") {
  for (std::string whole :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"}) {
    REQUIRE(date(whole));
    for (std::size_t length = 0; length < whole.size(); ++length)
      CHECK_FALSE(date(whole.substr(0, length)));
  }
}
