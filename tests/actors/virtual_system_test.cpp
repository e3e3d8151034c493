// When timers fire in virtual time, and in which order.

#include "tests/testkit/virtual_system.hpp"

#include <set>
#include <string>

#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tidegate;

namespace {

constexpr moment start{steady_time{1s}, wall_time{1000s}};

/// Notes in which order its timers and those of `after` fire.
class timers {
public:
  explicit timers(std::uint64_t seed) : system_(start, seed) {
    actor_ = system_.get().spawn([this]() -> caf::behavior {
      return {[this](const std::string& name) { note(name); }};
    });
  }

  ~timers() {
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
    system_.run();
  }

  void of_actor(duration wait, std::string name) {
    caf::delayed_anon_send(actor_, wait, std::move(name));
  }

  void of_test(duration wait, std::string name) {
    system_.after(wait, [this, name] { note(name); });
  }

  testkit::virtual_system& system() {
    return system_;
  }

  std::string noted;

private:
  void note(const std::string& name) {
    noted += name + "@"
             + std::to_string((system_.now().steady - start.steady) / 1s) + " ";
  }

  testkit::virtual_system system_;
  caf::actor actor_;
};

/// Two timers of either kind at the same instant.
std::string order_at_one_instant(std::uint64_t seed) {
  timers t{seed};
  t.of_actor(1s, "actor");
  t.of_test(1s, "test");
  t.system().advance(1s);
  return t.noted;
}

} // namespace

TEST_CASE("a timer in virtual time fires at its time, whoever has set it") {
  timers t{GENERATE(0u, 7u)};
  t.of_test(3s, "c");
  t.of_actor(2s, "b");
  t.of_test(1s, "a");
  t.of_actor(9s, "never");
  t.of_test(9s, "never");
  t.system().advance(1s);
  CHECK(t.noted == "a@1 ");
  t.system().advance(4s);
  CHECK(t.noted == "a@1 b@2 c@3 ");
  CHECK(t.system().now().wall == start.wall + 5s);
}

TEST_CASE("a seed decides which of two timers of an instant fires first") {
  CHECK(order_at_one_instant(0) == "test@1 actor@1 ");
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    orders.insert(order_at_one_instant(seed));
    CHECK(order_at_one_instant(seed) == order_at_one_instant(seed));
  }
  CHECK(orders.size() == 2);
}
