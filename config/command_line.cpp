#include "config/command_line.hpp"

#include <cstdlib>
#include <map>

#include <CLI/CLI.hpp>

#include "config/config_file.hpp"
#include "config/keys.hpp"

namespace tidegate::config {

namespace {

/// The flags that were given, by key. A flag that was not given has no words.
using flag_words = std::map<std::string, std::vector<std::string>>;

error refuse(std::string sentence) {
  return {errc::validation_failed, std::move(sentence)};
}

/// The commands as CLI11 has them, and where it leaves what it reads.
struct grammar {
  grammar();

  CLI::App app{"Tidegate, a durable job queue server", "tidegate"};
  CLI::App* serve = nullptr;
  CLI::App* check = nullptr;
  CLI::App* version = nullptr;
  flag_words words;
  std::optional<std::string> config;
  std::string checked;
};

grammar::grammar() {
  app.require_subcommand(0, 1);
  app.footer(
    "Environment: TIDEGATE_API_KEY is the first admin key, and "
    "TIDEGATE_<NAME> sets what the flag --<name> of serve sets.");
  serve = app.add_subcommand("serve", "Runs the server");
  serve->add_option("--config", config, "config file (none)")
    ->type_name("FILE");
  for (const auto& entry : keys())
    serve->add_option(flag_of(entry.name), words[entry.name], entry.help)
      ->type_name(entry.value_name)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(entry.kind == key_kind::list
                              ? CLI::MultiOptionPolicy::TakeAll
                              : CLI::MultiOptionPolicy::TakeLast);
  check = app.add_subcommand("check-config", "Says what is wrong with a file");
  check->add_option("file", checked, "config file")
    ->type_name("FILE")
    ->required();
  version = app.add_subcommand("version", "Says what this is built from");
}

std::vector<assignment> from_flags(const flag_words& flags) {
  std::vector<assignment> result;
  for (const auto& entry : keys())
    if (const auto& words = flags.at(entry.name); !words.empty())
      result.push_back({&entry, words, flag_of(entry.name)});
  return result;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in{text};
  for (std::string word; std::getline(in, word, ',');)
    result.push_back(word);
  return result;
}

std::vector<assignment> from_variables(const environment& variables) {
  std::vector<assignment> result;
  for (const auto& entry : keys()) {
    auto name = variable_of(entry.name);
    if (auto text = variables(name)) {
      auto words = entry.kind == key_kind::list
                     ? split_at_commas(*text)
                     : std::vector<std::string>{*text};
      result.push_back({&entry, std::move(words), name});
    }
  }
  return result;
}

result<command> read_serve(const grammar& given, const environment& variables) {
  std::vector<assignment> all;
  auto file = given.config ? given.config : variables(variable_of("config"));
  if (file) {
    auto content = read_file(*file);
    if (!content.problems.empty())
      return refuse(content.problems.front());
    all = std::move(content.assignments);
  }
  for (auto& more : {from_variables(variables), from_flags(given.words)})
    all.insert(all.end(), more.begin(), more.end());
  serve result;
  if (auto sentence = assign(all, result.with))
    return refuse(*sentence);
  return command{std::move(result)};
}

/// Returns the help of the command that was asked about.
show_help help_of(grammar& given) {
  for (auto* each : {given.serve, given.check, given.version})
    if (each->parsed())
      return {each->help("tidegate")};
  return {given.app.help()};
}

} // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const auto* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

result<command> parse_command_line(const std::vector<std::string>& arguments,
                                   const environment& variables) {
  grammar given;
  try {
    // CLI11 takes them off the back.
    given.app.parse(
      std::vector<std::string>{arguments.rbegin(), arguments.rend()});
  } catch (const CLI::CallForHelp&) {
    return command{help_of(given)};
  } catch (const CLI::Error& problem) {
    return refuse(problem.what());
  }
  if (given.version->parsed())
    return command{show_version{}};
  if (given.check->parsed())
    return command{check_config{given.checked}};
  if (!given.serve->parsed())
    return refuse("A command is missing: serve, check-config or version");
  return read_serve(given, variables);
}

} // namespace tidegate::config
