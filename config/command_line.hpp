// What the program was asked to do.

#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "tidegate/error.hpp"

namespace tidegate::config {

/// `tidegate serve`: run the server.
struct serve {
  settings with;
};

/// `tidegate keys create`: make an API key and print it. The words are as they
/// were given.
struct create_key {
  std::filesystem::path data;
  std::string project;
  /// Separated by commas.
  std::string scopes;
  std::string name;
  std::optional<std::string> expires_at;
};

/// `tidegate keys list`: print the API keys.
struct list_keys {
  std::filesystem::path data;
  bool json = false;
};

/// `tidegate keys revoke ID`: remove an API key. The id is as it was given.
struct revoke_key {
  std::filesystem::path data;
  std::string id;
};

/// `tidegate backup FILE`: copy the store, whether a server runs on it or not.
struct backup {
  std::filesystem::path data;
  std::filesystem::path file;
};

/// `tidegate queues list` and its like: call the HTTP API of a server.
struct call_api {
  std::string url;
  std::string key;
  /// Empty: the system's authorities only.
  std::string tls_ca;
  /// Print what the API answers instead of tables.
  bool json = false;
  /// The command: see `api_command`.
  std::string group;
  std::string verb;
  /// Its words by their names, as they were given; of a flag there are none.
  std::map<std::string, std::vector<std::string>> words;
};

/// `tidegate check-config FILE`: print what `check_file` finds.
struct check_config {
  std::filesystem::path file;
};

/// `tidegate version`: print it.
struct show_version {};

/// `tidegate --help`, or of one command: print `text`.
struct show_help {
  std::string text;
};

using command = std::variant<serve, create_key, list_keys, revoke_key, backup,
                             call_api, check_config, show_version, show_help>;

/// Returns the value of an environment variable, if it is set.
using environment =
  std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the variables of this process.
/// @note not to be called while another thread changes them
std::optional<std::string> process_environment(const std::string& name);

/// Reads the arguments after the program's name. A setting is taken from its
/// flag, else from its variable, else from the config file, else it keeps its
/// default; `data` of the other commands likewise. The file is the one that
/// `--config` or `TIDEGATE_CONFIG` names, if any. An error is one sentence, to
/// be printed before exit 2.
result<command> parse_command_line(const std::vector<std::string>& arguments,
                                   const environment& variables);

} // namespace tidegate::config
