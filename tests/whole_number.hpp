// A check for options that are whole numbers.

#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace tidegate {

/// Returns what is wrong with the number, nothing where nothing is: CLI11
/// itself takes -1 for the largest one, and so whatever is larger than that.
inline std::string check_whole_number(const std::string& text) {
  std::uint64_t value = 0;
  auto end = text.data() + text.size();
  auto [last, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc{} && last == end)
    return {};
  return "must be 0 to "
         + std::to_string(std::numeric_limits<std::uint64_t>::max()) + ", got "
         + text;
}

} // namespace tidegate
