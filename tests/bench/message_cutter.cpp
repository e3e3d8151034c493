#include "tests/bench/message_cutter.hpp"

#include <algorithm>
#include <charconv>

namespace tidegate::bench {

namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

/// Returns the length of the body that a head announces.
std::size_t body_length(std::string_view head) {
  constexpr std::string_view name = "\r\ncontent-length:";
  auto same = [](char x, char y) {
    return x == y || (x >= 'A' && x <= 'Z' && x - 'A' + 'a' == y);
  };
  auto hit = std::search(head.begin(), head.end(), name.begin(), name.end(),
                         same);
  if (hit == head.end())
    return 0;
  auto at = static_cast<std::size_t>(hit - head.begin()) + name.size();
  auto value =
    head.substr(std::min(head.find_first_not_of(' ', at), head.size()));
  return number_after(value, "").value_or(0);
}

} // namespace

void message_cutter::add(std::string_view bytes) {
  bytes_.erase(0, used_);
  used_ = 0;
  bytes_ += bytes;
}

std::optional<message> message_cutter::next() {
  auto rest = std::string_view{bytes_}.substr(used_);
  auto head_end = rest.find(end_of_head);
  if (head_end == std::string_view::npos)
    return std::nullopt;
  auto head = rest.substr(0, head_end);
  auto body_begin = head_end + end_of_head.size();
  auto length = body_length(head);
  if (rest.size() - body_begin < length)
    return std::nullopt;
  used_ += body_begin + length;
  return message{head, rest.substr(body_begin, length)};
}

unsigned status_of(std::string_view head) {
  return static_cast<unsigned>(number_after(head, "HTTP/1.1 ").value_or(0));
}

std::string_view text_after(std::string_view text, std::string_view label) {
  auto at = text.find(label);
  if (at == std::string_view::npos)
    return {};
  auto rest = text.substr(at + label.size());
  return rest.substr(0, rest.find('"'));
}

std::optional<std::uint64_t> number_after(std::string_view text,
                                          std::string_view label) {
  auto at = text.find(label);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::uint64_t number = 0;
  auto begin = text.data() + at + label.size();
  auto [end, ec] = std::from_chars(begin, text.data() + text.size(), number);
  if (ec != std::errc{} || end == begin)
    return std::nullopt;
  return number;
}

} // namespace tidegate::bench
