#include "http/iso8601.hpp"

#include <algorithm>
#include <string_view>

namespace tidegate::http {

namespace {

// 0000-01-01T00:00:00Z
constexpr wall_time earliest{duration{-62'167'219'200'000'000}};

// Overwrites `text` with `value`, padded with zeroes to the width of `text`.
void print(char* text, int width, std::int64_t value) {
  for (auto i = width - 1; i >= 0; --i, value /= 10)
    text[i] = static_cast<char>('0' + value % 10);
}

} // namespace

std::string to_iso8601(wall_time at, precision digits) {
  using namespace std::chrono;
  auto since_epoch = std::clamp(at, earliest, far_future).time_since_epoch();
  auto day = floor<days>(since_epoch);
  year_month_day date{sys_days{day}};
  auto in_day = (since_epoch - day).count();
  std::string text = "0000-00-00T00:00:00.000000Z";
  print(&text[0], 4, static_cast<int>(date.year()));
  print(&text[5], 2, static_cast<unsigned>(date.month()));
  print(&text[8], 2, static_cast<unsigned>(date.day()));
  print(&text[11], 2, in_day / 3'600'000'000);
  print(&text[14], 2, in_day / 60'000'000 % 60);
  print(&text[17], 2, in_day / 1'000'000 % 60);
  print(&text[20], 6, in_day % 1'000'000);
  if (digits == precision::milliseconds)
    text.erase(23, 3);
  return text;
}

} // namespace tidegate::http
