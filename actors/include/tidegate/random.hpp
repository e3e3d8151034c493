// Random bits from the machine.

#pragma once

#include <cstdint>

namespace tidegate {

/// Returns 64 random bits of the operating system, which nobody can predict.
/// Any thread. Throws `std::exception` where the system has none to give.
std::uint64_t draw_random();

} // namespace tidegate
