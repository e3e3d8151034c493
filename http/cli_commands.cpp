#include "http/cli_commands.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

#include "http/cli_session.hpp"

namespace tidegate::http {

namespace {

struct command {
  std::string_view group;
  std::string_view verb;
  int (*run)(cli_session& self);
};

constexpr std::array commands = {
  command{"queues", "list", queues_list},
  command{"queues", "show", queues_show},
  command{"queues", "create", queues_create},
  command{"queues", "update", queues_update},
  command{"queues", "pause", queues_pause},
  command{"queues", "resume", queues_resume},
  command{"queues", "hold", queues_hold},
  command{"queues", "release", queues_release},
  command{"queues", "delete", queues_delete},
  command{"jobs", "list", jobs_list},
  command{"jobs", "show", jobs_show},
  command{"jobs", "publish", jobs_publish},
  command{"jobs", "cancel", jobs_cancel},
  command{"jobs", "run-now", jobs_run_now},
  command{"jobs", "explain", jobs_explain},
  command{"jobs", "replay", jobs_replay},
  command{"dlq", "list", dead_letters_list},
  command{"dlq", "replay", dead_letters_replay},
  command{"dlq", "delete", dead_letters_delete},
  command{"pull", "list", pull_list},
  command{"pull", "show", pull_show},
  command{"pull", "create", pull_create},
  command{"pull", "update", pull_update},
  command{"pull", "publish", pull_publish},
  command{"pull", "peek", pull_peek},
  command{"pull", "purge", pull_purge},
  command{"pull", "delete", pull_delete},
  command{"pull", "dlq", pull_dead_letters},
  command{"pull", "redrive", pull_redrive},
  command{"operations", "list", operations_list},
  command{"operations", "show", operations_show},
  command{"operations", "cancel", operations_cancel},
  command{"tail", "", tail},
};

} // namespace

int run_cli(const cli_call& call, const cli_world& world) {
  auto found = std::find_if(commands.begin(), commands.end(), [&](auto& each) {
    return each.group == call.group && each.verb == call.verb;
  });
  auto client = cli_client::make(call.target);
  if (found == commands.end() || !client) {
    world.err << "tidegate: "
              << (client ? "there is no command " + call.group + ' ' + call.verb
                         : printable(client.reason().message))
              << '\n';
    return exit_usage;
  }
  if (auto sentence = complaint_about(call)) {
    world.err << "tidegate: " << printable(*sentence) << '\n';
    return exit_usage;
  }
  cli_session self{call, world, std::move(*client)};
  auto status = found->run(self);
  world.out.flush();
  if (status == exit_done && !world.out) {
    world.err << "tidegate: the output could not be written\n";
    return exit_refused;
  }
  return status;
}

} // namespace tidegate::http
