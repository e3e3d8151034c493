#include "actors/core/utf8.hpp"

#include <algorithm>

namespace tidegate {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Returns the length that the first byte of a character promises, 0 where no
/// character starts like this.
std::size_t promised_length(unsigned char first) {
  if (first < 0x80)
    return first == 0 ? 0 : 1;
  if (first >= 0xC2 && first <= 0xDF)
    return 2;
  if (first >= 0xE0 && first <= 0xEF)
    return 3;
  if (first >= 0xF0 && first <= 0xF4)
    return 4;
  return 0;
}

/// Rules out overlong forms, surrogates and what lies above U+10FFFF, as table
/// 3-7 of the Unicode standard has it.
bool second_byte_fits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

/// Returns the length of the valid character at the front, 0 where there is
/// none.
std::size_t valid_length(std::string_view text) {
  auto first = static_cast<unsigned char>(text.front());
  auto length = promised_length(first);
  if (length < 2)
    return length;
  if (text.size() < length
      || !std::all_of(text.begin() + 1, text.begin() + length, is_continuation)
      || !second_byte_fits(first, static_cast<unsigned char>(text[1])))
    return 0;
  return length;
}

/// Returns whether `text` is the beginning of a character and nothing else.
bool is_cut_off(std::string_view text) {
  return text.size() < promised_length(static_cast<unsigned char>(text.front()))
         && std::all_of(text.begin() + 1, text.end(), is_continuation);
}

} // namespace

std::string to_valid_utf8(std::string_view bytes, std::size_t bytes_max) {
  std::string result;
  while (!bytes.empty() && !is_cut_off(bytes)) {
    auto length = valid_length(bytes);
    auto piece = length == 0 ? replacement : bytes.substr(0, length);
    if (result.size() + piece.size() > bytes_max)
      break;
    result += piece;
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

} // namespace tidegate
