#include "config/config_file.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <toml++/toml.h>

namespace tidegate::config {

namespace {

using line_number = toml::source_index;

constexpr std::size_t file_bytes_max = 1'048'576;

std::string at(const std::string& name, line_number line) {
  return name + ":" + std::to_string(line) + ": ";
}

/// Returns what `kind` is called in a complaint.
const char* describe(key_kind kind) {
  switch (kind) {
    case key_kind::text:
      return "must be a string";
    case key_kind::integer:
      return "must be a whole number";
    case key_kind::number:
      return "must be a number";
    case key_kind::list:
      return "must be an array of strings";
  }
  return "must be something else";
}

/// Returns what a value is called in a complaint, which does not show it: it
/// may be a secret.
const char* name_of(const toml::node& value) {
  switch (value.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::table:
      return "a table";
    default:
      return "a time";
  }
}

/// Returns the words of a value, or nothing where its type is another.
std::optional<std::vector<std::string>> words_of(const toml::node& value,
                                                 key_kind kind) {
  using words = std::vector<std::string>;
  auto takes_integer = kind == key_kind::integer || kind == key_kind::number;
  if (takes_integer && value.is_integer())
    return words{std::to_string(value.as_integer()->get())};
  if (kind == key_kind::number && value.is_floating_point())
    return words{print_number(value.as_floating_point()->get())};
  if (kind == key_kind::text && value.is_string())
    return words{value.as_string()->get()};
  const auto* array = value.as_array();
  if (kind != key_kind::list || array == nullptr)
    return std::nullopt;
  words result;
  for (const auto& element : *array) {
    if (!element.is_string())
      return std::nullopt;
    result.push_back(element.as_string()->get());
  }
  return result;
}

/// A line's number with what was found there, to bring the lines in order.
template <class T>
using numbered = std::vector<std::pair<line_number, T>>;

template <class T>
std::vector<T> in_order(numbered<T> lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](auto& x, auto& y) { return x.first < y.first; });
  std::vector<T> result;
  for (auto& [line, content] : lines)
    result.push_back(std::move(content));
  return result;
}

/// Returns what is wrong with one line, as a sentence that lacks its subject;
/// nothing: the words are in `out`.
std::optional<std::string> read_line(const key* entry, const toml::node& value,
                                     std::vector<std::string>& out) {
  if (entry == nullptr)
    return "is not a known key";
  auto words = words_of(value, entry->kind);
  if (!words)
    return std::string{describe(entry->kind)} + ", got " + name_of(value);
  out = std::move(*words);
  settings scratch;
  return entry->read(out, scratch);
}

file_content read_table(const toml::table& root, const std::string& name) {
  numbered<assignment> assignments;
  numbered<std::string> problems;
  for (const auto& [id, value] : root) {
    auto line = id.source().begin.line;
    assignment each{find_key(id.str()), {}, at(name, line)};
    each.subject += id.str();
    if (auto problem = read_line(each.what, value, each.words))
      problems.emplace_back(line, each.subject + " " + *problem);
    else
      assignments.emplace_back(line, std::move(each));
  }
  return {in_order(std::move(assignments)), in_order(std::move(problems))};
}

} // namespace

file_content read_text(std::string_view text, const std::string& name) {
  try {
    return read_table(toml::parse(text, name), name);
  } catch (const toml::parse_error& problem) {
    auto line = problem.source().begin.line;
    return {{}, {at(name, line) + std::string{problem.description()}}};
  }
}

file_content read_file(const std::filesystem::path& path) {
  auto cannot = [&](const char* why) -> file_content {
    return {{}, {path.string() + " cannot be read" + why}};
  };
  std::error_code ignored;
  std::ifstream file{path};
  if (!file.is_open() || std::filesystem::is_directory(path, ignored))
    return cannot("");
  std::string text(file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad())
    return cannot("");
  if (text.size() > file_bytes_max)
    return cannot(": it is larger than 1 MiB");
  return read_text(text, path.string());
}

checked_file check_file(const std::filesystem::path& path) {
  auto content = read_file(path);
  checked_file result{{}, std::move(content.problems)};
  auto wrong = assign(content.assignments, result.with);
  if (wrong && result.problems.empty())
    result.problems.push_back(path.string() + ": " + *wrong);
  return result;
}

} // namespace tidegate::config
