// Every rule bites, and only where it should.

#include "tests/tidy/rules.hpp"

#include <catch2/catch.hpp>

#include "tests/tidy/layers.hpp"

namespace tidegate::tidy {

namespace {

/// Returns the lines that `rule` finds fault with in `text`.
std::vector<std::size_t> lines_found(findings (*rule)(const source&),
                                     const char* path,
                                     const std::string& text) {
  std::vector<std::size_t> result;
  for (const auto& each : rule(from_text(path, text)))
    result.push_back(each.line);
  return result;
}

using lines = std::vector<std::size_t>;

/// Returns whether `rule` finds fault with a file that includes `name`.
bool bites(findings (*rule)(const source&), const char* path,
           const std::string& name) {
  return !lines_found(rule, path, "\n#include " + name + "\n").empty();
}

bool is_dear(const char* path, const std::string& name) {
  return !check_heavy_includes({from_text(path, "#include " + name)}).empty();
}

std::string function_of(std::size_t length) {
  std::string result = "int f(int x) {\n";
  for (std::size_t i = 2; i < length; ++i)
    result += "  ++x;\n";
  return result + "}\n";
}

} // namespace

// -- what is code -------------------------------------------------------------

TEST_CASE("comments and literals are not code") {
  auto file = from_text("x.cpp",
                        "a // b\n"
                        "c /* d */ e\n"
                        "f /* g\n"
                        "h */ i\n"
                        "j(\"k \\\" //\", '\"') l\n"
                        "R\"(m\n"
                        "n)\" o\n"
                        "1'000 + 2'000\n");
  CHECK(code_of(file)
        == std::vector<std::string>{"a ", "c  e", "f ", " i", "j(, ) l", "",
                                    " o", "1'000 + 2'000"});
}

// -- layers -------------------------------------------------------------------

TEST_CASE("actors include no other folder") {
  auto name = GENERATE("\"storage/schema.hpp\"", "\"http/keys.hpp\"",
                       "\"config/settings.hpp\"", "\"tests/testkit/clock.hpp\"",
                       "\"examples/x.hpp\"");
  CHECK(bites(check_folders, "actors/queue_actor.cpp", name));
  CHECK(!bites(check_folders, "tests/actors/queue_actor.cpp", name));
}

TEST_CASE("the outer folders do not include each other") {
  CHECK(bites(check_folders, "storage/schema.cpp", "\"http/keys.hpp\""));
  CHECK(bites(check_folders, "http/server.cpp", "\"storage/schema.hpp\""));
  CHECK(bites(check_folders, "config/keys.cpp", "\"http/keys.hpp\""));
  CHECK(!bites(check_folders, "http/main.cpp", "\"storage/schema.hpp\""));
  CHECK(bites(check_folders, "http/main.cpp", "\"tests/testkit/clock.hpp\""));
}

TEST_CASE("the public headers of the stores stand in storage") {
  auto name = GENERATE("\"tidegate/memory_store.hpp\"",
                       "\"tidegate/sqlite_store.hpp\"",
                       "\"tidegate/sqlite_backup.hpp\"");
  CHECK(bites(check_folders, "actors/service.cpp", name));
  CHECK(bites(check_folders, "http/server.cpp", name));
  CHECK(!bites(check_folders, "http/main.cpp", name));
  CHECK(!bites(check_folders, "storage/sqlite_store.cpp", name));
}

TEST_CASE("the outer folders include the actors and themselves") {
  CHECK(!bites(check_folders, "http/server.cpp", "\"tidegate/store.hpp\""));
  CHECK(!bites(check_folders, "http/server.cpp", "\"http/keys.hpp\""));
  CHECK(!bites(check_folders, "http/server.cpp", "<vector>"));
}

TEST_CASE("the logic includes nothing but std, values and itself") {
  auto good = GENERATE("<vector>", "\"tidegate/job.hpp\"",
                       "\"actors/core/gate.hpp\"");
  auto bad = GENERATE("<caf/actor.hpp>", "\"caf/actor.hpp\"", "<boost/url.hpp>",
                      "<nlohmann/json.hpp>", "<sqlite3.h>", "<openssl/evp.h>",
                      "<unistd.h>", "\"actors/queue_actor.hpp\"",
                      "\"tidegate/protocol.hpp\"");
  CHECK(!bites(check_core_includes, "actors/core/gate.cpp", good));
  CHECK(bites(check_core_includes, "actors/core/gate.cpp", bad));
  CHECK(bites(check_core_includes, "actors/include/tidegate/job.hpp", bad));
}

TEST_CASE("values do not include the logic, actors may include all") {
  CHECK(bites(check_core_includes, "actors/include/tidegate/job.hpp",
              "\"actors/core/gate.hpp\""));
  CHECK(!bites(check_core_includes, "actors/include/tidegate/protocol.hpp",
               "<caf/actor.hpp>"));
  CHECK(
    !bites(check_core_includes, "actors/queue_actor.cpp", "<caf/actor.hpp>"));
}

TEST_CASE("the logic is pure") {
  auto line = GENERATE("auto now = std::chrono::steady_clock::now();",
                       "auto path = std::getenv(\"PATH\");", "srand(rand());",
                       "std::mt19937 engine;", "std::cerr << 1;",
                       "#include <random>", "std::time(nullptr);");
  CHECK(lines_found(check_core_is_pure, "actors/core/gate.cpp", line)
        == lines{1});
  CHECK(
    lines_found(check_core_is_pure, "actors/queue_actor.cpp", line).empty());
}

TEST_CASE("the logic may speak of impure things") {
  auto line = GENERATE("// never steady_clock::now()", "now.steady;",
                       "operand(1);", "auto x = \"getenv\";");
  CHECK(lines_found(check_core_is_pure, "actors/core/gate.cpp", line).empty());
}

TEST_CASE("dear libraries stay out of headers") {
  auto name = GENERATE("<boost/beast/http.hpp>", "<boost/asio.hpp>",
                       "<spdlog/spdlog.h>", "<CLI/CLI.hpp>", "<toml++/toml.h>",
                       "<nlohmann/json.hpp>");
  CHECK(is_dear("http/server.hpp", name));
  CHECK(is_dear("tests/testkit/clock.hpp", name));
  CHECK(!is_dear("http/server.cpp", name));
  CHECK(!is_dear("http/session.hpp", name));
}

TEST_CASE("names without definitions are cheap") {
  CHECK(!is_dear("http/server.hpp", "<nlohmann/json_fwd.hpp>"));
  CHECK(!is_dear("http/server.hpp", "<boost/version.hpp>"));
}

TEST_CASE("a header is dear if one that it includes is") {
  std::vector<source> tree{
    from_text("http/client.hpp", "#include \"http/client_a.hpp\"\n"),
    from_text("http/client_a.hpp", "#include \"http/client_b.hpp\"\n"),
    from_text("http/client_b.hpp",
              "#include \"http/client_a.hpp\"\n"
              "#include <boost/asio/read.hpp>\n"),
    from_text("http/other.hpp", "#include \"http/client_c.hpp\"\n"),
    from_text("http/client_c.hpp", "#include <vector>\n"),
  };
  CHECK(check_heavy_includes(tree)
        == findings{{"http/client.hpp", 1,
                     "http/client_a.hpp is too dear for a header"}});
}

TEST_CASE("nobody includes all of CAF") {
  CHECK(is_dear("actors/service.cpp", "<caf/all.hpp>"));
  CHECK(is_dear("tests/actors/x.cpp", "\"caf/all.hpp\""));
}

TEST_CASE("only the codec reads and writes JSON documents") {
  CHECK(bites(check_json, "http/api.cpp", "<nlohmann/json.hpp>"));
  CHECK(!bites(check_json, "http/codec_queue.cpp", "<nlohmann/json.hpp>"));
  CHECK(!bites(check_json, "tests/http/api.cpp", "<nlohmann/json.hpp>"));
}

// -- every file ---------------------------------------------------------------

TEST_CASE("a line has 80 characters, however many bytes they take") {
  std::string umlauts;
  for (int i = 0; i < 80; ++i)
    umlauts += "\u00e4";
  CHECK(lines_found(check_lines, "x.cpp", umlauts).empty());
  CHECK(lines_found(check_lines, "x.cpp", "\n" + umlauts + "x") == lines{2});
  CHECK(lines_found(check_lines, "x.md", umlauts + "x").empty());
}

TEST_CASE("a tab is found in every kind of file") {
  CHECK(lines_found(check_lines, "x.cpp", "\tx") == lines{1});
  CHECK(lines_found(check_lines, "CMakeLists.txt", "\n\tx") == lines{2});
}

TEST_CASE("a header without its pragma is found") {
  CHECK(lines_found(check_headers, "x.hpp", "int x;\n") == lines{0});
  CHECK(lines_found(check_headers, "x.hpp", "// #pragma once\n") == lines{0});
  CHECK(lines_found(check_headers, "x.hpp", "//\n#pragma once\n").empty());
  CHECK(lines_found(check_headers, "x.cpp", "int x;\n").empty());
}

TEST_CASE("what is left to do needs an issue") {
  auto mark = GENERATE(as<std::string>{},
                       "TO"
                       "DO",
                       "FIX"
                       "ME",
                       "XX"
                       "X");
  CHECK(lines_found(check_left_to_do, "x.md", "\n" + mark + ": more")
        == lines{2});
  CHECK(lines_found(check_left_to_do, "x.cpp", "// " + mark + "(somebody)")
        == lines{1});
  CHECK(lines_found(check_left_to_do, "x.cpp", "// " + mark + "(#12)").empty());
  CHECK(
    lines_found(check_left_to_do, "x.sh", "mktemp x." + mark + "X").empty());
}

TEST_CASE("a function has 70 lines") {
  CHECK(lines_found(check_function_length, "x.cpp", function_of(70)).empty());
  CHECK(lines_found(check_function_length, "x.cpp", function_of(71))
        == lines{1});
  CHECK(
    lines_found(check_function_length, "tests/x.cpp", function_of(71)).empty());
}

TEST_CASE("functions are found in namespaces and types") {
  auto around = GENERATE(as<std::string>{}, "namespace a::b {\n",
                         "namespace {\n", "class x : public y {\n",
                         "extern {\n", "template <class T>\nstruct x<T*> {\n",
                         "enum class x { a, b };\nstruct y {\n");
  auto first = static_cast<std::size_t>(
    std::count(around.begin(), around.end(), '\n') + 1);
  CHECK(lines_found(check_function_length, "x.cpp",
                    around + function_of(71) + "};\n")
        == lines{first});
  CHECK(lines_found(check_function_length, "x.cpp",
                    around + function_of(40) + function_of(40) + "};\n")
          .empty());
}

TEST_CASE("what is inside a function counts as its lines") {
  auto text = "void f() {\n  auto g = [](int x) {\n" + function_of(30)
              + "  };\n" + function_of(40) + "}\n";
  CHECK(lines_found(check_function_length, "x.cpp", text) == lines{1});
}

TEST_CASE("a long table is no function") {
  std::string text = "const int table[] = {\n";
  for (int i = 0; i < 100; ++i)
    text += "  1,\n";
  CHECK(lines_found(check_function_length, "x.cpp", text + "};\n").empty());
}

TEST_CASE("tests do not sleep, but for those over real sockets") {
  auto line = GENERATE("std::this_thread::sleep_for(1s);", "usleep(1);",
                       "sleep(1);");
  CHECK(lines_found(check_sleeps, "tests/actors/x.cpp", line) == lines{1});
  CHECK(lines_found(check_sleeps, "tests/http/x.cpp", line).empty());
  CHECK(lines_found(check_sleeps, "tests/bench/x.cpp", line).empty());
  CHECK(lines_found(check_sleeps, "http/x.cpp", line).empty());
}

TEST_CASE("a file that no build file names is found") {
  std::vector<source> tree{
    from_text("tests/CMakeLists.txt", "add(core/a.cpp \"b.cpp\") # c.cpp\n"),
    from_text("tests/core/CMakeLists.txt", "add(x\n  d.cpp)\n"),
    from_text("tests/core/a.cpp", ""),
    from_text("tests/b.cpp", ""),
    from_text("tests/c.cpp", ""),
    from_text("tests/core/d.cpp", ""),
    from_text("tests/actors/d.cpp", ""),
  };
  findings expected{{"tests/c.cpp", 0, "in no CMakeLists.txt"},
                    {"tests/actors/d.cpp", 0, "in no CMakeLists.txt"}};
  CHECK(check_linked(tree) == expected);
}

} // namespace tidegate::tidy
