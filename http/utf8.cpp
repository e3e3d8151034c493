#include "http/utf8.hpp"

#include <algorithm>

namespace tidegate::http {

std::size_t utf8_length(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  auto follows = [&](std::size_t i, unsigned min = 0x80, unsigned max = 0xbf) {
    return byte(i) >= min && byte(i) <= max;
  };
  auto lead = byte(0);
  if (lead < 0x80)
    return 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    auto min = lead == 0xe0 ? 0xa0u : 0x80u;
    auto max = lead == 0xed ? 0x9fu : 0xbfu;
    return follows(1, min, max) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    auto min = lead == 0xf0 ? 0x90u : 0x80u;
    auto max = lead == 0xf4 ? 0x8fu : 0xbfu;
    return follows(1, min, max) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::size_t utf8_characters(std::string_view text) {
  return static_cast<std::size_t>(
    std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto n = utf8_length(text, i);
    if (n == 0)
      return false;
    i += n;
  }
  return true;
}

} // namespace tidegate::http
