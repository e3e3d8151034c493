// The commands that call the API: how they are read, and that the shell's
// completion and the manual have all of them.

#include "config/api_commands.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "config/command_line.hpp"

using namespace tidegate::config;

namespace {

using variables = std::map<std::string, std::string>;

const variables with_key{{"TIDEGATE_API_KEY", "k"}};

tidegate::result<command> parse(const std::vector<std::string>& arguments,
                                const variables& set = with_key) {
  return parse_command_line(
    arguments, [&](const std::string& name) -> std::optional<std::string> {
      auto hit = set.find(name);
      if (hit == set.end())
        return std::nullopt;
      return hit->second;
    });
}

call_api call_of(const std::vector<std::string>& arguments,
                 const variables& set = with_key) {
  auto parsed = parse(arguments, set);
  if (!parsed)
    FAIL(parsed.reason().message);
  return std::get<call_api>(*parsed);
}

std::string refusal_of(const std::vector<std::string>& arguments,
                       const variables& set = with_key) {
  auto parsed = parse(arguments, set);
  REQUIRE(!parsed);
  return parsed.reason().message;
}

/// Returns a command with something for every word that it insists on.
std::vector<std::string> least_words(const api_command& what) {
  std::vector<std::string> result{what.group};
  if (*what.verb != '\0')
    result.push_back(what.verb);
  for (const auto& word : what.words)
    if (word.kind == word_kind::place)
      result.push_back("1");
  return result;
}

std::string contents_of(const std::string& name) {
  std::ifstream in{CONFIG_DIR "/" + name};
  REQUIRE(in);
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Returns the options that the help of a command names, `--help` among them.
std::set<std::string> options_of(std::vector<std::string> command) {
  command.push_back("--help");
  auto parsed = parse(command);
  REQUIRE(parsed);
  std::istringstream in{std::get<show_help>(*parsed).text};
  std::set<std::string> result;
  for (std::string line; std::getline(in, line);) {
    auto at = line.find("--");
    if (line.starts_with("  ") && at != std::string::npos && at < 8)
      result.insert(line.substr(at, line.find_first_of(" ,", at) - at));
  }
  return result;
}

/// Returns what the completion has for a command: a line of the file is
/// `  'queues list') words='--limit ...' ;;`.
std::set<std::string> completed(const std::string& text,
                                const std::string& command) {
  auto begin = text.find("'" + command + "') words='");
  if (begin == std::string::npos)
    return {};
  begin = text.find("words='", begin) + 7;
  std::istringstream in{text.substr(begin, text.find('\'', begin) - begin)};
  std::set<std::string> result;
  for (std::string word; in >> word;)
    result.insert(word);
  return result;
}

/// Returns all commands with their words: `{"queues", "list"}`.
std::vector<std::vector<std::string>> every_command() {
  std::vector<std::vector<std::string>> result{
    {"serve"},  {"keys", "create"}, {"keys", "list"}, {"keys", "revoke"},
    {"backup"}, {"check-config"},   {"version"}};
  for (const auto& each : api_commands()) {
    result.push_back({each.group});
    if (*each.verb != '\0')
      result.back().push_back(each.verb);
  }
  return result;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

} // namespace

TEST_CASE("a call has its words by name") {
  auto call = call_of({"jobs", "publish", "emails", R"({"to":"a"})", "--delay",
                       "1.5", "--header", "a: 1", "--header", "b: 2",
                       "--limit-key", "x", "--limit-key", "y", "--json"});
  CHECK(call.group == "jobs");
  CHECK(call.verb == "publish");
  CHECK(call.json);
  std::map<std::string, std::vector<std::string>> expected{
    {"queue", {"emails"}},
    {"payload", {R"({"to":"a"})"}},
    {"delay", {"1.5"}},
    {"header", {"a: 1", "b: 2"}},
    {"limit-key", {"y"}}};
  CHECK(call.words == expected);
}

TEST_CASE("a payload is taken as it stands") {
  auto payload = GENERATE("{}", "[]", "[1,2]", "\"x\"", "-", "a b",
                          "{\"a\":[1,2]}", "%%", "null");
  auto call = call_of({"jobs", "publish", "q", payload});
  CHECK(call.words["payload"] == std::vector<std::string>{payload});
}

TEST_CASE("a flag that was given is there without words") {
  auto call = call_of({"dlq", "replay", "q", "--dry-run"});
  REQUIRE(call.words.contains("dry-run"));
  CHECK(call.words["dry-run"].empty());
  CHECK_FALSE(call.words.contains("no-wait"));
  CHECK_FALSE(call.json);
}

TEST_CASE("server, key and authorities come from flags, else the environment") {
  variables set{{"TIDEGATE_API_KEY", "k"},
                {"TIDEGATE_URL", "https://a.example"},
                {"TIDEGATE_TLS_CA", "ca.pem"}};
  auto from_environment = call_of({"queues", "list"}, set);
  CHECK(from_environment.url == "https://a.example");
  CHECK(from_environment.key == "k");
  CHECK(from_environment.tls_ca == "ca.pem");
  auto from_flags = call_of({"queues", "list", "--url", "http://b:1", "--key",
                             "l", "--tls-ca", "b.pem"},
                            set);
  CHECK(from_flags.url == "http://b:1");
  CHECK(from_flags.key == "l");
  CHECK(from_flags.tls_ca == "b.pem");
  CHECK(from_flags.words.empty());
  CHECK(call_of({"queues", "list"}).url == "http://127.0.0.1:8080");
  CHECK(call_of({"queues", "list"}).tls_ca.empty());
}

TEST_CASE("without a key there is no call") {
  CHECK(refusal_of({"queues", "list"}, {})
        == "An API key is missing: set TIDEGATE_API_KEY or give --key");
  CHECK(refusal_of({"queues", "list", "--key", ""}, {})
          .starts_with("An API key is missing"));
}

TEST_CASE("what should be a number has to be one as JSON has it") {
  auto number = GENERATE("0", "1", "-1", "1.5", "1e3", "0.25E-2");
  CHECK(call_of({"jobs", "publish", "q", "1", "--delay=" + std::string{number}})
          .words["delay"]
        == std::vector<std::string>{number});
  auto other = GENERATE("x", "1,\"priority\":9", "01", "+1", ".5", "1.", "1s",
                        "0x10", " 1", "NaN", "1 ");
  CHECK(
    refusal_of({"jobs", "publish", "q", "1", "--delay=" + std::string{other}})
    == "--delay must be a number, got \"" + std::string{other} + '"');
}

TEST_CASE("a word that is missing is named as the help shows it") {
  auto missing = [](const std::string& word, const std::string& command) {
    return word + " is missing: tidegate " + command
           + " --help says what it takes";
  };
  CHECK(refusal_of({"queues", "show"}) == missing("QUEUE", "queues show"));
  CHECK(refusal_of({"queues", "hold", "q"}) == missing("TIME", "queues hold"));
  CHECK(refusal_of({"jobs", "show"}) == missing("ID", "jobs show"));
  CHECK(refusal_of({"jobs", "publish", "q"})
        == missing("PAYLOAD", "jobs publish"));
  CHECK(refusal_of({"operations", "show"}) == missing("ID", "operations show"));
  CHECK(refusal_of({"backup"}) == missing("FILE", "backup"));
  CHECK(refusal_of({"backup", ""}) == "FILE must not be empty");
  CHECK(refusal_of({"check-config", ""}) == "FILE must not be empty");
  CHECK(refusal_of({"check-config"}) == missing("FILE", "check-config"));
  CHECK(refusal_of({"keys", "revoke"}) == missing("ID", "keys revoke"));
  CHECK(refusal_of({"keys", "create", "--scopes", "read"})
        == missing("--project", "keys create"));
}

TEST_CASE("calls without what they need are refused in one line") {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"queues"},
                                             {"queues", "show"},
                                             {"queues", "swim"},
                                             {"jobs", "publish", "q"},
                                             {"jobs", "show", "a", "b"},
                                             {"queues", "list", "--limit"},
                                             {"queues", "list", "--force"}}) {
    auto sentence = refusal_of(words);
    CHECK(!sentence.empty());
    CHECK(sentence.find('\n') == std::string::npos);
  }
}

