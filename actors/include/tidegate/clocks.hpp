// Reading the clocks of the machine.

#pragma once

#include "tidegate/time.hpp"

namespace tidegate {

/// Reads the machine's steady clock, the one that CAF's schedulers use, and its
/// wall clock. Any thread.
///
/// The two cannot be read at the same instant, so the distance between them
/// would waver by some microseconds from call to call, and with it every
/// instant that is shown. Hence the wall clock is taken to be the steady clock
/// plus a distance that changes only when the wall clock has been set: when it
/// is more than a millisecond away from where it should be.
moment read_clocks();

} // namespace tidegate
