#include "tidegate/ids.hpp"

#include <array>

namespace tidegate {

namespace {

constexpr std::string_view prefix = "job_";

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

constexpr std::size_t digits = 26;

} // namespace

std::string to_string(job_id id) {
  auto high = std::uint64_t{id.queue.value} << 32 | id.seq.value >> 16;
  auto low = id.seq.value << 48 | id.tag;
  std::string text(prefix.size() + digits, '0');
  text.replace(0, prefix.size(), prefix);
  for (auto i = text.size(); i-- > prefix.size();) {
    text[i] = alphabet[low & 31];
    low = low >> 5 | high << 59;
    high >>= 5;
  }
  return text;
}

std::optional<job_id> parse_job_id(std::string_view text) {
  if (text.size() != prefix.size() + digits || !text.starts_with(prefix))
    return std::nullopt;
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  for (auto c : text.substr(prefix.size())) {
    auto digit = alphabet.find(c);
    if (digit == std::string_view::npos || high >> 59 != 0)
      return std::nullopt;
    high = high << 5 | low >> 59;
    low = low << 5 | digit;
  }
  return job_id{queue_id{static_cast<std::uint32_t>(high >> 32)},
                job_seq{(high & 0xffff'ffff) << 16 | low >> 48},
                low & max_48_bits};
}

} // namespace tidegate
