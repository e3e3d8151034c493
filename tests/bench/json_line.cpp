#include "tests/bench/json_line.hpp"

#include <charconv>

namespace tidegate::bench {

json_line& json_line::add(std::string_view name, double number) {
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  if (text_.size() > 1)
    text_ += ',';
  text_ += '"';
  text_ += name;
  text_ += "\":";
  text_.append(digits, end);
  return *this;
}

} // namespace tidegate::bench
