// The life of a queue in which everything happens, as a seed decides.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidegate/store.hpp"

namespace tidegate::testkit {

/// How long the tests have a queue live. Unit: steps.
inline constexpr unsigned usual_life = 120;

/// Has a queue of this kind live `steps` steps and then lets everything end
/// well. Returns what went wrong and in which step, nothing where all was well;
/// it stops at the step in which something did. The same arguments give the
/// same life.
std::vector<std::string> live(queue_kind kind, std::uint64_t seed,
                              unsigned steps = usual_life);

} // namespace tidegate::testkit
