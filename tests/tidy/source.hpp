// A source file as the rules see it.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tidegate::tidy {

/// A file of the tree.
struct source {
  /// Relative to the root of the tree, with slashes: `actors/core/gate.cpp`.
  std::string path;

  /// As they stand there, without the ends of line.
  std::vector<std::string> lines;
};

/// Something that breaks a rule.
struct finding {
  std::string path;

  /// Counted from 1; 0: the file as a whole.
  std::size_t line;

  std::string message;

  bool operator==(const finding&) const = default;
};

using findings = std::vector<finding>;

/// Makes a source of a text, for the tests of the rules.
source from_text(std::string path, const std::string& text);

/// Reads every file below the folders of the project that people write: code,
/// build files, scripts, prose. What tools put there is left out.
std::vector<source> read_tree(const std::filesystem::path& root);

/// Returns the lines with comments and the content of string and character
/// literals taken out, so that only code is left. Line numbers stay.
std::vector<std::string> code_of(const source& file);

/// Whether the file is C++.
bool is_cpp(const source& file);

/// Whether the file is a C++ header.
bool is_header(const source& file);

} // namespace tidegate::tidy
