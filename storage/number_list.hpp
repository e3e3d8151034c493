// Lists of numbers in one column.

#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

/// Returns the numbers with a space after each. A floating point number is
/// written with as many digits as it takes to read the same number back.
template <class T>
std::string write_numbers(const std::vector<T>& numbers) {
  std::string text;
  for (auto number : numbers) {
    char digits[32];
    auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    text.append(digits, end);
    text += ' ';
  }
  return text;
}

/// Returns the numbers that `write_numbers` wrote; stops at the first thing
/// that is none.
template <class T>
std::vector<T> read_numbers(std::string_view text) {
  std::vector<T> numbers;
  auto* at = text.data();
  auto* end = at + text.size();
  while (at != end) {
    T number{};
    auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc{} || read.ptr == end)
      break;
    numbers.push_back(number);
    at = read.ptr + 1;
  }
  return numbers;
}

} // namespace tidegate
