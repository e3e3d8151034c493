// What a check says that found something wrong in the middle of a history.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tidegate::testing {

/// Thrown instead of a failed assertion where a test adds how it came to that.
struct broken_rule : std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws unless `kept`.
inline void must(bool kept, const char* rule) {
  if (!kept)
    throw broken_rule{rule};
}

/// How far a history has come.
struct progress {
  int step = 0;
  const char* last = "the beginning";
};

/// Lets `history` happen, which notes its progress. Where it breaks a rule,
/// adds the seed and how far it had come.
template <class F>
void tell_of_seed(std::uint64_t seed, F history) {
  progress p;
  try {
    history(p);
  } catch (const broken_rule& broken) {
    throw broken_rule{"seed " + std::to_string(seed) + ", step "
                      + std::to_string(p.step) + ", after " + p.last + ": "
                      + broken.what()};
  }
}

} // namespace tidegate::testing
