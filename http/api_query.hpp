// Reads the parameters that several routes have. Part of the API.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/codec.hpp"
#include "http/cursor.hpp"
#include "http/query_reader.hpp"
#include "tidegate/messages.hpp"

namespace tidegate::http {

/// Reads `limit`: 1 to 1000, else `otherwise`.
std::size_t read_limit(query_reader& query, std::size_t otherwise = 100);

/// Reads `cursor`, nothing where there is none or a wrong one.
std::optional<std::string> read_cursor(query_reader& query,
                                       const list_name& list);

/// The same for positions that are numbers.
std::optional<std::uint64_t> read_number_cursor(query_reader& query,
                                                const list_name& list);

/// Reads `name`, which is `true` or `false`; else false.
bool read_flag(query_reader& query, std::string_view name);

/// Reads `name`, an instant.
std::optional<wall_time> read_instant(query_reader& query,
                                      std::string_view name);

/// Reads `name`, a day.
std::optional<std::int64_t> read_day(query_reader& query,
                                     std::string_view name);

/// Reads `by`.
std::optional<usage_by> read_usage_by(query_reader& query);

/// Reads `status`, `limitKey`, `reason`, `since` and `until`.
job_filter read_filter(query_reader& query);

/// Reads that, `idempotencyKey`, `include` and the page of `list`.
list_jobs read_list_jobs(query_reader& query, const list_name& list);

} // namespace tidegate::http
