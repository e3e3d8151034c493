// Permits go round, and come back.

#include <catch2/catch.hpp>

#include <memory>

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/permits_actor.hpp"
#include "tests/testkit/virtual_system.hpp"

using namespace tidegate;
using namespace tidegate::testkit;

namespace {

/// What a taker has been given in all.
using purse = std::shared_ptr<std::uint32_t>;

struct ask_for {
  std::uint32_t count = 0;
};

struct give_back {
  std::uint32_t count = 0;
};

using some_taker =
  permit_taker::extend<caf::reacts_to<ask_for>, caf::reacts_to<give_back>>;

some_taker::behavior_type taker(some_taker::pointer self, permits_actor from,
                                purse got) {
  return {
    [got](permits_granted x) { *got += x.count; },
    [=](ask_for x) {
      self->send(from, ask_permits{x.count},
                 caf::actor_cast<permit_taker>(self->address()));
    },
    [=](give_back x) { self->send(from, return_permits{x.count}); },
  };
}

class shared_out {
public:
  explicit shared_out(std::uint64_t max) : system_({}) {
    permits_ = system_.get().spawn(make_permits, max);
  }

  ~shared_out() {
    kill(permits_);
  }

  std::pair<some_taker, purse> add() {
    auto got = std::make_shared<std::uint32_t>(0);
    return {system_.get().spawn(taker, permits_, got), got};
  }

  template <class Message>
  void send(const some_taker& to, Message what) {
    caf::anon_send(to, what);
    system_.run();
  }

  template <class Handle>
  void kill(const Handle& actor) {
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    system_.run();
  }

private:
  virtual_system system_;
  permits_actor permits_;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ask_for)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(give_back)

TEST_CASE("what one gives back goes to the one who waits") {
  shared_out w{3};
  auto [a, of_a] = w.add();
  auto [b, of_b] = w.add();
  w.send(a, ask_for{10});
  w.send(b, ask_for{1});
  CHECK(*of_a == 3);
  CHECK(*of_b == 0);
  w.send(a, give_back{2});
  CHECK(*of_b == 1);
  CHECK(*of_a == 4);
  w.kill(a);
  w.kill(b);
}

TEST_CASE("what a dead taker had goes to the others") {
  shared_out w{3};
  auto [a, of_a] = w.add();
  auto [b, of_b] = w.add();
  w.send(a, ask_for{5});
  w.send(b, ask_for{5});
  CHECK(*of_b == 0);
  w.kill(a);
  CHECK(*of_b == 3);
  w.kill(b);
}

TEST_CASE("nobody can give back what it was not given") {
  shared_out w{1};
  auto [a, of_a] = w.add();
  auto [b, of_b] = w.add();
  w.send(a, ask_for{1});
  w.send(b, give_back{1});
  w.send(b, ask_for{1});
  CHECK(*of_a == 1);
  CHECK(*of_b == 0);
  w.kill(a);
  w.kill(b);
}
