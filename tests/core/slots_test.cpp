// The limit on deliveries in flight.

#include "actors/core/slots.hpp"

#include <catch2/catch.hpp>

using tidegate::slots;

TEST_CASE("slots are full when as many are taken as there are") {
  slots s{2};
  CHECK_FALSE(s.full());
  s.take();
  CHECK_FALSE(s.full());
  s.take();
  CHECK(s.full());
  s.give_back();
  CHECK_FALSE(s.full());
  CHECK(s.taken() == 1);
}

TEST_CASE("a lower limit takes nothing back but lets nothing start") {
  slots s{3};
  s.take();
  s.take();
  s.take();
  s.limit(1);
  CHECK(s.taken() == 3);
  s.give_back();
  s.give_back();
  CHECK(s.full());
  s.give_back();
  CHECK_FALSE(s.full());
}

TEST_CASE("a higher limit makes room at once") {
  slots s{1};
  s.take();
  s.limit(2);
  CHECK_FALSE(s.full());
  CHECK(s.limit() == 2);
}
