// Prints JSON into a string, piece by piece.

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tidegate::http {

/// Prints one JSON text without blanks. Sets the commas; that brackets and keys
/// match is up to the caller.
class json_writer {
public:
  json_writer& begin_object() {
    return open('{');
  }

  json_writer& end_object() {
    return close('}');
  }

  json_writer& begin_array() {
    return open('[');
  }

  json_writer& end_array() {
    return close(']');
  }

  /// Starts a member of the object. `name` may be any bytes.
  json_writer& key(std::string_view name);

  /// Prints a string. Bytes that are not UTF-8 become U+FFFD.
  json_writer& value(std::string_view text);

  json_writer& value(const char* text) {
    return value(std::string_view{text});
  }

  json_writer& value(std::same_as<bool> auto flag) {
    return raw(flag ? "true" : "false");
  }

  json_writer& value(std::uint64_t number);

  json_writer& value(std::uint32_t number) {
    return value(std::uint64_t{number});
  }

  /// Prints whole numbers without point and exponent, others as short as they
  /// can be read back.
  /// @pre `number` is finite
  json_writer& value(double number);

  json_writer& null() {
    return raw("null");
  }

  /// Prints `json` as it is.
  /// @pre `json` is a JSON text
  json_writer& raw(std::string_view json);

  /// Prints the member `name` with `content`.
  template <class T>
  json_writer& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// Makes room for `bytes` more.
  void reserve(std::size_t bytes) {
    out_.reserve(out_.size() + bytes);
  }

  /// Returns what was printed.
  std::string take() {
    return std::move(out_);
  }

private:
  json_writer& open(char bracket);

  json_writer& close(char bracket);

  void separate();

  void string(std::string_view text);

  std::string out_;
  bool comma_ = false;
};

} // namespace tidegate::http
