// The world of a random life.

#pragma once

#include <chrono>
#include <cstdint>

#include "tests/testkit/world.hpp"

namespace tidegate::testkit {

/// Nothing is removed and nobody else changes keys: looking for that every
/// second would take longer than all the rest. Every third seed has messages
/// handled in the order of their sending.
inline world_options options_of(std::uint64_t seed) {
  world_options result;
  result.seed = seed % 3 == 0 ? 0 : seed;
  result.api_keys_pause = duration{0};
  result.removal_pause = std::chrono::minutes{10};
  return result;
}

} // namespace tidegate::testkit
