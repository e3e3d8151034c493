// Lives of queues from fresh seeds, or one of them again.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>

#include <CLI/CLI.hpp>

#include "tests/simulation/random_life.hpp"
#include "tests/whole_number.hpp"

using namespace tidegate;
using namespace tidegate::testkit;

namespace {

struct options {
  std::uint64_t first = std::random_device{}();
  std::uint64_t count = 300;
  unsigned steps = usual_life;
};

/// Returns whether all lives of one kind ended well.
bool live_all(queue_kind kind, const options& what) {
  auto pull = kind == queue_kind::pull;
  std::cout << what.count << (what.count == 1 ? " life" : " lives") << " of a "
            << (pull ? "pull" : "push") << " queue, of " << what.steps
            << " steps, from seed " << what.first << std::endl;
  for (auto next = what.first; next != what.first + what.count; ++next) {
    auto complaints = live(kind, next, what.steps);
    if (complaints.empty())
      continue;
    std::cout << "seed " << next << " failed\n";
    for (auto& each : complaints)
      std::cout << "  " << each << '\n';
    std::cout << "again: ./dev simulate" << (pull ? " --pull" : " --push")
              << " --seed " << next << " --steps " << what.steps << '\n';
    return false;
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  options what;
  std::optional<std::uint64_t> seed;
  auto push = false;
  auto pull = false;
  CLI::App app{"Has queues live as chance decides", "random_lives"};
  app.add_option("--seed", seed, "live this one life (fresh ones)")
    ->type_name("S")
    ->check(check_whole_number);
  app.add_option("--steps", what.steps, "how long each is (120)")
    ->type_name("N")
    ->check(check_whole_number);
  app.add_option("--lives", what.count, "how many fresh ones (300)")
    ->type_name("N")
    ->check(check_whole_number);
  app.add_flag("--push", push, "only of push queues");
  app.add_flag("--pull", pull, "only of pull queues");
  CLI11_PARSE(app, argc, argv);
  if (seed) {
    what.first = *seed;
    what.count = 1;
  }
  auto both = push == pull;
  auto well = (!push && !both) || live_all(queue_kind::push, what);
  well = well && ((!pull && !both) || live_all(queue_kind::pull, what));
  if (!well)
    return EXIT_FAILURE;
  std::cout << "all ended well\n";
}
