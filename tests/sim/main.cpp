// tidegate-sim: lives through a plan and says what became of it.

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/sim/plan.hpp"
#include "tests/sim/report.hpp"
#include "tests/sim/run.hpp"
#include "tests/whole_number.hpp"

namespace {

using namespace tidegate::sim;

/// What a plan that makes no sense ends with, as wrong words do.
constexpr int exit_wrong = 2;

struct options {
  std::string file;
  std::uint64_t seed = 1;
  std::string json;
  std::string svg;
};

int complain(const std::string& file, const tidegate::http::complaints& wrong) {
  for (auto& sentence : wrong.form)
    std::cerr << "tidegate-sim: " << file << ": " << sentence << '\n';
  for (auto& [field, message] : wrong.fields)
    std::cerr << "tidegate-sim: " << file << ": " << field << ' ' << message
              << '\n';
  return exit_wrong;
}

/// Writes a file that was asked for. Returns whether that worked.
bool write(const std::string& file, const std::string& content) {
  if (file.empty())
    return true;
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << content;
  out.close();
  if (out)
    return true;
  std::cerr << "tidegate-sim: " << file << " cannot be written\n";
  return false;
}

int run(const options& what) {
  auto read = load_plan(what.file);
  if (auto wrong = std::get_if<tidegate::http::complaints>(&read))
    return complain(what.file, *wrong);
  auto& plan = std::get<tidegate::sim::plan>(read);
  std::vector<outcome> results;
  for (auto& each : plan.variants)
    results.push_back(simulate(plan, each, what.seed));
  std::cout << to_table(plan, what.seed, results) << std::flush;
  if (!std::cout)
    std::cerr << "tidegate-sim: the table cannot be written\n";
  auto written = std::cout
                 && write(what.json, to_json(plan, what.seed, results))
                 && write(what.svg, to_svg(plan, what.seed, results));
  return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  options what;
  CLI::App app{
    "Lives through a plan in virtual time, with the queue as it is "
    "and a modelled downstream",
    "tidegate-sim"};
  app
    .add_option("plan", what.file, "what is simulated, see tests/sim/README.md")
    ->type_name("PLAN.json")
    ->required();
  app
    .add_option("--seed", what.seed,
                "what chance decides; the same seed gives the same output (1)")
    ->type_name("N")
    ->check(tidegate::check_whole_number);
  app.add_option("--json", what.json, "write the outcome there (none)")
    ->type_name("FILE");
  app.add_option("--svg", what.svg, "write plots there (none)")
    ->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? EXIT_SUCCESS : exit_wrong;
  }
  try {
    return run(what);
  } catch (const std::exception& e) {
    std::cerr << "tidegate-sim: " << e.what() << '\n';
    return EXIT_FAILURE;
  }
}
