// Where a list goes on, as text that means nothing to its reader.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::http {

enum class list_kind : std::uint8_t {
  queues,
  jobs,
  dead_letters,
  limit_keys,
  operations,
  api_keys,
  pull_queues,
  dead_messages,
};

/// A list that has pages. A cursor of one is none of another.
struct list_name {
  list_kind kind = list_kind::queues;
  std::string_view project = {};

  /// Where it is a list of something inside of a queue.
  std::string_view queue = {};
};

/// Returns the cursor of a page whose last item was at `position`. It is the
/// same on every server, and stays valid when that item is gone.
std::string make_cursor(const list_name& list, std::string_view position);

/// Returns the position in `cursor`, nothing where `make_cursor` did not make
/// it for this list. That guards against mistakes; it keeps nothing secret.
std::optional<std::string> read_cursor(const list_name& list,
                                       std::string_view cursor);

/// The same for positions that are numbers.
std::string make_cursor(const list_name& list, std::uint64_t position);

std::optional<std::uint64_t> read_number_cursor(const list_name& list,
                                                std::string_view cursor);

} // namespace tidegate::http
