#include "config/api_grammar.hpp"

#include <algorithm>
#include <regex>

#include <CLI/CLI.hpp>

namespace tidegate::config {

namespace {

constexpr char default_url[] = "http://127.0.0.1:8080";

constexpr char exit_codes[] =
  "Exit code: 0 it was done, 1 the server refused or the thing is not there, 2 "
  "the command makes no sense, 3 no server could be reached.";

error refuse(std::string sentence) {
  return {errc::validation_failed, std::move(sentence)};
}

/// Whether `text` is a number as JSON has it (RFC 8259, section 6).
bool is_number(const std::string& text) {
  static const std::regex form{
    R"(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)"};
  return text.size() <= 32 && std::regex_match(text, form);
}

/// Whether a word has its own complaint where it is empty: those of every
/// command do.
bool is_common(const api_word& word) {
  auto common = api_common_words();
  return std::any_of(common.begin(), common.end(), [&](const auto& each) {
    return std::string_view{each.name} == word.name;
  });
}

std::string spelled(const api_word& word) {
  return by_place(word) ? word.value_name : std::string{"--"} + word.name;
}

/// Moves what was given for `name` out of the words, else reads the variable.
std::optional<std::string> take_common(call_api& from, const char* name,
                                       const environment& variables,
                                       const char* variable) {
  if (auto given = from.words.extract(name))
    return given.mapped().front();
  return variables(variable);
}

} // namespace

api_grammar::api_grammar(CLI::App& app) {
  std::map<std::string, CLI::App*> parents;
  for (const auto& group : api_groups()) {
    auto* added = app.add_subcommand(group.name, group.help);
    groups_.push_back(added);
    parents.emplace(group.name, added);
  }
  for (const auto& each : api_commands()) {
    auto* parent = parents.at(each.group);
    auto& added = commands_.emplace_back();
    added.what = &each;
    added.app = parent;
    if (*each.verb != '\0') {
      parent->require_subcommand(0, 1);
      added.app = parent->add_subcommand(each.verb, each.help);
    }
    added.app->footer(exit_codes);
    for (const auto& word : each.words)
      add_word(added, word);
    for (const auto& word : api_common_words())
      add_word(added, word);
  }
}

void api_grammar::add_word(bound_command& to, const api_word& word) {
  auto& bound = to.words.emplace_back();
  bound.what = &word;
  auto name = by_place(word) ? std::string{word.name}
                             : std::string{"--"} + word.name;
  if (word.kind == word_kind::flag) {
    bound.option = to.app->add_flag(name, word.help);
    return;
  }
  bound.option = word.kind == word_kind::list
                   ? to.app->add_option(name, bound.many, word.help)
                       ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                   : to.app->add_option(name, bound.one, word.help)
                       ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  bound.option->type_name(word.value_name)
    ->expected(1)
    ->allow_extra_args(false)
    ->required(word.kind == word_kind::place);
}

/// Whether nothing at all was given for a word, such as by a variable of the
/// shell that is not set.
bool api_grammar::is_empty(const bound_word& word) {
  if (word.what->kind == word_kind::list)
    return std::any_of(word.many.begin(), word.many.end(),
                       [](const auto& each) { return each.empty(); });
  return word.what->kind != word_kind::flag && word.one.empty()
         && !is_common(*word.what);
}

std::optional<error> api_grammar::take_words(const bound_command& from,
                                             call_api& out) {
  for (const auto& word : from.words) {
    if (word.option->count() == 0)
      continue;
    if (is_empty(word))
      return refuse(spelled(*word.what) + " must not be empty");
    switch (word.what->kind) {
      case word_kind::flag:
        out.words[word.what->name] = {};
        break;
      case word_kind::list:
        out.words[word.what->name] = word.many;
        break;
      case word_kind::number:
        if (!is_number(word.one))
          return refuse(spelled(*word.what) + " must be a number, got \""
                        + word.one + '"');
        [[fallthrough]];
      default:
        out.words[word.what->name] = {word.one};
    }
  }
  return std::nullopt;
}

std::optional<error> api_grammar::missing_command() const {
  for (auto* group : groups_)
    if (group->parsed())
      return refuse("A command is missing: tidegate " + group->get_name()
                    + " --help lists them");
  return std::nullopt;
}

std::optional<result<call_api>>
api_grammar::read(const environment& variables) const {
  auto given = std::find_if(commands_.begin(), commands_.end(),
                            [](auto& each) { return each.app->parsed(); });
  if (given == commands_.end())
    return missing_command();
  call_api call;
  call.group = given->what->group;
  call.verb = given->what->verb;
  if (auto reason = take_words(*given, call))
    return *reason;
  call.json = call.words.erase("json") != 0;
  call.url =
    take_common(call, "url", variables, "TIDEGATE_URL").value_or(default_url);
  call.tls_ca =
    take_common(call, "tls-ca", variables, "TIDEGATE_TLS_CA").value_or("");
  call.key =
    take_common(call, "key", variables, "TIDEGATE_API_KEY").value_or("");
  if (call.key.empty())
    return refuse("An API key is missing: set TIDEGATE_API_KEY or give --key");
  return call;
}

std::optional<std::string> api_grammar::help() const {
  for (const auto& each : commands_)
    if (each.app->parsed())
      return each.app->help(*each.what->verb == '\0'
                              ? "tidegate"
                              : std::string{"tidegate "} + each.what->group);
  for (auto* group : groups_)
    if (group->parsed())
      return group->help("tidegate");
  return std::nullopt;
}

} // namespace tidegate::config
