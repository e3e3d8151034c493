#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

namespace tidegate::tidy {

namespace {

/// Counts characters, not bytes, of UTF-8.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(
    std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

bool starts_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

// -- functions ----------------------------------------------------------------

/// Finds where functions begin and end by counting braces. A block belongs to a
/// function if what stands before it has a parameter list and is neither a
/// namespace nor a type; what is inside a function belongs to it.
class function_finder {
public:
  struct span {
    std::size_t first;
    std::size_t last;
  };

  explicit function_finder(const std::vector<std::string>& code) {
    for (line_ = 1; line_ <= code.size(); ++line_)
      if (!starts_with(code[line_ - 1], "#"))
        for (auto letter : code[line_ - 1] + ' ')
          take(letter);
  }

  const std::vector<span>& functions() const {
    return functions_;
  }

private:
  struct block {
    bool is_function;
    std::size_t first;
  };

  void take(char letter) {
    if (letter == '{')
      open();
    else if (letter == '}')
      close();
    else if (letter == ';')
      head_.clear();
    else
      add(letter);
  }

  void add(char letter) {
    if (head_.empty()) {
      if (std::isspace(static_cast<unsigned char>(letter)))
        return;
      head_line_ = line_;
    }
    head_ += letter;
  }

  void open() {
    auto inside = !blocks_.empty() && blocks_.back().is_function;
    auto first = head_.empty() ? line_ : head_line_;
    blocks_.push_back({inside || is_function_head(head_), first});
    head_.clear();
  }

  void close() {
    head_.clear();
    if (blocks_.empty())
      return;
    auto last = blocks_.back();
    blocks_.pop_back();
    auto outermost = blocks_.empty() || !blocks_.back().is_function;
    if (last.is_function && outermost)
      functions_.push_back({last.first, line_});
  }

  static bool is_function_head(const std::string& head) {
    static const std::regex scope{
      R"(^(template\s*<.*>\s*)?(inline\s+)?)"
      R"((namespace|class|struct|union|enum|extern)\b[^(]*)"};
    return head.find('(') != std::string::npos
           && !std::regex_match(head, scope);
  }

  std::size_t line_ = 1;
  std::size_t head_line_ = 1;
  std::string head_;
  std::vector<block> blocks_;
  std::vector<span> functions_;
};

// -- build files --------------------------------------------------------------

bool is_build_file(const source& file) {
  return file.path.ends_with("CMakeLists.txt") || file.path.ends_with(".cmake");
}

/// Returns the folder of a path with its slash, or nothing for the top.
std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

/// Returns the words of a build file.
std::set<std::string> words_of(const source& file) {
  std::set<std::string> result;
  for (auto line : file.lines) {
    line = line.substr(0, line.find('#'));
    std::replace_if(
      line.begin(), line.end(),
      [](char c) { return c == '(' || c == ')' || c == '"'; }, ' ');
    std::istringstream in{line};
    for (std::string word; in >> word;)
      result.insert(word);
  }
  return result;
}

} // namespace

findings check_lines(const source& file) {
  findings result;
  auto add = [&](std::size_t i, const char* message) {
    result.push_back({file.path, i + 1, message});
  };
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (file.lines[i].find('\t') != std::string::npos)
      add(i, "tab");
    if (is_cpp(file) && width_of(file.lines[i]) > line_length_max)
      add(i, "longer than 80 characters");
  }
  return result;
}

findings check_headers(const source& file) {
  auto& lines = file.lines;
  if (!is_header(file)
      || std::find(lines.begin(), lines.end(), "#pragma once") != lines.end())
    return {};
  return {{file.path, 0, "no #pragma once"}};
}

findings check_left_to_do(const source& file) {
  // Written in two parts, so that this file does not find itself.
  static const std::regex mark{
    "\\b(TO"
    "DO|FIX"
    "ME|XX"
    "X)\\b(?!\\(#[0-9]+\\))"};
  findings result;
  for (std::size_t i = 0; i < file.lines.size(); ++i)
    if (std::regex_search(file.lines[i], mark))
      result.push_back({file.path, i + 1, "left to do, without an issue"});
  return result;
}

findings check_function_length(const source& file) {
  findings result;
  if (!is_cpp(file) || starts_with(file.path, "tests/"))
    return result;
  function_finder finder{code_of(file)};
  for (auto [first, last] : finder.functions())
    if (last - first + 1 > function_length_max)
      result.push_back(
        {file.path, first,
         "function of " + std::to_string(last - first + 1) + " lines"});
  return result;
}

findings check_sleeps(const source& file) {
  static const std::regex sleep{
    R"(\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\()"};
  findings result;
  if (!starts_with(file.path, "tests/") || !is_cpp(file)
      || starts_with(file.path, "tests/http/")
      || starts_with(file.path, "tests/bench/")
      || starts_with(file.path, "tests/process/"))
    return result;
  auto code = code_of(file);
  for (std::size_t i = 0; i < code.size(); ++i)
    if (std::regex_search(code[i], sleep))
      result.push_back({file.path, i + 1, "sleeps; wait in virtual time"});
  return result;
}

findings check_linked(const std::vector<source>& tree) {
  std::map<std::string, std::set<std::string>> words_by_folder;
  for (const auto& file : tree)
    if (is_build_file(file))
      words_by_folder[folder_of(file.path)].merge(words_of(file));
  findings result;
  for (const auto& file : tree) {
    if (!file.path.ends_with(".cpp"))
      continue;
    auto is_named = [&](const auto& entry) {
      const auto& [folder, words] = entry;
      return starts_with(file.path, folder.c_str())
             && words.contains(file.path.substr(folder.size()));
    };
    if (std::none_of(words_by_folder.begin(), words_by_folder.end(), is_named))
      result.push_back({file.path, 0, "in no CMakeLists.txt"});
  }
  return result;
}

} // namespace tidegate::tidy
