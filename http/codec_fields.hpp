// Reads single fields of a JSON object. Part of the codec.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "http/codec.hpp"
#include "http/json_scan.hpp"

namespace tidegate::http {

/// Takes `body` apart, an object nested at most `depth_max` deep.
std::variant<json_outline, malformed, complaints>
outline_of(std::string_view body, unsigned depth_max = payload_depth_max + 1);

/// Returns the string that `token`, with its quotes and escapes, stands for, or
/// nothing where an escape stands for half a character.
/// @pre `token` is a JSON string
std::optional<std::string> unquote(std::string_view token);

/// Returns the number that `token` stands for, an infinity where it is too
/// large.
/// @pre `token` is a JSON number
double to_double(std::string_view token);

/// Cuts what a client sent, valid UTF-8, to a length that fits into a message.
std::string shorten(std::string_view token);

// Each of these returns the value of `token`, a JSON text, or adds to `out`
// what is wrong with the field called `name`.

std::optional<std::string> read_string(std::string_view name,
                                       std::string_view token, complaints& out);

std::optional<double> read_number(std::string_view name, std::string_view token,
                                  complaints& out);

/// Reads a number without fraction and exponent. One that is negative or does
/// not fit becomes 18446744073709551615.
std::optional<std::uint64_t>
read_integer(std::string_view name, std::string_view token, complaints& out);

/// Reads an integer from `min` to `max`.
std::optional<std::uint64_t>
read_integer(std::string_view name, std::string_view token, std::uint64_t min,
             std::uint64_t max, complaints& out);

/// Reads seconds from `min` to `max`, rounded up to the next millisecond.
std::optional<duration> read_seconds(std::string_view name,
                                     std::string_view token, double min,
                                     double max, complaints& out);

/// Reads how many jobs an operation takes in a second.
std::optional<double> read_pace(std::string_view name, std::string_view token,
                                complaints& out);

std::optional<bool> read_boolean(std::string_view name, std::string_view token,
                                 complaints& out);

/// Reads a string of `min` to `max` characters, not bytes.
std::optional<std::string> read_text(std::string_view name,
                                     std::string_view token, std::size_t min,
                                     std::size_t max, complaints& out);

/// Reads an instant as `parse_iso8601` has it.
std::optional<wall_time> read_time(std::string_view name,
                                   std::string_view token, complaints& out);

/// Returns the first of `choices` that prints as `word`, or complains of what
/// there is to choose from.
template <class T, std::size_t N>
std::optional<T> choose(std::string_view name, std::string_view word,
                        const std::array<T, N>& choices, complaints& out);

/// Reads one of the words of an enumeration.
template <class T, std::size_t N>
std::optional<T> read_word(std::string_view name, std::string_view token,
                           const std::array<T, N>& choices, complaints& out) {
  auto word = read_string(name, token, out);
  return word ? choose(name, *word, choices, out) : std::nullopt;
}

/// Reads an object of strings.
std::optional<std::vector<header>> read_headers(std::string_view token,
                                                complaints& out);

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

/// Reads `body`, an object whose fields are called `names`. `fill` makes the
/// value of the slots that they were assigned to, empty where a field is
/// missing, and adds to the complaints what is wrong.
template <std::size_t N, class F>
auto decode_object(std::string_view body,
                   const std::array<std::string_view, N>& names, F fill,
                   unsigned depth_max = payload_depth_max + 1)
  -> decoded<std::decay_t<
    std::invoke_result_t<F, std::array<std::string_view, N>&, complaints&>>> {
  auto outline = outline_of(body, depth_max);
  if (auto what = std::get_if<malformed>(&outline))
    return std::move(*what);
  if (auto what = std::get_if<complaints>(&outline))
    return std::move(*what);
  complaints out;
  std::array<std::string_view, N> slots{};
  assign_fields(std::get<json_outline>(outline).parts, names, slots, {}, out);
  auto result = fill(slots, out);
  if (!out.empty())
    return out;
  return result;
}

/// The same where an empty body stands for `{}`.
template <std::size_t N, class F>
auto decode_optional_object(std::string_view body,
                            const std::array<std::string_view, N>& names,
                            F fill) {
  return decode_object(body.empty() ? std::string_view{"{}"} : body, names,
                       std::move(fill));
}

// -- implementation -----------------------------------------------------------

/// Returns `a, b or c`.
std::string list_of(std::span<const char* const> words);

template <class T, std::size_t N>
std::optional<T> choose(std::string_view name, std::string_view word,
                        const std::array<T, N>& choices, complaints& out) {
  std::array<const char*, N> words;
  for (std::size_t i = 0; i < N; ++i) {
    words[i] = to_string(choices[i]);
    if (word == words[i])
      return choices[i];
  }
  out.add(std::string{name},
          "must be " + list_of(words) + ", got '" + shorten(word) + "'");
  return std::nullopt;
}

} // namespace tidegate::http
