// What a check says that found something wrong in the middle of a history.

#pragma once

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

} // namespace tidegate::testing
