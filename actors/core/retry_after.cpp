#include "actors/core/retry_after.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tidegate {

namespace {

constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar",
                                                     "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep",
                                                     "Oct", "Nov", "Dec"};

constexpr std::array<std::string_view, 7> day_names = {
  "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trim(std::string_view text) {
  auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Reads piece by piece; after the first piece that does not fit, all fail.
class scanner {
public:
  explicit scanner(std::string_view text) : rest_(text) {
    // nop
  }

  scanner& literal(std::string_view expected) {
    if (ok_ && rest_.starts_with(expected))
      rest_.remove_prefix(expected.size());
    else
      ok_ = false;
    return *this;
  }

  /// Reads exactly `width` digits.
  scanner& number(int& out, std::size_t width) {
    if (!ok_ || rest_.size() < width)
      return fail();
    out = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (!is_digit(rest_[i]))
        return fail();
      out = out * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    return *this;
  }

  /// Reads the day of asctime: two digits, or a blank and one.
  scanner& padded_day(int& out) {
    if (ok_ && rest_.starts_with(' '))
      return literal(" ").number(out, 1);
    return number(out, 2);
  }

  scanner& month(int& out) {
    auto name = rest_.substr(0, 3);
    auto found = std::find(months.begin(), months.end(), name);
    if (!ok_ || found == months.end())
      return fail();
    out = static_cast<int>(found - months.begin()) + 1;
    rest_.remove_prefix(3);
    return *this;
  }

  /// Reads a day's name, three letters of it or all.
  scanner& weekday(bool whole) {
    for (auto name : day_names) {
      auto expected = whole ? name : name.substr(0, 3);
      if (rest_.starts_with(expected)) {
        rest_.remove_prefix(expected.size());
        return *this;
      }
    }
    return fail();
  }

  scanner& time(int& hour, int& minute, int& second) {
    return number(hour, 2).literal(":").number(minute, 2).literal(":").number(
      second, 2);
  }

  bool done() const {
    return ok_ && rest_.empty();
  }

private:
  scanner& fail() {
    ok_ = false;
    return *this;
  }

  std::string_view rest_;
  bool ok_ = true;
};

struct civil {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::optional<wall_time> to_instant(const civil& c) {
  using namespace std::chrono;
  year_month_day date{year{c.year}, month{static_cast<unsigned>(c.month)},
                      day{static_cast<unsigned>(c.day)}};
  // 60 is a leap second.
  if (!date.ok() || c.hour > 23 || c.minute > 59 || c.second > 60)
    return std::nullopt;
  auto since_epoch = sys_days{date}.time_since_epoch() + hours{c.hour}
                     + minutes{c.minute} + seconds{c.second};
  return wall_time{since_epoch};
}

int year_of(wall_time t) {
  using namespace std::chrono;
  auto day = floor<days>(sys_time<microseconds>{t.time_since_epoch()});
  return static_cast<int>(year_month_day{day}.year());
}

/// RFC 9110: a year that appears to be more than 50 years ahead is the most
/// recent one in the past with the same last two digits.
int full_year(int two_digits, wall_time now) {
  auto this_year = year_of(now);
  auto year = this_year - this_year % 100 + two_digits;
  if (year > this_year + 50)
    year -= 100;
  return year;
}

/// Digits with an optional fraction, nothing else.
std::optional<duration> read_seconds(std::string_view text) {
  if (text.ends_with('s'))
    text.remove_suffix(1);
  auto whole = text.substr(0, text.find('.'));
  auto fraction = text.substr(std::min(text.size(), whole.size() + 1));
  auto all_digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  if (!all_digits(whole)
      || (whole.size() < text.size() && !all_digits(fraction)))
    return std::nullopt;
  constexpr std::int64_t seconds_max = longest_wait.count() / 1'000'000;
  std::int64_t seconds = 0;
  for (auto c : whole)
    seconds = std::min(seconds * 10 + (c - '0'), seconds_max);
  if (seconds == seconds_max)
    return longest_wait;
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 3; ++i)
    ms = ms * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  auto beyond = fraction.substr(std::min<std::size_t>(3, fraction.size()));
  if (beyond.find_first_not_of('0') != std::string_view::npos)
    ++ms;
  return std::chrono::seconds{seconds} + std::chrono::milliseconds{ms};
}

std::optional<duration> read_one(std::string_view value, std::string_view date,
                                 wall_time now) {
  if (auto wait = read_seconds(value))
    return wait;
  auto until = read_http_date(value, now);
  if (!until)
    return std::nullopt;
  auto from = read_http_date(trim(date), now).value_or(now);
  return std::clamp(*until - from, duration{0}, longest_wait);
}

} // namespace

std::optional<wall_time> read_http_date(std::string_view text, wall_time now) {
  civil c;
  // Sun, 06 Nov 1994 08:49:37 GMT
  if (scanner{text}
        .weekday(false)
        .literal(", ")
        .number(c.day, 2)
        .literal(" ")
        .month(c.month)
        .literal(" ")
        .number(c.year, 4)
        .literal(" ")
        .time(c.hour, c.minute, c.second)
        .literal(" GMT")
        .done())
    return to_instant(c);
  // Sunday, 06-Nov-94 08:49:37 GMT
  if (scanner{text}
        .weekday(true)
        .literal(", ")
        .number(c.day, 2)
        .literal("-")
        .month(c.month)
        .literal("-")
        .number(c.year, 2)
        .literal(" ")
        .time(c.hour, c.minute, c.second)
        .literal(" GMT")
        .done()) {
    c.year = full_year(c.year, now);
    return to_instant(c);
  }
  // Sun Nov  6 08:49:37 1994
  if (scanner{text}
        .weekday(false)
        .literal(" ")
        .month(c.month)
        .literal(" ")
        .padded_day(c.day)
        .literal(" ")
        .time(c.hour, c.minute, c.second)
        .literal(" ")
        .number(c.year, 4)
        .done())
    return to_instant(c);
  return std::nullopt;
}

std::optional<duration> read_retry_after(const std::vector<std::string>& values,
                                         std::string_view date, wall_time now) {
  std::optional<duration> result;
  for (const auto& value : values) {
    auto wait = read_one(trim(value), date, now);
    if (!wait || (result && *result != *wait))
      return std::nullopt;
    result = wait;
  }
  return result;
}

} // namespace tidegate
