// What every fuzz target is made of.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidegate::fuzz {

/// Tries one input. Ends the process where what holds for every input does not.
void run(std::string_view input);

/// Ends the process, so that the fuzzer keeps the input, where `holds` is
/// false. `what` says what should be.
void must(bool holds, const char* what);

/// Takes numbers from the front of an input, to decide how the rest is used.
class chooser {
public:
  explicit chooser(std::string_view input) : rest_(input) {
    // nop
  }

  /// Returns a number below `end`, 0 where the input is used up. @pre `end > 0`
  std::size_t below(std::size_t end) {
    if (rest_.empty())
      return 0;
    auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte % end;
  }

  std::string_view rest() const {
    return rest_;
  }

private:
  std::string_view rest_;
};

} // namespace tidegate::fuzz
