// The config file: TOML, one key a setting.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys.hpp"

namespace tidegate::config {

/// What stands in a config file.
struct file_content {
  /// What is right.
  std::vector<assignment> assignments;

  /// One sentence for each thing that is wrong, in the order of the lines,
  /// each beginning with `<name>:<line>: `.
  std::vector<std::string> problems;
};

/// Reads `text`; `name` is what complaints call the file.
file_content read_text(std::string_view text, const std::string& name);

/// Reads the file at `path`. One that cannot be opened is a problem.
file_content read_file(const std::filesystem::path& path);

/// What a file alone makes of a server.
struct checked_file {
  /// What it sets, the defaults otherwise.
  settings with;

  /// Everything that is wrong with it, one sentence each, with its line where
  /// it is one line that is wrong.
  std::vector<std::string> problems;
};

/// Reads and checks the file at `path`.
checked_file check_file(const std::filesystem::path& path);

} // namespace tidegate::config
