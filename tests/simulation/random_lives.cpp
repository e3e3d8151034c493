// Lives of a queue from fresh seeds, or one of them again.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>

#include <CLI/CLI.hpp>

#include "tests/simulation/random_life.hpp"

using namespace tidegate::testkit;

int main(int argc, char** argv) {
  std::optional<std::uint64_t> seed;
  std::uint64_t count = 300;
  unsigned steps = usual_life;
  CLI::App app{"Has a queue live as chance decides", "random_lives"};
  app.add_option("--seed", seed, "live this one life (fresh ones)")
    ->type_name("S");
  app.add_option("--steps", steps, "how long each is (120)")->type_name("N");
  app.add_option("--lives", count, "how many fresh ones (300)")->type_name("N");
  CLI11_PARSE(app, argc, argv);
  if (seed)
    count = 1;
  auto first = seed.value_or(std::random_device{}());
  std::cout << count << (count == 1 ? " life" : " lives") << " of " << steps
            << " steps from seed " << first << std::endl;
  for (auto next = first; next != first + count; ++next) {
    auto complaints = live(next, steps);
    if (complaints.empty())
      continue;
    std::cout << "seed " << next << " failed\n";
    for (auto& each : complaints)
      std::cout << "  " << each << '\n';
    std::cout << "again: ./dev simulate --seed " << next << " --steps " << steps
              << '\n';
    return EXIT_FAILURE;
  }
  std::cout << "all ended well\n";
}
