#include "http/cursor.hpp"

#include <catch2/catch.hpp>

using namespace tidegate::http;

TEST_CASE("a cursor gives back the name it was made of") {
  for (auto length : {1, 2, 3, 4, 5, 119, 120}) {
    std::string name(static_cast<std::size_t>(length), 'q');
    auto cursor = make_queue_cursor(name);
    CHECK(cursor.find_first_of("+/=") == std::string::npos);
    CHECK(read_queue_cursor(cursor) == name);
  }
}

TEST_CASE("a cursor in which any character was changed is refused") {
  auto cursor = make_queue_cursor("emails");
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    auto changed = cursor;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CHECK_FALSE(read_queue_cursor(changed));
    CHECK_FALSE(read_queue_cursor(cursor.substr(0, i)));
  }
  CHECK_FALSE(read_queue_cursor(cursor + "A"));
  CHECK_FALSE(read_queue_cursor(cursor + "="));
}

TEST_CASE("what is no cursor at all is refused") {
  for (auto text : {"", "emails", "0", "AAAAAAAAAAA", "\xff\xff", "%%%"})
    CHECK_FALSE(read_queue_cursor(text));
}
