#include "http/base64.hpp"

#include <cstdint>

namespace tidegate::http {

namespace {

constexpr std::string_view alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
}

} // namespace

std::string to_base64(std::string_view bytes) {
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto group = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8
                 | byte_at(bytes, i + 2);
    for (auto shift = 18; shift >= 0; shift -= 6)
      result += alphabet[group >> shift & 63];
  }
  if (auto odd = bytes.size() % 3; odd != 0)
    result.replace(result.size() - (3 - odd), 3 - odd, 3 - odd, '=');
  return result;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string result;
  std::uint32_t bits = 0;
  auto count = 0;
  auto end = text.find('=');
  for (auto c : text.substr(0, end)) {
    auto value = alphabet.find(c);
    if (value == std::string_view::npos)
      return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      result += static_cast<char>(bits >> count & 0xff);
    }
  }
  // Printing it again is the simplest check of padding and stray bits.
  if (to_base64(result) != text)
    return std::nullopt;
  return result;
}

} // namespace tidegate::http
