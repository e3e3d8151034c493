// `tidegate queues`, `jobs`, `dlq`, `pull`, `operations`, `tail`: calls of the
// API, made by hand.

#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "http/cli_client.hpp"
#include "tidegate/time.hpp"

namespace tidegate::http {

/// What a command ends with.
enum cli_exit : int {
  /// It was done.
  exit_done = 0,
  /// The server refused, or the thing is not there.
  exit_refused = 1,
  /// The command makes no sense.
  exit_usage = 2,
  /// There is no server, or none that could be understood.
  exit_unreachable = 3,
};

/// A command with its words.
struct cli_call {
  cli_target target;

  /// Print what the API answers instead of tables.
  bool json = false;

  /// `queues` and `list`; a command that is no group has no verb.
  std::string group;
  std::string verb;

  /// Its words by their names; of a flag there are none. Numbers are numbers as
  /// JSON has them.
  std::map<std::string, std::vector<std::string>> words;
};

/// What a command has around it.
struct cli_world {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;

  /// Whether `out` is a terminal, which can show how far something is.
  bool out_is_terminal = false;

  std::function<wall_time()> now;

  /// Waits.
  std::function<void(duration)> sleep;
};

/// Carries a command out. What it answers goes to `out`; what is wrong goes to
/// `err`, in one sentence.
int run_cli(const cli_call& call, const cli_world& world);

} // namespace tidegate::http
