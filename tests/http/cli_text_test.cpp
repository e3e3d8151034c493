// Text for people at a terminal.

#include "http/cli_text.hpp"

#include <catch2/catch.hpp>

#include "http/cli_session.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

constexpr wall_time new_year_2025{duration{1'735'689'600'000'000}};

constexpr duration seconds(std::int64_t n) {
  return duration{n * 1'000'000};
}

} // namespace

// -- spans --------------------------------------------------------------------

TEST_CASE("a span is printed in its two largest units") {
  CHECK(print_span(duration{0}) == "0 ms");
  CHECK(print_span(duration{-5}) == "0 ms");
  CHECK(print_span(duration{450'999}) == "450 ms");
  CHECK(print_span(seconds(1)) == "1 s");
  CHECK(print_span(duration{28'700'000}) == "28 s");
  CHECK(print_span(seconds(60)) == "1 min");
  CHECK(print_span(seconds(185)) == "3 min 5 s");
  CHECK(print_span(seconds(7'800)) == "2 h 10 min");
  CHECK(print_span(seconds(7'205)) == "2 h");
  CHECK(print_span(seconds(4 * 86'400 + 3 * 3'600)) == "4 d 3 h");
  CHECK(print_span(longest_wait) == "2932896 d 23 h");
}

TEST_CASE("a span is read with its unit, or in seconds") {
  CHECK(parse_span("30") == seconds(30));
  CHECK(parse_span("0") == seconds(0));
  CHECK(parse_span("1.5s") == duration{1'500'000});
  CHECK(parse_span("5m") == seconds(300));
  CHECK(parse_span("5min") == seconds(300));
  CHECK(parse_span("2h") == seconds(7'200));
  CHECK(parse_span("7d") == seconds(604'800));
  auto other = GENERATE("", "s", "x", "-1", "1 s", "1y", "1e3", "nan", "inf",
                        "2030-01-31T00:00:00Z", "99999999999d", "1ss");
  CHECK_FALSE(parse_span(other));
}

TEST_CASE("an instant is printed with how far it is") {
  CHECK(print_instant(new_year_2025) == "2025-01-01 00:00:00");
  CHECK(print_instant(new_year_2025 + seconds(28), new_year_2025)
        == "2025-01-01 00:00:28 (in 28 s)");
  CHECK(print_instant(new_year_2025, new_year_2025 + seconds(3))
        == "2025-01-01 00:00:00 (3 s ago)");
}

// -- tables -------------------------------------------------------------------

TEST_CASE("columns fit their cells, and numbers stand to the right") {
  text_table table{{"NAME", "COUNT", "WHY"}};
  CHECK(table.print() == "NAME  COUNT  WHY\n");
  table.add({"a", "1", "-"});
  table.add({"\xC3\xA4\xC3\xB6-queue", "12345678", "two words"});
  table.add({"c", "-", ""});
  CHECK(table.rows() == 3);
  CHECK(table.print()
        == "NAME         COUNT  WHY\n"
           "a                1  -\n"
           "\xC3\xA4\xC3\xB6-queue  12345678  two words\n"
           "c                -\n");
}

TEST_CASE("a column without a value stands where its heading does") {
  text_table table{{"NAME", "LIMIT KEY", "N"}};
  table.add({"a", "-", "1"});
  CHECK(table.print() == "NAME  LIMIT KEY  N\na     -          1\n");
}

TEST_CASE("a table without headings is lines of names and values") {
  text_table table;
  CHECK(table.print().empty());
  table.add({"name", "1"});
  table.add({"a", "\x1b[0m"});
  CHECK(table.rows() == 2);
  CHECK(table.print() == "name  1\na     ?[0m\n");
}

TEST_CASE("progress is drawn from nothing to all") {
  CHECK(print_progress(0, 10) == "[------------------------]   0 %  0 of 10");
  CHECK(print_progress(500, 1000)
        == "[############------------]  50 %  500 of 1000");
  CHECK(print_progress(10, 10) == "[########################] 100 %  10 of 10");
  CHECK(print_progress(0, 0) == "[########################] 100 %  0 of 0");
  CHECK(print_progress(12, 10).ends_with("100 %  12 of 10"));
  CHECK(print_progress(UINT64_MAX, UINT64_MAX).size() < 80);
}

// -- words of calls -----------------------------------------------------------

TEST_CASE("what stands in a path or a query is percent-encoded") {
  CHECK(percent_encode("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encode("a/b ?&=#%") == "a%2Fb%20%3F%26%3D%23%25");
  CHECK(percent_encode("\xC3\xA4") == "%C3%A4");
  std::string path = "/v1/x";
  add_query(path, "a", "");
  CHECK(path == "/v1/x");
  add_query(path, "a", "1&2");
  add_query(path, "b", "c");
  CHECK(path == "/v1/x?a=1%262&b=c");
}

TEST_CASE("a value is JSON where it can be, else a string") {
  CHECK(to_json("5") == "5");
  CHECK(to_json("null") == "null");
  CHECK(to_json(R"({"type":"fixed"})") == R"({"type":"fixed"})");
  CHECK(to_json("ack") == "\"ack\"");
  CHECK(to_json("") == "\"\"");
  CHECK(to_json(R"(1,"x":2)") == R"("1,\"x\":2")");
}
