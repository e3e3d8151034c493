// The commands of api_commands.hpp as CLI11 has them. Included by config/*.cpp
// only.

#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/api_commands.hpp"
#include "config/command_line.hpp"

namespace CLI {

class App;
class Option;

} // namespace CLI

namespace tidegate::config {

/// What CLI11 reads of these commands. Must not be moved once it is built, and
/// must live as long as the application that it was added to is used.
class api_grammar {
public:
  /// Adds all commands to `app`.
  explicit api_grammar(CLI::App& app);

  api_grammar(const api_grammar&) = delete;
  api_grammar& operator=(const api_grammar&) = delete;

  /// Returns the command that was given with its words, nothing where it was
  /// another one. Where the key or the address is not given, it is that of the
  /// environment.
  std::optional<result<call_api>> read(const environment& variables) const;

  /// Returns the help of the command or group that was given, or nothing.
  std::optional<std::string> help() const;

private:
  struct bound_word {
    const api_word* what;
    CLI::Option* option;
    std::string one;
    std::vector<std::string> many;
  };

  struct bound_command {
    const api_command* what;
    CLI::App* app;
    std::deque<bound_word> words;
  };

  std::optional<error> missing_command() const;
  void add_word(bound_command& to, const api_word& word);
  static bool is_empty(const bound_word& word);
  static std::optional<error> take_words(const bound_command& from,
                                         call_api& out);

  std::deque<bound_command> commands_;
  std::vector<CLI::App*> groups_;
};

} // namespace tidegate::config
