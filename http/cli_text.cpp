#include "http/cli_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "http/iso8601.hpp"
#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

struct unit {
  std::int64_t microseconds;
  const char* name;
};

constexpr std::array<unit, 5> units{{{86'400'000'000, " d"},
                                     {3'600'000'000, " h"},
                                     {60'000'000, " min"},
                                     {1'000'000, " s"},
                                     {1'000, " ms"}}};

std::string count_of(std::int64_t count, const unit& of) {
  return std::to_string(count) + of.name;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

/// Whether a column has numbers, and beside them only cells without a value.
bool is_of_numbers(const std::vector<std::vector<std::string>>& rows,
                   std::size_t first, std::size_t column) {
  auto numbers = false;
  for (auto row = first; row < rows.size(); ++row) {
    const auto& cell = rows[row][column];
    numbers = numbers || is_number(cell);
    if (cell != "-" && !is_number(cell))
      return false;
  }
  return numbers;
}

std::optional<std::int64_t> unit_of(std::string_view text) {
  if (text.empty() || text == "s")
    return 1'000'000;
  if (text == "m" || text == "min")
    return 60'000'000;
  if (text == "h")
    return 3'600'000'000;
  if (text == "d")
    return 86'400'000'000;
  return std::nullopt;
}

} // namespace

std::string print_span(duration span) {
  auto rest = std::max<std::int64_t>(span.count(), 0);
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    if (rest < units[i].microseconds)
      continue;
    auto text = count_of(rest / units[i].microseconds, units[i]);
    auto less = rest % units[i].microseconds / units[i + 1].microseconds;
    auto seconds = i + 2 == units.size();
    return less == 0 || seconds ? text
                                : text + ' ' + count_of(less, units[i + 1]);
  }
  return count_of(rest / 1000, units.back());
}

std::optional<duration> parse_span(std::string_view text) {
  double count = 0;
  auto last = text.data() + text.size();
  auto [end, failure] = std::from_chars(text.data(), last, count,
                                        std::chars_format::fixed);
  auto unit = unit_of({end, static_cast<std::size_t>(last - end)});
  if (failure != std::errc{} || !unit || !(count >= 0))
    return std::nullopt;
  auto microseconds = count * static_cast<double>(*unit);
  if (microseconds > static_cast<double>(longest_wait.count()))
    return std::nullopt;
  return duration{static_cast<std::int64_t>(microseconds)};
}

std::string print_instant(wall_time at) {
  auto text = to_iso8601(at).substr(0, 19);
  text[10] = ' ';
  return text;
}

std::string print_instant(wall_time at, wall_time now) {
  auto ahead = at > now;
  auto span = print_span(ahead ? at - now : now - at);
  return print_instant(at)
         + (ahead ? " (in " + span + ')' : " (" + span + " ago)");
}

// -- table --------------------------------------------------------------------

text_table::text_table(std::vector<std::string> headings)
  : headings_(headings.empty() ? 0 : 1) {
  if (headings_ != 0)
    rows_.push_back(std::move(headings));
}

void text_table::add(std::vector<std::string> cells) {
  for (auto& cell : cells)
    cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string text_table::print() const {
  std::string text;
  if (rows_.empty())
    return text;
  auto columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, false);
  for (std::size_t i = 0; i < columns; ++i) {
    for (const auto& cells : rows_)
      widths[i] = std::max(widths[i], utf8_characters(cells[i]));
    right[i] = headings_ != 0 && is_of_numbers(rows_, headings_, i);
  }
  for (const auto& cells : rows_) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      std::string blanks(widths[i] - utf8_characters(cells[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += right[i] ? blanks + cells[i] : cells[i] + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string print_progress(std::uint64_t done, std::uint64_t total) {
  constexpr std::size_t width = 24;
  auto share = total == 0 ? 1.0
                          : std::min(1.0, static_cast<double>(done)
                                            / static_cast<double>(total));
  auto full = static_cast<std::size_t>(share * width);
  auto percent = std::to_string(static_cast<int>(share * 100));
  return '[' + std::string(full, '#') + std::string(width - full, '-') + "] "
         + std::string(percent.size() < 3 ? 3 - percent.size() : 0, ' ')
         + percent + " %  " + std::to_string(done) + " of "
         + std::to_string(total);
}

} // namespace tidegate::http
