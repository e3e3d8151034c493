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

/// Reads from the front of a text what has a fixed form.
class front_reader {
public:
  explicit front_reader(std::string_view text) : text_(text) {
    // nop
  }

  /// Takes exactly `digits` digits that make a number from `min` to `max`.
  bool number(std::size_t digits, int min, int max, int& out) {
    if (text_.size() < digits)
      return false;
    out = 0;
    for (auto c : text_.substr(0, digits)) {
      if (c < '0' || c > '9')
        return false;
      out = out * 10 + (c - '0');
    }
    text_.remove_prefix(digits);
    return out >= min && out <= max;
  }

  /// Takes one of `letters`.
  char one_of(std::string_view letters) {
    if (text_.empty() || letters.find(text_.front()) == std::string_view::npos)
      return 0;
    auto result = text_.front();
    text_.remove_prefix(1);
    return result;
  }

  /// Takes digits behind a point, as microseconds.
  bool fraction(std::int64_t& out) {
    std::int64_t unit = 100'000;
    auto digits = 0;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
         ++digits, unit /= 10) {
      out += unit * (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return digits > 0;
  }

  bool date(std::chrono::sys_days& out) {
    int year = 0;
    int month = 0;
    int day = 0;
    if (!number(4, 0, 9999, year) || !one_of("-") || !number(2, 1, 12, month)
        || !one_of("-") || !number(2, 1, 31, day))
      return false;
    std::chrono::year_month_day date{
      std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
      std::chrono::day{static_cast<unsigned>(day)}};
    out = date;
    return date.ok();
  }

  /// Takes the time of a day, since midnight.
  bool time(duration& out) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    std::int64_t micros = 0;
    if (!number(2, 0, 23, hour) || !one_of(":") || !number(2, 0, 59, minute)
        || !one_of(":") || !number(2, 0, 59, second)
        || (one_of(".") && !fraction(micros)))
      return false;
    out = std::chrono::hours{hour} + std::chrono::minutes{minute}
          + std::chrono::seconds{second} + duration{micros};
    return true;
  }

  /// Takes how far ahead of UTC the clock is that was read.
  bool offset(std::chrono::minutes& out) {
    auto sign = one_of("Zz+-");
    if (sign == 'Z' || sign == 'z')
      return true;
    int hour = 0;
    int minute = 0;
    if (!sign || !number(2, 0, 23, hour) || !one_of(":")
        || !number(2, 0, 59, minute))
      return false;
    out = std::chrono::hours{hour} + std::chrono::minutes{minute};
    if (sign == '-')
      out = -out;
    return true;
  }

  bool at_end() const {
    return text_.empty();
  }

private:
  std::string_view text_;
};

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

std::optional<wall_time> parse_iso8601(std::string_view text) {
  front_reader in{text};
  std::chrono::sys_days day;
  duration time{0};
  std::chrono::minutes offset{0};
  if (!in.date(day) || !in.one_of("Tt") || !in.time(time) || !in.offset(offset)
      || !in.at_end())
    return std::nullopt;
  wall_time result{duration{day.time_since_epoch()} + time - offset};
  if (result < earliest || result > far_future)
    return std::nullopt;
  return result;
}

std::optional<std::int64_t> parse_day(std::string_view text) {
  front_reader in{text};
  std::chrono::sys_days day;
  if (!in.date(day) || !in.at_end())
    return std::nullopt;
  return day.time_since_epoch().count();
}

std::string print_day(std::int64_t days_since_epoch) {
  return to_iso8601(wall_time{std::chrono::days{days_since_epoch}})
    .substr(0, 10);
}

} // namespace tidegate::http
