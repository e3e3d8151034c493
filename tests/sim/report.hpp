// Says what became of a plan: to people, and to programs.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/sim/plan.hpp"
#include "tests/sim/run.hpp"

namespace tidegate::sim {

/// Returns a span as people read it, e.g. `20 ms`, `12.6 s`, `3 h 20 min`.
std::string to_words(duration span);

/// Returns a number with a comma after each three digits.
std::string to_words(std::uint64_t number);

/// Returns a table with a column for each variant.
std::string to_table(const plan& what, std::uint64_t seed,
                     std::span<const outcome> results);

/// Returns the same and more as one JSON object in one line. Every duration is
/// in seconds.
std::string to_json(const plan& what, std::uint64_t seed,
                    std::span<const outcome> results);

/// Returns plots of what happened over time as an SVG document, with a column
/// for each variant. It takes light or dark colours as the reader prefers.
std::string to_svg(const plan& what, std::uint64_t seed,
                   std::span<const outcome> results);

} // namespace tidegate::sim
