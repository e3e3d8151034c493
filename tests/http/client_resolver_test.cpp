// Looking names up.

#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/client_connector.hpp"
#include "http/client_resolver.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

const lookup_result some_address{{make_v4(0x01010101)}, {}};

// Look-ups that are not answered before that is asked for.
class stuck_lookups {
public:
  lookup_function function() {
    return [s = state_](const std::string& host, lookup_callback done) {
      std::lock_guard guard{s->mutex};
      s->started.push_back(host);
      s->waiting.push_back(std::move(done));
    };
  }

  void release() {
    std::vector<lookup_callback> all;
    {
      std::lock_guard guard{state_->mutex};
      all.swap(state_->waiting);
    }
    for (const auto& done : all)
      done(some_address);
  }

  std::vector<std::string> started() const {
    std::lock_guard guard{state_->mutex};
    return state_->started;
  }

private:
  struct state {
    std::mutex mutex;
    std::vector<std::string> started;
    std::vector<lookup_callback> waiting;
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

TEST_CASE("those who ask for the same name share one look-up") {
  stuck_lookups lookups;
  client_resolver resolver{{.lookup = lookups.function()}};
  question first{resolver, "a"};
  question second{resolver, "a"};
  lookups.release();
  CHECK(first.answer().addresses.size() == 1);
  CHECK(second.answer().addresses.size() == 1);
  CHECK(lookups.started() == std::vector<std::string>{"a"});
}

TEST_CASE("an answer is used again for a while, an error is not") {
  auto count = std::make_shared<std::atomic<int>>(0);
  auto lookup = [count](const std::string& host, const lookup_callback& done) {
    ++*count;
    done(host == "bad" ? lookup_result{{}, "no such name"} : some_address);
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

TEST_CASE("stuck look-ups do not keep other names waiting") {
  stuck_lookups stuck;
  auto lookup = [stuck = stuck.function()](const std::string& host,
                                           lookup_callback done) {
    return host == "swift" ? done(some_address) : stuck(host, std::move(done));
  };
  client_resolver resolver{{.lookup = lookup}};
  std::vector<question> questions;
  for (auto i = 0; i < 1000; ++i)
    questions.emplace_back(resolver, "stuck" + std::to_string(i));
  CHECK(question{resolver, "swift"}.answer().addresses.size() == 1);
}

TEST_CASE("more names than may be looked up at once are refused") {
  stuck_lookups lookups;
  client_resolver resolver{{.lookup = lookups.function(), .names_max = 2}};
  question first{resolver, "a"};
  question second{resolver, "b"};
  CHECK(question{resolver, "c"}.answer().error
        == "too many look-ups are waiting");
  question fourth{resolver, "b"};
  lookups.release();
  CHECK(fourth.answer().addresses.size() == 1);
  question fifth{resolver, "c"};
  lookups.release();
  CHECK(fifth.answer().addresses.size() == 1);
}

TEST_CASE("more callers than may wait are refused, until somebody gives up") {
  stuck_lookups lookups;
  client_resolver resolver{{.lookup = lookups.function(), .waiting_max = 2}};
  question first{resolver, "a"};
  question second{resolver, "a"};
  CHECK(question{resolver, "a"}.answer().error
        == "too many look-ups are waiting");
  second.ticket = nullptr;
  question third{resolver, "a"};
  lookups.release();
  CHECK(third.answer().addresses.size() == 1);
}

TEST_CASE("nobody is answered once the resolver has stopped") {
  stuck_lookups lookups;
  auto resolver =
    std::make_unique<client_resolver>(resolver_options{lookups.function()});
  auto answered = std::make_shared<std::atomic<bool>>(false);
  auto ticket = resolver->resolve("a", [answered](const lookup_result&) {
    *answered = true;
  });
  SECTION("it is still there") {
    resolver->stop();
    lookups.release();
  }
  SECTION("it has gone") {
    resolver = nullptr;
    lookups.release();
  }
  CHECK_FALSE(*answered);
}

TEST_CASE("addresses of both families take turns") {
  auto v4 = [](std::uint32_t x) { return make_v4(x); };
  auto v6 = [](const char* x) { return *parse_ip_address(x); };
  CHECK(interleave({v6("::1"), v6("::2"), v6("::3"), v4(1), v4(2)})
        == std::vector{v6("::1"), v4(1), v6("::2"), v4(2), v6("::3")});
  CHECK(interleave({v4(1), v4(2)}) == std::vector{v4(1), v4(2)});
}
