// Checks a JSON text and finds its parts without taking them out of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidegate::http {

/// A part of an array or object. The views point into the scanned text.
struct json_part {
  /// With its quotes and escapes as they stand; empty in an array.
  std::string_view key;

  /// Byte for byte, without the blanks around it.
  std::string_view value;
};

enum class json_kind : std::uint8_t {
  object,
  array,
  string,
  number,
  boolean,
  null,
};

/// Returns the word for people with its article, e.g. `an object`.
const char* to_string(json_kind kind);

/// Returns the kind of a value that is known to be JSON.
/// @pre `!value.empty()`
json_kind kind_of(std::string_view value);

/// A JSON text, one level of it taken apart.
struct json_outline {
  json_kind kind = json_kind::null;

  /// Members of an object or elements of an array, as they follow one another.
  std::vector<json_part> parts;
};

/// Why a text is not taken.
struct json_fault {
  /// For people, e.g. `expected a value`.
  const char* what;

  /// Where, in bytes from the start.
  std::size_t at = 0;
};

/// Checks the whole of `text` against RFC 8259 and RFC 3629. Accepts any number
/// and any `\u` escape that the grammar allows, and keys that are given twice,
/// but no nesting deeper than `depth_max` (a scalar has depth 0).
std::variant<json_outline, json_fault> scan_json(std::string_view text,
                                                 unsigned depth_max);

} // namespace tidegate::http