TEST_CASE("a word that is empty is refused by its name") {
  CHECK(refusal_of({"pull", "show", ""}) == "QUEUE must not be empty");
  CHECK(refusal_of({"jobs", "explain", ""}) == "ID must not be empty");
  CHECK(refusal_of({"jobs", "publish", "q", ""})
        == "PAYLOAD must not be empty");
  CHECK(refusal_of({"pull", "redrive", "q", "--reason", ""})
        == "--reason must not be empty");
  CHECK(refusal_of({"dlq", "replay", "q", "--id", "job_1", "--id", ""})
        == "--id must not be empty");
  CHECK(refusal_of({"tail", "--queue", ""}) == "--queue must not be empty");
}

TEST_CASE("a word that is not known is named, with the help that is") {
  CHECK(refusal_of({"pull", "redrive", "work", "--max", "0"})
        == "There is no option --max: tidegate pull redrive --help lists them");
  CHECK(refusal_of({"serve", "--lisen", "127.0.0.1:1"})
        == "There is no option --lisen: tidegate serve --help lists them");
  CHECK(refusal_of({"queues", "swim"})
        == "There is no command \"swim\": tidegate queues --help lists them");
  CHECK(refusal_of({"swim"})
        == "There is no command \"swim\": tidegate --help lists them");
  CHECK(refusal_of({"jobs", "show", "a", "b"})
        == "\"b\" is one word too many: tidegate jobs show --help says what "
           "it takes");
  CHECK(refusal_of({"queues", "list", "--limit"})
        == "--limit needs a value: tidegate queues list --help says which");
}

