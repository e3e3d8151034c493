// The one table of what can be set. Flags, environment variables and keys of
// the config file all come from it. Included by config/*.cpp only.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace tidegate::config {

/// What a key's value is in the config file.
enum class key_kind : std::uint8_t { text, integer, number, list };

/// One thing that can be set. Adding one: a member of `settings`, a row in
/// keys.cpp, and a line in tidegate.example.toml.
struct key {
  /// As in the config file: `drain_timeout`.
  const char* name;

  key_kind kind;

  /// Stands for the value in the help: `SECONDS`.
  const char* value_name;

  /// What it does and its default, for the help.
  const char* help;

  /// Reads the words that were given into `out`. Returns why they are refused,
  /// as a sentence that lacks its subject: `must be 0 to 256, got 999`.
  std::optional<std::string> (*read)(const std::vector<std::string>& words,
                                     settings& out);

  /// Returns the words that `read` would read the same value from.
  std::vector<std::string> (*show)(const settings& from);
};

/// Returns all keys, in the order of the help.
std::span<const key> keys();

/// Returns the key of that name, or null.
const key* find_key(std::string_view name);

/// Returns the flag for a key: `--drain-timeout`.
std::string flag_of(std::string_view name);

/// Returns the environment variable for a key: `TIDEGATE_DRAIN_TIMEOUT`.
std::string variable_of(std::string_view name);

/// Prints a number as it is read.
std::string print_number(double number);

/// Returns what is wrong with settings that only make sense together, as a
/// sentence, nothing where all is well.
std::optional<std::string> complaint_about_pairs(const settings& what);

/// A key that was set somewhere.
struct assignment {
  const key* what;
  std::vector<std::string> words;

  /// Where, as the subject of a complaint: `--threads`, `TIDEGATE_THREADS` or
  /// `tidegate.toml:3: threads`.
  std::string subject;
};

/// Carries `all` out in order, later ones winning. Stops at the first that is
/// refused and returns the whole sentence.
std::optional<std::string> assign(std::span<const assignment> all,
                                  settings& out);

} // namespace tidegate::config
