#include "http/trace_context.hpp"

#include <algorithm>
#include <vector>

namespace tidegate::http {

namespace {

constexpr std::size_t traceparent_size = 55;
constexpr std::size_t traceparent_max = 512;
constexpr std::size_t tracestate_max = 512;
constexpr std::size_t members_max = 32;
constexpr std::size_t key_max = 256;
constexpr std::size_t value_max = 256;

bool is_lower_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

bool is_key(std::string_view text) {
  constexpr std::string_view first = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view rest = "abcdefghijklmnopqrstuvwxyz0123456789_-*/@";
  return !text.empty() && text.size() <= key_max
         && first.find(text.front()) != std::string_view::npos
         && text.find_first_not_of(rest) == std::string_view::npos
         && std::count(text.begin(), text.end(), '@') <= 1;
}

bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= value_max && text.back() != ' '
         && std::all_of(text.begin(), text.end(), [](char c) {
              return c >= ' ' && c <= '~' && c != ',' && c != '=';
            });
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  auto start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos)
    return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

} // namespace

bool is_traceparent(std::string_view text) {
  if (text.size() < traceparent_size || text.size() > traceparent_max)
    return false;
  auto version = text.substr(0, 2);
  auto trace = text.substr(3, 32);
  auto parent = text.substr(36, 16);
  auto flags = text.substr(53, 2);
  if (text[2] != '-' || text[35] != '-' || text[52] != '-')
    return false;
  if (!is_lower_hex(version) || !is_lower_hex(trace) || !is_lower_hex(parent)
      || !is_lower_hex(flags) || version == "ff" || is_zero(trace)
      || is_zero(parent))
    return false;
  if (text.size() == traceparent_size)
    return true;
  return version != "00" && text[traceparent_size] == '-'
         && std::all_of(text.begin(), text.end(),
                        [](char c) { return c > ' ' && c <= '~'; });
}

bool is_tracestate(std::string_view text) {
  if (text.size() > tracestate_max)
    return false;
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    auto end = text.find(',');
    auto member = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (member.empty())
      continue;
    auto split = member.find('=');
    auto key = member.substr(0, split);
    if (split == std::string_view::npos || !is_key(key)
        || !is_value(member.substr(split + 1))
        || std::find(keys.begin(), keys.end(), key) != keys.end())
      return false;
    keys.push_back(key);
  }
  return !keys.empty() && keys.size() <= members_max;
}

trace_context read_trace_context(std::span<const field_view> headers) {
  trace_context result;
  auto parents = 0;
  for (const auto& field : headers) {
    if (same_header_name(field.name, "traceparent")) {
      ++parents;
      result.traceparent = field.value;
    } else if (same_header_name(field.name, "tracestate")) {
      if (!result.tracestate.empty())
        result.tracestate += ',';
      result.tracestate += field.value;
    }
  }
  if (parents != 1 || !is_traceparent(result.traceparent))
    return {};
  if (!is_tracestate(result.tracestate))
    result.tracestate.clear();
  return result;
}

} // namespace tidegate::http
