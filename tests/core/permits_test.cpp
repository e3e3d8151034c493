// Sharing out what may be in flight over all queues.

#include "actors/core/permits.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

using tidegate::permits;

using grants = std::vector<permits::grant>;

TEST_CASE("whoever asks alone gets all that it asks for, if there is so much") {
  permits p{10};
  p.ask(1, 4);
  CHECK(p.share_out() == grants{{1, 4}});
  p.ask(1, 20);
  CHECK(p.share_out() == grants{{1, 6}});
  CHECK(p.free() == 0);
  CHECK(p.share_out().empty());
}

TEST_CASE("permits go round one by one, so that nobody starves another") {
  permits p{4};
  p.ask(1, 1000);
  CHECK(p.share_out() == grants{{1, 4}});
  p.ask(2, 1);
  p.ask(3, 1000);
  p.give_back(1, 4);
  CHECK(p.share_out() == grants{{1, 2}, {2, 1}, {3, 1}});
}

TEST_CASE("a taker that got one goes to the end of the ring") {
  permits p{1};
  for (permits::taker who : {1, 2, 3})
    p.ask(who, 2);
  std::vector<permits::taker> order;
  for (int i = 0; i < 6; ++i) {
    auto given = p.share_out();
    REQUIRE(given.size() == 1);
    order.push_back(given.front().who);
    p.give_back(given.front().who, 1);
  }
  CHECK(order == std::vector<permits::taker>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("asking again replaces what was asked for and keeps the place") {
  permits p{1};
  p.ask(9, 1);
  p.share_out();
  p.ask(1, 5);
  p.ask(2, 5);
  p.ask(1, 1);
  p.give_back(9, 1);
  CHECK(p.share_out() == grants{{1, 1}});
  p.give_back(1, 1);
  CHECK(p.share_out() == grants{{2, 1}});
}

TEST_CASE("whoever asks for none gets none") {
  permits p{2};
  p.ask(1, 3);
  p.ask(1, 0);
  CHECK(p.share_out().empty());
  p.ask(1, 1);
  CHECK(p.share_out() == grants{{1, 1}});
}

TEST_CASE("what a taker had is free again once it is forgotten") {
  permits p{3};
  p.ask(1, 5);
  p.share_out();
  p.ask(2, 5);
  p.forget(1);
  CHECK(p.share_out() == grants{{2, 3}});
  p.forget(7);
  CHECK(p.free() == 0);
}

TEST_CASE("more than was taken cannot be given back") {
  permits p{3};
  p.ask(1, 2);
  p.share_out();
  p.give_back(1, 9);
  p.give_back(1, 1);
  p.give_back(2, 1);
  CHECK(p.free() == 3);
}

TEST_CASE("whatever happens, never more are out than there are") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 lots{seed};
    auto max = lots() % 6;
    permits p{max};
    std::map<permits::taker, std::uint64_t> out;
    for (int step = 0; step < 500; ++step) {
      permits::taker who = lots() % 4;
      auto n = static_cast<std::uint32_t>(lots() % 4);
      switch (lots() % 4) {
        case 0:
          p.ask(who, n);
          break;
        case 1: {
          auto count = std::min<std::uint64_t>(n, out[who]);
          p.give_back(who, count);
          out[who] -= count;
          break;
        }
        case 2:
          if (n == 0) {
            p.forget(who);
            out.erase(who);
          }
          break;
        default:
          for (auto& g : p.share_out())
            out[g.who] += g.count;
      }
      std::uint64_t sum = 0;
      for (auto& [taker, count] : out) {
        CHECK(p.held_by(taker) == count);
        sum += count;
      }
      REQUIRE(sum + p.free() == max);
    }
  }
}
