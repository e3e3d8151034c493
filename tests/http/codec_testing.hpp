// What the tests of the codec share.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/codec.hpp"

/// Returns what is complained of about `field`, empty where nothing is.
template <class T>
std::vector<std::string>
complaints_of(const tidegate::http::decoded<T>& what, std::string_view field) {
  std::vector<std::string> result;
  if (auto wrong = std::get_if<tidegate::http::complaints>(&what))
    for (const auto& x : wrong->fields)
      if (x.field == field)
        result.push_back(x.message);
  return result;
}

template <class T>
bool is_malformed(const tidegate::http::decoded<T>& what) {
  return std::holds_alternative<tidegate::http::malformed>(what);
}

template <class T>
bool is_sound(const tidegate::http::decoded<T>& what) {
  return std::holds_alternative<T>(what);
}

/// A list with one message, to compare with `complaints_of`.
inline std::vector<std::string> just(std::string message) {
  return {std::move(message)};
}
