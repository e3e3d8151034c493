// Reads single fields of a JSON object. Part of the codec.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "http/codec.hpp"
#include "http/json_scan.hpp"

namespace tidegate::http {

/// Takes `body` apart. `depth_max` counts from the values of its members.
std::variant<json_outline, malformed, complaints>
outline_of(std::string_view body);

/// Returns the string that `token`, with its quotes and escapes, stands for, or
/// nothing where an escape stands for half a character.
/// @pre `token` is a JSON string
std::optional<std::string> unquote(std::string_view token);

/// Returns the number that `token` stands for, an infinity where it is too
/// large.
/// @pre `token` is a JSON number
double to_double(std::string_view token);

/// Cuts what a client sent to a length that fits into a message.
std::string shorten(std::string_view token);

// Each of these returns the value of `token`, a JSON text, or adds to `out`
// what is wrong with the field called `name`.

std::optional<std::string> read_string(std::string_view name,
                                       std::string_view token, complaints& out);

std::optional<double> read_number(std::string_view name, std::string_view token,
                                  complaints& out);

/// Reads a number without fraction and exponent. One that does not fit becomes
/// 4294967295.
std::optional<std::uint32_t>
read_integer(std::string_view name, std::string_view token, complaints& out);

/// Returns the parts of an array or object.
std::optional<std::vector<json_part>>
read_parts(std::string_view name, std::string_view token, json_kind kind,
           complaints& out);

/// Assigns the members of `object` to `slots`, which stand for the fields that
/// are called `names`. Complains of those that are unknown or given twice;
/// `prefix` goes before their names.
void assign_fields(std::span<const json_part> object,
                   std::span<const std::string_view> names,
                   std::span<std::string_view> slots, std::string_view prefix,
                   complaints& out);

} // namespace tidegate::http
