#include "tests/tidy/layers.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>

namespace tidegate::tidy {

namespace {

/// An `#include`, or nothing.
struct include {
  std::size_t line;
  std::string name;
  bool angled;
};

std::vector<include> includes_of(const source& file) {
  static const std::regex form{R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)"};
  std::vector<include> result;
  std::smatch match;
  for (std::size_t i = 0; i < file.lines.size(); ++i)
    if (std::regex_match(file.lines[i], match, form))
      result.push_back({i + 1, match[2], match[1] == "<"});
  return result;
}

std::string folder_of(std::string_view path) {
  return std::string{path.substr(0, path.find('/'))};
}

bool starts_with_any(std::string_view text,
                     std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [=](auto prefix) { return text.starts_with(prefix); });
}

/// Whether actor-facing parts of the embedding API stand in this header.
bool is_actor_header(std::string_view path) {
  auto all = {"actors/include/tidegate/actor_transport.hpp",
              "actors/include/tidegate/protocol.hpp",
              "actors/include/tidegate/service.hpp",
              "actors/include/tidegate/type_ids.hpp"};
  return std::find(all.begin(), all.end(), path) != all.end();
}

bool is_core_or_value(const source& file) {
  return starts_with_any(file.path,
                         {"actors/core/", "actors/include/tidegate/"})
         && is_cpp(file) && !is_actor_header(file.path);
}

/// Returns the folder in which a header stands that is included by this name.
std::string home_of(const include& what) {
  auto doors = {"tidegate/memory_store.hpp", "tidegate/sqlite_backup.hpp",
                "tidegate/sqlite_store.hpp"};
  auto is_door = std::find(doors.begin(), doors.end(), what.name)
                 != doors.end();
  return is_door ? "storage" : folder_of(what.name);
}

bool may_include_folder(const source& from, const std::string& folder) {
  auto own = folder_of(from.path);
  if (own == folder || own == "tests" || own == "examples")
    return true;
  if (folder == "tests" || folder == "examples")
    return false;
  if (folder == "storage" || folder == "http" || folder == "config")
    return from.path == "http/main.cpp";
  return true;
}

bool is_std(const include& what) {
  return what.angled && what.name.find_first_of("./") == std::string::npos;
}

/// Whether a header is for the few files that instantiate Asio and Beast: those
/// of the client and of the sessions with their tests, but not `client.hpp` and
/// `server.hpp`, which are for everybody.
bool is_inside_of_http(std::string_view path) {
  return starts_with_any(path, {"http/client_", "http/server_", "http/session",
                                "http/worker", "http/listener", "tests/http/"});
}

/// Whether `name` is of a library that takes seconds to compile.
bool is_heavy_library(std::string_view name) {
  return starts_with_any(name, {"boost/asio", "boost/beast", "boost/json",
                                "spdlog/", "CLI/", "toml++/", "nlohmann/"})
         && name != "nlohmann/json_fwd.hpp";
}

/// Knows which includes are dear, whether directly or by what they include.
class price_list {
public:
  explicit price_list(const std::vector<source>& tree) {
    for (const auto& file : tree)
      if (is_header(file))
        headers_.emplace(file.path, includes_of(file));
  }

  bool is_heavy(const std::string& name) {
    if (is_heavy_library(name))
      return true;
    auto known = prices_.emplace(name, false);
    auto header = headers_.find(name);
    if (!known.second || header == headers_.end())
      return known.first->second;
    const auto& inner = header->second;
    auto result = std::any_of(inner.begin(), inner.end(), [this](auto& each) {
      return is_heavy(each.name);
    });
    return prices_[name] = result;
  }

private:
  std::map<std::string, std::vector<include>> headers_;
  std::map<std::string, bool> prices_;
};

bool is_codec(std::string_view path) {
  return path.starts_with("http/codec") && path.ends_with(".cpp");
}

} // namespace

findings check_folders(const source& file) {
  findings result;
  if (!is_cpp(file))
    return result;
  for (const auto& each : includes_of(file)) {
    auto folder = home_of(each);
    if (!each.angled && !may_include_folder(file, folder))
      result.push_back(
        {file.path, each.line,
         folder_of(file.path) + "/ must not include " + each.name});
  }
  return result;
}

findings check_core_includes(const source& file) {
  findings result;
  if (!is_core_or_value(file))
    return result;
  auto in_core = file.path.starts_with("actors/core/");
  for (const auto& each : includes_of(file)) {
    auto own = !each.angled
               && (each.name.starts_with("tidegate/")
                   || (in_core && each.name.starts_with("actors/core/")));
    auto actor = is_actor_header("actors/include/" + each.name);
    if (actor || !(own || is_std(each)))
      result.push_back({file.path, each.line,
                        "values and logic must not include " + each.name});
  }
  return result;
}

findings check_core_is_pure(const source& file) {
  static const std::regex impure{
    R"(_clock::now\b|\bclock_gettime\b|\bstd::time\s*\(|\bgettimeofday\b)"
    R"(|\bgetenv\b|\brandom_device\b|\bmt19937|\brand\s*\(|\bprintf\s*\()"
    R"(|\bstd::(cout|cerr|clog)\b|\bspdlog\b|\bstd::j?thread\b|\bstd::mutex\b)"
    R"(|#\s*include\s*<(random|iostream|thread|mutex|fstream|future)>)"};
  findings result;
  if (!file.path.starts_with("actors/core/") || !is_cpp(file))
    return result;
  auto code = code_of(file);
  std::smatch match;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (std::regex_search(code[i], match, impure))
      result.push_back(
        {file.path, i + 1, "the logic must not use " + match.str()});
  return result;
}

findings check_heavy_includes(const std::vector<source>& tree) {
  findings result;
  price_list prices{tree};
  for (const auto& file : tree) {
    if (!is_cpp(file))
      continue;
    auto cheap = is_header(file) && !is_inside_of_http(file.path);
    for (const auto& each : includes_of(file)) {
      if (each.name == "caf/all.hpp")
        result.push_back({file.path, each.line, "include only what is used"});
      else if (cheap && prices.is_heavy(each.name))
        result.push_back(
          {file.path, each.line, each.name + " is too dear for a header"});
    }
  }
  return result;
}

findings check_json(const source& file) {
  findings result;
  if (!is_cpp(file) || is_codec(file.path) || folder_of(file.path) == "tests")
    return result;
  for (const auto& each : includes_of(file))
    if (each.name.starts_with("nlohmann/") && is_heavy_library(each.name))
      result.push_back(
        {file.path, each.line, each.name + " belongs in http/codec*.cpp"});
  return result;
}

} // namespace tidegate::tidy
