// A test of somebody who embeds Tidegate: a hold in virtual time.

#include <chrono>
#include <cstdlib>
#include <iostream>

#include <tidegate/testkit/world.hpp>

using namespace std::chrono_literals;
using namespace tidegate::testkit;

namespace {

void check(bool holds, const char* what) {
  std::cout << (holds ? "ok: " : "WRONG: ") << what << '\n';
  if (!holds)
    std::exit(EXIT_FAILURE);
}

} // namespace

int main() {
  world w{7};
  w.create("mail");
  w.downstream().behave(in_turn({{429, "3600"}, {200}}));
  auto id = w.put("mail").id;
  w.advance(59min);
  check(w.get("mail").queue.gate.state == tidegate::gate_state::held,
        "the queue is held for an hour");
  w.advance(2min);
  check(w.get(id).record.job.status == tidegate::job_status::completed,
        "the job is done after it");
  check(w.downstream().arrivals().size() == 2, "nothing went out in between");
}
