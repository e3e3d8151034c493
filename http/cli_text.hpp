// Text for people at a terminal: tables, spans, instants.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/printable.hpp"
#include "tidegate/time.hpp"

namespace tidegate::http {

/// Prints a span in its two largest units, what is smaller being cut off:
/// `450 ms`, `28 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. A negative one is
/// printed as 0.
std::string print_span(duration span);

/// Reads a span as people write it: a number with the unit `s`, `m`, `h` or `d`
/// behind it, or none, which means seconds. Nothing where it is anything else
/// or longer than `longest_wait`.
std::optional<duration> parse_span(std::string_view text);

/// Prints an instant in UTC, to the second: `2030-01-31 12:00:05`.
std::string print_instant(wall_time at);

/// The same with how far it is: `2030-01-31 12:00:05 (in 28 s)`, or `(3 s
/// ago)`.
std::string print_instant(wall_time at, wall_time now);

/// Cells in columns that fit, two blanks apart. What is not printable becomes
/// so.
class text_table {
public:
  /// A table with a line of headings. Where there are none it has no such line.
  explicit text_table(std::vector<std::string> headings = {});

  /// Adds a row of as many cells as there are headings.
  void add(std::vector<std::string> cells);

  /// Returns how many rows were added.
  std::size_t rows() const {
    return rows_.size() - headings_;
  }

  /// Prints all of it. Columns whose cells are all numbers stand to the right.
  std::string print() const;

private:
  std::size_t headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// Draws how far something is, in one line of less than 80 characters:
/// `[############------------]  50 %  500 of 1000`.
std::string print_progress(std::uint64_t done, std::uint64_t total);

} // namespace tidegate::http
