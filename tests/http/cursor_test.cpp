#include "http/cursor.hpp"

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

const list_name jobs_of_a{list_kind::jobs, "p", "a"};

} // namespace

TEST_CASE("a cursor gives back the position it was made of") {
  for (auto length : {0, 1, 2, 3, 4, 5, 119, 120, 512}) {
    std::string position(static_cast<std::size_t>(length), 'q');
    auto cursor = make_cursor(jobs_of_a, position);
    CHECK(cursor.find_first_of("+/=") == std::string::npos);
    CHECK(read_cursor(jobs_of_a, cursor) == position);
  }
  for (auto number : {std::uint64_t{0}, std::uint64_t{7}, UINT64_MAX})
    CHECK(read_number_cursor(jobs_of_a, make_cursor(jobs_of_a, number))
          == number);
}

TEST_CASE("a cursor is good for the list that it is of and for no other") {
  const std::vector<list_name> lists = {
    jobs_of_a,
    {list_kind::jobs, "p", "b"},
    {list_kind::jobs, "q", "a"},
    {list_kind::dead_letters, "p", "a"},
    {list_kind::limit_keys, "p", "a"},
    {list_kind::operations, "p"},
    {list_kind::queues, "p"},
    {list_kind::queues, "pa"},
    {list_kind::api_keys},
  };
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (std::size_t k = 0; k < lists.size(); ++k)
      CHECK(read_cursor(lists[k], make_cursor(lists[i], "7")).has_value()
            == (i == k));
}

TEST_CASE("a cursor in which any character was changed is refused") {
  auto cursor = make_cursor(jobs_of_a, "emails");
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    auto changed = cursor;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CHECK_FALSE(read_cursor(jobs_of_a, changed));
    CHECK_FALSE(read_cursor(jobs_of_a, cursor.substr(0, i)));
  }
  CHECK_FALSE(read_cursor(jobs_of_a, cursor + "A"));
  CHECK_FALSE(read_cursor(jobs_of_a, cursor + "="));
}

TEST_CASE("what is no cursor at all is refused") {
  for (auto text : {"", "emails", "0", "AAAAAAAAAAA", "\xff\xff", "%%%"})
    CHECK_FALSE(read_cursor(jobs_of_a, text));
  CHECK_FALSE(read_number_cursor(jobs_of_a, make_cursor(jobs_of_a, "x")));
}
