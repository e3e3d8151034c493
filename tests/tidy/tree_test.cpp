// The rules, applied to the tree that this was built from.

#include <catch2/catch.hpp>

#include "tests/tidy/layers.hpp"
#include "tests/tidy/rules.hpp"

namespace tidegate::tidy {

namespace {

const std::vector<source>& tree() {
  static const auto result = read_tree(SOURCE_DIR);
  return result;
}

void report(const findings& found) {
  for (const auto& [path, line, message] : found)
    FAIL_CHECK(path << ":" << line << ": " << message);
}

void apply_to_tree(findings (*rule)(const source&)) {
  for (const auto& file : tree())
    report(rule(file));
}

} // namespace

TEST_CASE("the tree that is checked is there") {
  CHECK(tree().size() > 50);
}

TEST_CASE("folders include along the arrows of the architecture") {
  apply_to_tree(check_folders);
}

TEST_CASE("values and logic include the standard library only") {
  apply_to_tree(check_core_includes);
}

TEST_CASE("the logic reads no clock and draws no random number") {
  apply_to_tree(check_core_is_pure);
}

TEST_CASE("what is dear to compile stays out of headers") {
  report(check_heavy_includes(tree()));
}

TEST_CASE("only the codec knows the JSON library") {
  apply_to_tree(check_json);
}

TEST_CASE("lines are short and without tabs") {
  apply_to_tree(check_lines);
}

TEST_CASE("every header can be included twice") {
  apply_to_tree(check_headers);
}

TEST_CASE("whatever is left to do has an issue") {
  apply_to_tree(check_left_to_do);
}

TEST_CASE("no function is longer than a screen") {
  apply_to_tree(check_function_length);
}

TEST_CASE("tests wait in virtual time") {
  apply_to_tree(check_sleeps);
}

TEST_CASE("every source file is built") {
  report(check_linked(tree()));
}

} // namespace tidegate::tidy
