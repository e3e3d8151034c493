// The one table of problems. Internal to their printing.

#pragma once

#include <string_view>

#include "http/problem.hpp"

namespace tidegate::http {

/// What belongs to a problem.
struct problem_row {
  problem what;
  unsigned status;

  /// As each family spells it.
  std::string_view code;
  std::string_view message_code;

  std::string_view sentence;

  /// Seconds; empty: no such header.
  std::string_view retry_after = {};
};

const problem_row& row_of(problem what);

problem problem_of(errc code);

/// Returns status and headers.
response head_of(problem what);

/// Most fields that are told of.
inline constexpr std::size_t fields_told_max = 100;

} // namespace tidegate::http
