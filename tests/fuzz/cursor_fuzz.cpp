// Cursors as a client may send them.

#include "http/cursor.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <string>

namespace tidegate::fuzz {

void run(std::string_view input) {
  chooser choose{input};
  auto kind = static_cast<http::list_kind>(choose.below(8));
  auto split = choose.below(64);
  auto rest = choose.rest();
  split = std::min(split, rest.size());
  http::list_name list{kind, "project", rest.substr(0, split)};
  auto position = rest.substr(split);
  must(http::read_cursor(list, http::make_cursor(list, position)) == position,
       "a cursor is read as it was made");
  if (auto read = http::read_cursor(list, position))
    must(http::make_cursor(list, *read) == position,
         "what is read was made for this list");
  if (auto read = http::read_number_cursor(list, position))
    must(http::make_cursor(list, *read) == position,
         "a number that is read was made for this list");
}

} // namespace tidegate::fuzz
