#include "tidegate/ids.hpp"

#include <charconv>
#include <limits>

namespace tidegate {

namespace {

constexpr std::string_view prefix = "job_";

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

constexpr std::size_t digits = 26;

constexpr std::string_view api_key_prefix = "key_";
constexpr std::string_view operation_prefix = "op_";

/// Reads a number as `std::to_string` prints it.
std::optional<std::uint64_t> parse_number(std::string_view text,
                                          std::string_view before) {
  if (!text.starts_with(before))
    return std::nullopt;
  text.remove_prefix(before.size());
  std::uint64_t value = 0;
  auto end = text.data() + text.size();
  auto [rest, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc{} || rest != end || std::to_string(value) != text)
    return std::nullopt;
  return value;
}

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

std::string to_string(api_key_id id) {
  return std::string{api_key_prefix} + std::to_string(id.value);
}

std::optional<api_key_id> parse_api_key_id(std::string_view text) {
  auto value = parse_number(text, api_key_prefix);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max())
    return std::nullopt;
  return api_key_id{static_cast<std::uint32_t>(*value)};
}

std::string to_string(operation_id id) {
  return std::string{operation_prefix} + std::to_string(id.value);
}

std::optional<operation_id> parse_operation_id(std::string_view text) {
  if (auto value = parse_number(text, operation_prefix))
    return operation_id{*value};
  return std::nullopt;
}

} // namespace tidegate
