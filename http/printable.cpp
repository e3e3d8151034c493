#include "http/printable.hpp"

#include <algorithm>

#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

/// Returns the number of the character at `text[at]`, `length` bytes long.
/// @pre that many bytes are one well-formed character
char32_t code_point(std::string_view text, std::size_t at, std::size_t length) {
  auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  if (length == 1)
    return byte(0);
  auto result = byte(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i)
    result = (result << 6) | (byte(i) & 0x3fu);
  return result;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c
         || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e)
         || (c >= 0x2066 && c <= 0x2069);
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto length = utf8_length(text, at);
    if (length == 0 || is_control(code_point(text, at, length)))
      result += '?';
    else
      result += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string printable(std::string_view text, std::size_t characters) {
  auto shown = printable(text);
  if (utf8_characters(shown) <= characters)
    return shown;
  std::size_t at = 0;
  for (std::size_t n = 0; n + 3 < characters; ++n)
    at += utf8_length(shown, at);
  return shown.substr(0, at) + "...";
}

bool is_printable(std::string_view text) {
  return printable(text) == text;
}

} // namespace tidegate::http
