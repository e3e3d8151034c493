#include "http/out_of_memory.hpp"

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include <openssl/crypto.h>
#include <unistd.h>

namespace tidegate::http {

namespace {

thread_local int excuses = 0;

[[noreturn]] void end() {
  constexpr std::string_view line = "tidegate: out of memory\n";
  [[maybe_unused]] auto size = write(STDERR_FILENO, line.data(), line.size());
  std::_Exit(EXIT_FAILURE);
}

void on_failure() {
  // What is thrown while another exception is on its way ends the process, too.
  if (excuses > 0 && std::uncaught_exceptions() == 0)
    throw std::bad_alloc{};
  end();
}

// OpenSSL would say that there is no randomness, or no digest.

void* allocate(std::size_t size, const char*, int) {
  auto result = std::malloc(size);
  if (result == nullptr && size > 0)
    end();
  return result;
}

void* reallocate(void* what, std::size_t size, const char*, int) {
  auto result = std::realloc(what, size);
  if (result == nullptr && size > 0)
    end();
  return result;
}

void release(void* what, const char*, int) {
  std::free(what);
}

} // namespace

void end_when_out_of_memory() {
  std::set_new_handler(on_failure);
  CRYPTO_set_mem_functions(allocate, reallocate, release);
}

excusable_allocations::excusable_allocations() {
  ++excuses;
}

excusable_allocations::~excusable_allocations() {
  --excuses;
}

} // namespace tidegate::http
