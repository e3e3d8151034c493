// The way in from libFuzzer.

#include "tests/fuzz/fuzz.hpp"

#include <cstdio>
#include <cstdlib>

namespace tidegate::fuzz {

void must(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

} // namespace tidegate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes,
                                      std::size_t count) {
  tidegate::fuzz::run({reinterpret_cast<const char*>(bytes), count});
  return 0;
}
