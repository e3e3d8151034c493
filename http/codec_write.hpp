// Members that several objects have. Part of the codec.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/json_writer.hpp"
#include "tidegate/view.hpp"

namespace tidegate::http {

/// Prints the member `name`: what `present` says, or null.
template <class T, class F>
void optional_member(json_writer& out, std::string_view name,
                     const std::optional<T>& content, F present) {
  out.key(name);
  if (content)
    out.value(present(*content));
  else
    out.null();
}

void time_member(json_writer& out, std::string_view name,
                 std::optional<wall_time> at);

void job_member(json_writer& out, std::string_view name,
                std::optional<job_id> id);

/// Prints null where `text` is empty.
void text_member(json_writer& out, std::string_view name,
                 std::string_view text);

void headers_member(json_writer& out, const std::vector<header>& headers);

void blocked_by_member(json_writer& out, const std::vector<blocked_by>& list);

/// Prints `at` with its microseconds.
std::string exact_time(wall_time at);

/// Ends a page: `items` were begun.
void end_page(json_writer& out, std::string_view next_cursor);

/// The same for messages and their queues.
void end_items(json_writer& out, std::string_view next_cursor);

/// Prints a page whose items `write` prints.
template <class Range, class F>
std::string
print_page(const Range& items, std::string_view next_cursor, F write) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (const auto& item : items)
    write(out, item);
  end_page(out, next_cursor);
  return out.take();
}

} // namespace tidegate::http
