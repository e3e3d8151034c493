// `tidegate keys`: what it refuses and what it prints.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "tidegate/store.hpp"

namespace tidegate::http {

/// What was said about a key that is to be made, word for word.
struct key_wish {
  std::string project;
  /// Names of scopes, separated by commas.
  std::string scopes;
  std::string name;
  /// RFC 3339.
  std::optional<std::string> expires_at;
};

/// A key that can be stored.
struct new_key {
  /// The key itself, to be shown once and kept nowhere.
  std::string key;
  api_key_record record;
};

/// Draws a key as it was wished for, or says in one sentence what is wrong with
/// the wish.
result<new_key> make_key(const key_wish& wish, wall_time now);

/// Returns what is printed about a key that was stored: the key alone on the
/// first line, then what it is.
std::string print_created(const new_key& made);

/// Returns a table for people, with a line of headings.
std::string print_key_table(std::span<const api_key_record> keys);

/// Returns the same as a JSON array, spelled as the API spells it.
std::string print_key_json(std::span<const api_key_record> keys);

} // namespace tidegate::http