TEST_CASE("every call can be made with the words that it insists on") {
  CHECK(api_commands().size() > 20);
  for (const auto& each : api_commands()) {
    auto call = call_of(least_words(each));
    CHECK(call.group == each.group);
    CHECK(call.verb == each.verb);
  }
}

TEST_CASE("the help of a call names all of its words") {
  for (const auto& each : api_commands()) {
    std::vector<std::string> words{each.group};
    if (*each.verb != '\0')
      words.push_back(each.verb);
    auto options = options_of(words);
    for (const auto& word : each.words) {
      CAPTURE(each.group, each.verb, word.name);
      CHECK(
        (by_place(word) || options.contains(std::string{"--"} + word.name)));
    }
    CHECK(options.contains("--url"));
  }
}

TEST_CASE("the data to copy is where the server would have it") {
  auto parsed = parse({"backup", "copy.db"}, {{"TIDEGATE_DATA", "/a"}});
  REQUIRE(parsed);
  CHECK(std::get<backup>(*parsed).file == "copy.db");
  CHECK(std::get<backup>(*parsed).data == "/a");
  CHECK(!refusal_of({"backup"}).empty());
}

TEST_CASE("the shell completes every command with its options and no others") {
  auto text = contents_of("tidegate.bash");
  for (const auto& words : every_command()) {
    CAPTURE(join(words));
    CHECK(completed(text, join(words)) == options_of(words));
  }
}

TEST_CASE("the shell completes the verbs of every group") {
  auto text = contents_of("tidegate.bash");
  std::map<std::string, std::set<std::string>> verbs;
  for (const auto& words : every_command())
    if (words.size() > 1)
      verbs[words[0]].insert(words[1]);
    else
      verbs[words[0]];
  std::set<std::string> all{"--help"};
  for (const auto& [group, of_group] : verbs) {
    all.insert(group);
    CAPTURE(group);
    auto expected = of_group;
    expected.insert("--help");
    if (!of_group.empty())
      CHECK(completed(text, group) == expected);
  }
  CHECK(completed(text, "") == all);
}

TEST_CASE("the manual has every command and every option") {
  auto text = contents_of("tidegate.1");
  for (const auto& words : every_command()) {
    CAPTURE(join(words));
    CHECK(text.find(".B tidegate " + join(words)) != std::string::npos);
    for (auto option : options_of(words)) {
      CAPTURE(option);
      for (auto at = option.find('-'); at != std::string::npos;
           at = option.find('-', at + 2))
        option.insert(at, "\\");
      CHECK(text.find(option) != std::string::npos);
    }
  }
}
