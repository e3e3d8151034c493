// The commands that call the HTTP API of a running server: the one table that
// the command line, its help and the shell's completion come from.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tidegate::config {

/// How a word is given.
enum class word_kind : std::uint8_t {
  /// By its place; it has to be there.
  place,
  /// By its place; it may be missing.
  optional_place,
  /// As `--name TEXT`; of several the last one counts.
  text,
  /// As `--name N`, N being a number as JSON has it.
  number,
  /// As `--name TEXT`, any number of times.
  list,
  /// As `--name`.
  flag,
};

/// One word of a command.
struct api_word {
  /// `limit` for `--limit`; what is given by its place has a name, too.
  const char* name;

  word_kind kind;

  /// Stands for the value in the help; empty for a flag.
  const char* value_name;

  const char* help;
};

/// One command. Adding one: an entry here, and a row of its name in
/// `http/cli_commands.cpp`.
struct api_command {
  /// `queues` of `queues list`.
  const char* group;

  /// `list` of it; empty where the group is the command.
  const char* verb;

  const char* help;

  std::vector<api_word> words;
};

/// A group with what it is for.
struct api_group {
  const char* name;
  const char* help;
};

/// Returns all commands, those of a group next to each other.
std::span<const api_command> api_commands();

/// Returns the groups, in the order of the help.
std::span<const api_group> api_groups();

/// Returns the words that every one of these commands takes besides its own.
std::span<const api_word> api_common_words();

/// Whether a word is given by its place.
inline bool by_place(const api_word& word) {
  return word.kind == word_kind::place
         || word.kind == word_kind::optional_place;
}

} // namespace tidegate::config
