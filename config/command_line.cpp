#include "config/command_line.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <CLI/CLI.hpp>

#include "config/api_grammar.hpp"
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
  CLI::App* keys = nullptr;
  CLI::App* create = nullptr;
  CLI::App* list = nullptr;
  CLI::App* revoke = nullptr;
  CLI::App* backup = nullptr;
  CLI::App* check = nullptr;
  CLI::App* version = nullptr;
  flag_words words;
  std::optional<std::string> config;
  std::string checked;
  std::string copy;
  create_key created;
  list_keys listed;
  revoke_key revoked;
  std::optional<api_grammar> api;

private:
  void add_data(CLI::App& to);
  CLI::App* add_keys_command(const char* name, const char* help);
  void add_setting(CLI::App& to, const key& entry);
  void add_keys();
};

grammar::grammar() {
  app.require_subcommand(0, 1);
  app.footer(
    "Environment: TIDEGATE_API_KEY is the first admin key, and "
    "TIDEGATE_<NAME> sets what the flag --<name> of serve sets.");
  serve = app.add_subcommand("serve", "Runs the server");
  serve->add_option("--config", config, "config file (none)")
    ->type_name("FILE");
  for (const auto& entry : config::keys())
    add_setting(*serve, entry);
  add_keys();
  api.emplace(app);
  backup = app.add_subcommand(
    "backup", "Copies the data, whether a server is running or not");
  backup->add_option("file", copy, "the copy, which must not exist yet")
    ->type_name("FILE")
    ->required();
  add_data(*backup);
  check = app.add_subcommand("check-config", "Says what is wrong with a file");
  check->add_option("file", checked, "config file")
    ->type_name("FILE")
    ->required();
  version = app.add_subcommand("version", "Says what this is built from");
}

void grammar::add_setting(CLI::App& to, const key& entry) {
  to.add_option(flag_of(entry.name), words[entry.name], entry.help)
    ->type_name(entry.value_name)
    ->expected(1)
    ->allow_extra_args(false)
    ->multi_option_policy(entry.kind == key_kind::list
                            ? CLI::MultiOptionPolicy::TakeAll
                            : CLI::MultiOptionPolicy::TakeLast);
}

/// Adds what says where the data is.
void grammar::add_data(CLI::App& to) {
  to.add_option("--config", config, "config file (none)")->type_name("FILE");
  add_setting(to, *find_key("data"));
}

CLI::App* grammar::add_keys_command(const char* name, const char* help) {
  auto* added = keys->add_subcommand(name, help);
  add_data(*added);
  return added;
}

void grammar::add_keys() {
  keys = app.add_subcommand("keys",
                            "Makes, lists and revokes API keys, "
                            "whether a server is running or not");
  keys->require_subcommand(1);
  create = add_keys_command("create", "Makes a key and prints it, this once");
  create->add_option("--project", created.project, "whose it is")
    ->type_name("NAME")
    ->required();
  create
    ->add_option("--scopes", created.scopes,
                 "what it may do: publish, work, read, manage, admin, or "
                 "several with commas")
    ->type_name("SCOPES")
    ->required();
  create->add_option("--name", created.name, "for people (none)")
    ->type_name("TEXT");
  create
    ->add_option("--expires-at", created.expires_at,
                 "when it ends, such as 2030-01-31T00:00:00Z (never)")
    ->type_name("TIME");
  list = add_keys_command("list",
                          "Lists the keys, without the keys themselves");
  list->add_flag("--json", listed.json, "for programs");
  revoke = add_keys_command("revoke", "Ends a key at once");
  revoke->add_option("id", revoked.id, "its id, such as key_3")
    ->type_name("ID")
    ->required();
}

