#include "tests/tidy/source.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tidegate::tidy {

namespace {

constexpr std::array folders{"actors", "http",     "storage", "config",
                             "docs",   "examples", "tests"};

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> result;
  for (std::string line; std::getline(in, line);)
    result.push_back(line);
  return result;
}

source read_file(const std::filesystem::path& root,
                 const std::filesystem::path& path) {
  std::ifstream in{path};
  return {path.lexically_relative(root).generic_string(), lines_of(in)};
}

bool is_written_by_people(const std::filesystem::path& path) {
  auto name = path.filename().string();
  if (name == "CMakeLists.txt")
    return true;
  auto kinds = {".cpp", ".hpp", ".cmake", ".md", ".mjs", ".sh", ".toml"};
  return std::find(kinds.begin(), kinds.end(), path.extension().string())
         != kinds.end();
}

/// Takes comments and literals out, one character at a time.
class stripper {
public:
  std::string strip(const std::string& line) {
    std::string code;
    for (std::size_t at = 0; at < line.size();)
      at = step(line, at, code);
    return code;
  }

private:
  /// Looks at what stands at `at`, adds what of it is code to `code` and
  /// returns where to go on.
  std::size_t step(const std::string& line, std::size_t at, std::string& code) {
    std::string_view rest{line};
    rest.remove_prefix(at);
    if (!terminator_.empty())
      return skip_to_terminator(line, at);
    if (rest.starts_with("//"))
      return line.size();
    if (rest.starts_with("/*"))
      return begin("*/", at + 2);
    if (rest.starts_with("R\"")) {
      auto open = line.find('(', at);
      return begin(")" + line.substr(at + 2, open - at - 2) + "\"", open + 1);
    }
    if (rest.front() == '"' || (rest.front() == '\'' && !in_number(line, at)))
      return end_of_literal(line, at);
    code += rest.front();
    return at + 1;
  }

  std::size_t begin(std::string terminator, std::size_t at) {
    terminator_ = std::move(terminator);
    return at;
  }

  std::size_t skip_to_terminator(const std::string& line, std::size_t at) {
    auto end = line.find(terminator_, at);
    if (end == std::string::npos)
      return line.size();
    end += terminator_.size();
    terminator_.clear();
    return end;
  }

  /// Whether the quote at `at` separates digits.
  static bool in_number(const std::string& line, std::size_t at) {
    return at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1]));
  }

  static std::size_t end_of_literal(const std::string& line, std::size_t at) {
    auto quote = line[at];
    for (++at; at < line.size() && line[at] != quote; ++at)
      if (line[at] == '\\')
        ++at;
    return at + 1;
  }

  /// What ends the comment or raw string that we are in; empty: in code.
  std::string terminator_;
};

} // namespace

source from_text(std::string path, const std::string& text) {
  std::istringstream in{text};
  return {std::move(path), lines_of(in)};
}

std::vector<source> read_tree(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<source> result;
  for (const auto* folder : folders) {
    if (!fs::exists(root / folder))
      continue;
    fs::recursive_directory_iterator walk{root / folder};
    for (const auto& entry : walk) {
      if (entry.path().filename() == "node_modules")
        walk.disable_recursion_pending();
      else if (entry.is_regular_file() && is_written_by_people(entry.path()))
        result.push_back(read_file(root, entry.path()));
    }
  }
  for (const auto& entry : fs::directory_iterator{root})
    if (entry.is_regular_file() && is_written_by_people(entry.path()))
      result.push_back(read_file(root, entry.path()));
  result.push_back(read_file(root, root / "dev"));
  return result;
}

std::vector<std::string> code_of(const source& file) {
  stripper each;
  std::vector<std::string> result;
  for (const auto& line : file.lines)
    result.push_back(each.strip(line));
  return result;
}

bool is_cpp(const source& file) {
  return file.path.ends_with(".cpp") || is_header(file);
}

bool is_header(const source& file) {
  return file.path.ends_with(".hpp");
}

} // namespace tidegate::tidy
