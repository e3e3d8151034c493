// The texts that stand for messages and their leases.

#include <array>
#include <charconv>

#include "tidegate/pull_messages.hpp"

namespace tidegate {

namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

constexpr std::string_view message_prefix = "qmsg_";
constexpr std::size_t message_digits = 24;

constexpr std::string_view receipt_prefix = "rcpt_";
constexpr std::size_t check_digits = 16;

/// Mixes all bits of `x` into all bits of the result: the finalizer of
/// SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class T>
std::optional<T> parse_number(std::string_view text, int base) {
  T value = 0;
  auto end = text.data() + text.size();
  auto [rest, failed] = std::from_chars(text.data(), end, value, base);
  if (failed != std::errc{} || rest != end)
    return std::nullopt;
  return value;
}

} // namespace

std::string to_string(message_id id) {
  auto high = id.seq.value >> 16;
  auto low = id.seq.value << 48 | id.tag;
  std::string text(message_prefix.size() + message_digits, '0');
  text.replace(0, message_prefix.size(), message_prefix);
  for (auto i = text.size(); i-- > message_prefix.size();) {
    text[i] = alphabet[low & 31];
    low = low >> 5 | high << 59;
    high >>= 5;
  }
  return text;
}

std::optional<message_id> parse_message_id(std::string_view text) {
  if (text.size() != message_prefix.size() + message_digits
      || !text.starts_with(message_prefix))
    return std::nullopt;
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  for (auto c : text.substr(message_prefix.size())) {
    auto digit = alphabet.find(c);
    // 96 bits, no more.
    if (digit == std::string_view::npos || high >> 27 != 0)
      return std::nullopt;
    high = high << 5 | low >> 59;
    low = low << 5 | digit;
  }
  if (high >> 32 != 0)
    return std::nullopt;
  return message_id{job_seq{high << 16 | low >> 48}, low & max_48_bits};
}

receipt make_receipt(message_id id, std::uint64_t lease) {
  return {lease, mix(id.tag ^ mix(id.seq.value ^ mix(lease)))};
}

std::string to_string(receipt handle) {
  std::array<char, check_digits> digits;
  auto end = std::to_chars(digits.begin(), digits.end(), handle.check, 16).ptr;
  std::string check(digits.begin(), end);
  return std::string{receipt_prefix} + std::to_string(handle.lease) + "_"
         + std::string(check_digits - check.size(), '0') + check;
}

std::optional<receipt> parse_receipt(std::string_view text) {
  if (!text.starts_with(receipt_prefix))
    return std::nullopt;
  auto rest = text.substr(receipt_prefix.size());
  auto bar = rest.find('_');
  if (bar == std::string_view::npos || rest.size() - bar - 1 != check_digits)
    return std::nullopt;
  auto lease = parse_number<std::uint64_t>(rest.substr(0, bar), 10);
  auto check = parse_number<std::uint64_t>(rest.substr(bar + 1), 16);
  if (!lease || !check || to_string(receipt{*lease, *check}) != text)
    return std::nullopt;
  return receipt{*lease, *check};
}

const char* to_string(message_status status) {
  switch (status) {
    case message_status::available:
      return "available";
    case message_status::delayed:
      return "delayed";
    case message_status::in_flight:
      return "in_flight";
  }
  return "unknown";
}

} // namespace tidegate