std::vector<assignment> from_flags(const flag_words& flags) {
  std::vector<assignment> result;
  for (const auto& entry : keys())
    if (auto given = flags.find(entry.name);
        given != flags.end() && !given->second.empty())
      result.push_back({&entry, given->second, flag_of(entry.name)});
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

/// Returns what is wrong where `--name=` has no value: CLI11 would take the
/// next word for it, most likely another option.
std::optional<std::string>
complaint_about_no_value(const std::vector<std::string>& arguments) {
  for (const auto& word : arguments) {
    if (word == "--")
      break;
    if (word.starts_with("--") && word.size() > 3
        && word.find('=') == word.size() - 1)
      return word.substr(0, word.size() - 1) + " must not be empty";
  }
  return std::nullopt;
}

/// Returns what is wrong where an option was taken for the value of another.
std::optional<std::string> complaint_about_option(const assignment& what) {
  for (const auto& word : what.words)
    if (word.starts_with("--"))
      return what.subject + " needs a value, got the option " + word;
  return std::nullopt;
}

/// Returns what is wrong where a value is empty that may be none: a variable of
/// the shell that is not set would turn off in silence what was asked for.
std::optional<std::string> complaint_about_empty(const assignment& what) {
  auto may_be_none = what.what->show(settings{}) == std::vector{std::string{}};
  if (!may_be_none || what.words != std::vector{std::string{}})
    return std::nullopt;
  return what.subject + " must not be empty: leave it out where there is none";
}

result<settings> read_settings(const grammar& given,
                               const environment& variables) {
  std::vector<assignment> all;
  auto file = given.config ? given.config : variables(variable_of("config"));
  if (file) {
    auto content = read_file(*file);
    if (!content.problems.empty())
      return refuse(content.problems.front());
    all = std::move(content.assignments);
  }
  for (auto& more : {from_variables(variables), from_flags(given.words)})
    for (auto& each : more) {
      if (auto sentence = complaint_about_option(each))
        return refuse(*sentence);
      if (auto sentence = complaint_about_empty(each))
        return refuse(*sentence);
      all.push_back(each);
    }
  settings with;
  if (auto sentence = assign(all, with))
    return refuse(*sentence);
  return with;
}

/// Returns the command that was given, which works on `with.data`.
result<command> read_command(grammar& given, const environment& variables) {
  auto with = read_settings(given, variables);
  if (!with)
    return with.reason();
  if (given.serve->parsed())
    return command{serve{std::move(*with)}};
  if (given.backup->parsed())
    return command{backup{with->data, given.copy}};
  if (given.create->parsed()) {
    given.created.data = with->data;
    return command{std::move(given.created)};
  }
  if (given.list->parsed()) {
    given.listed.data = with->data;
    return command{std::move(given.listed)};
  }
  given.revoked.data = with->data;
  return command{std::move(given.revoked)};
}

/// Returns the help of the command that was asked about.
show_help help_of(grammar& given) {
  for (auto* each : {given.create, given.list, given.revoke})
    if (each->parsed())
      return {each->help("tidegate keys")};
  if (auto text = given.api->help())
    return {*text};
  for (auto* each :
       {given.serve, given.keys, given.backup, given.check, given.version})
    if (each->parsed())
      return {each->help("tidegate")};
  return {given.app.help()};
}

/// Returns what was left over that is most likely a mistake: an option, else
/// the first word.
std::string odd_word(const CLI::App& app) {
  auto words = app.remaining(true);
  auto option = std::find_if(words.begin(), words.end(), [](const auto& x) {
    return x.size() > 1 && x.front() == '-';
  });
  if (option != words.end())
    return *option;
  return words.empty() ? std::string{} : words.front();
}

std::string say_extra(const std::string& word, const CLI::App& command,
                      const std::string& name) {
  if (word.starts_with("-"))
    return "There is no option " + word + ": " + name + " --help lists them";
  auto is_group = !command.get_subcommands({}).empty();
  return is_group ? "There is no command \"" + word + "\": " + name
                      + " --help lists them"
                  : '"' + word + "\" is one word too many: " + name
                      + " --help says what it takes";
}

/// Returns what a command insists on and was not given, as its help spells it;
/// empty where there is nothing.
std::string missing_word(const CLI::App& command) {
  for (const auto* option : command.get_options())
    if (option->get_required() && option->count() == 0)
      return option->get_positional() ? option->get_type_name()
                                      : option->get_name();
  return {};
}

/// Says in a sentence what CLI11 could not read.
std::string say(const CLI::Error& problem, const CLI::App& app) {
  std::string name{"tidegate"};
  const auto* command = &app;
  for (auto next = app.get_subcommands(); !next.empty();
       next = command->get_subcommands()) {
    command = next.front();
    name += ' ' + command->get_name();
  }
  std::string text = problem.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr)
    if (auto word = odd_word(app); !word.empty())
      return say_extra(word, *command, name);
  if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr)
    if (auto word = missing_word(*command); !word.empty())
      return word + " is missing: " + name + " --help says what it takes";
  auto colon = text.find(": ");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr
      && colon != std::string::npos && text.ends_with(" missing"))
    return text.substr(0, colon) + " needs a value: " + name
           + " --help says which";
  return text;
}

} // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const auto* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

result<command> parse_command_line(const std::vector<std::string>& arguments,
                                   const environment& variables) {
  if (auto sentence = complaint_about_no_value(arguments))
    return refuse(*sentence);
  grammar given;
  try {
    // CLI11 takes them off the back.
    given.app.parse(
      std::vector<std::string>{arguments.rbegin(), arguments.rend()});
  } catch (const CLI::CallForHelp&) {
    return command{help_of(given)};
  } catch (const CLI::Error& problem) {
    return refuse(say(problem, given.app));
  }
  if (given.version->parsed())
    return command{show_version{}};
  if ((given.check->parsed() && given.checked.empty())
      || (given.backup->parsed() && given.copy.empty()))
    return refuse("FILE must not be empty");
  if (given.check->parsed())
    return command{check_config{given.checked}};
  if (auto call = given.api->read(variables)) {
    if (!*call)
      return call->reason();
    return command{std::move(**call)};
  }
  if (!given.serve->parsed() && !given.keys->parsed()
      && !given.backup->parsed())
    return refuse("A command is missing: tidegate --help lists them");
  return read_command(given, variables);
}

} // namespace tidegate::config
