// Looking names up.

#include <catch2/catch.hpp>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include "http/client_connector.hpp"
#include "http/client_resolver.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

// A look-up that does not return before it is told to.
class stuck_lookup {
public:
  lookup_function function() {
    return [s = state_](const std::string& host) {
      std::unique_lock guard{s->mutex};
      s->started.push_back(host);
      s->changed.notify_all();
      s->changed.wait(guard, [&] { return s->released; });
      return lookup_result{{make_v4(0x01010101)}, {}};
    };
  }

  void wait_until_started(std::size_t count) {
    std::unique_lock guard{state_->mutex};
    state_->changed.wait(guard,
                         [&] { return state_->started.size() >= count; });
  }

  void release() {
    std::unique_lock guard{state_->mutex};
    state_->released = true;
    state_->changed.notify_all();
  }

  std::vector<std::string> started() {
    std::unique_lock guard{state_->mutex};
    return state_->started;
  }

  ~stuck_lookup() {
    release();
  }

private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> started;
    bool released = false;
  };

  std::shared_ptr<state> state_ = std::make_shared<state>();
};

// Asks and lets the answer come by a future.
struct question {
  question(client_resolver& resolver, const std::string& host)
    : ticket(resolver.resolve(host, [p = promise](const lookup_result& found) {
        p->set_value(found);
      })) {
    // nop
  }

  lookup_result answer() {
    return promise->get_future().get();
  }

  std::shared_ptr<std::promise<lookup_result>> promise =
    std::make_shared<std::promise<lookup_result>>();
  client_resolver::ticket ticket;
};

} // namespace

TEST_CASE("the system resolves an address to itself") {
  auto found = system_lookup("127.0.0.1");
  REQUIRE(found.addresses.size() == 1);
  CHECK(to_string(found.addresses[0]) == "127.0.0.1");
  CHECK_FALSE(system_lookup("no-such-name.invalid").error.empty());
}

TEST_CASE("those who ask for the same name share one look-up") {
  stuck_lookup lookup;
  client_resolver resolver{{.lookup = lookup.function()}};
  question first{resolver, "a"};
  lookup.wait_until_started(1);
  question second{resolver, "a"};
  lookup.release();
  CHECK(first.answer().addresses.size() == 1);
  CHECK(second.answer().addresses.size() == 1);
  CHECK(lookup.started() == std::vector<std::string>{"a"});
}

TEST_CASE("an answer is used again for a while, an error is not") {
  auto count = std::make_shared<std::atomic<int>>(0);
  auto lookup = [count](const std::string& host) {
    ++*count;
    if (host == "bad")
      return lookup_result{{}, "no such name"};
    return lookup_result{{make_v4(0x01010101)}, {}};
  };
  client_resolver resolver{
    {.lookup = lookup, .cache_for = std::chrono::hours{1}}};
  CHECK(question{resolver, "good"}.answer().addresses.size() == 1);
  CHECK(question{resolver, "good"}.answer().addresses.size() == 1);
  CHECK(*count == 1);
  CHECK(question{resolver, "bad"}.answer().error == "no such name");
  CHECK(question{resolver, "bad"}.answer().error == "no such name");
  CHECK(*count == 3);
}

TEST_CASE("a stuck look-up does not keep other names waiting") {
  stuck_lookup stuck;
  auto lookup = [stuck = stuck.function()](const std::string& host) {
    return host == "stuck" ? stuck(host)
                           : lookup_result{{make_v4(0x01010101)}, {}};
  };
  client_resolver resolver{{.lookup = lookup, .threads_max = 2}};
  question first{resolver, "stuck"};
  question second{resolver, "stuck"};
  CHECK(question{resolver, "other"}.answer().addresses.size() == 1);
}

TEST_CASE("more look-ups than may wait are refused, until somebody gives up") {
  stuck_lookup lookup;
  client_resolver resolver{
    {.lookup = lookup.function(), .threads_max = 1, .waiting_max = 2}};
  question first{resolver, "a"};
  lookup.wait_until_started(1);
  question second{resolver, "b"};
  CHECK(question{resolver, "c"}.answer().error
        == "too many look-ups are waiting");
  second.ticket = nullptr;
  question third{resolver, "d"};
  lookup.release();
  CHECK(third.answer().addresses.size() == 1);
  // Nobody waited for b any more.
  CHECK(lookup.started() == std::vector<std::string>{"a", "d"});
}

TEST_CASE("nobody is answered once the resolver has stopped") {
  stuck_lookup lookup;
  auto resolver =
    std::make_unique<client_resolver>(resolver_options{lookup.function()});
  auto answered = std::make_shared<std::atomic<bool>>(false);
  auto ticket = resolver->resolve("a", [answered](const lookup_result&) {
    *answered = true;
  });
  lookup.wait_until_started(1);
  resolver->stop();
  lookup.release();
  resolver = nullptr;
  CHECK_FALSE(*answered);
}

TEST_CASE("addresses of both families take turns") {
  auto v4 = [](std::uint32_t x) { return make_v4(x); };
  auto v6 = [](const char* x) { return *parse_ip_address(x); };
  CHECK(interleave({v6("::1"), v6("::2"), v6("::3"), v4(1), v4(2)})
        == std::vector{v6("::1"), v4(1), v6("::2"), v4(2), v6("::3")});
  CHECK(interleave({v4(1), v4(2)}) == std::vector{v4(1), v4(2)});
}
