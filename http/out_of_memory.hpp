// What happens when the system gives no more memory.

#pragma once

namespace tidegate::http {

/// From now on a process that is out of memory says so on stderr and ends with
/// 1: an actor that lost a message half-way would be worse than none, and what
/// was acknowledged is stored. Where an `excusable_allocations` lives the
/// thread gets `std::bad_alloc` instead. Call it before OpenSSL is used.
void end_when_out_of_memory();

/// While it lives, this thread can do without what it allocates. Lives on the
/// stack; several may be nested.
class excusable_allocations {
public:
  excusable_allocations();

  excusable_allocations(const excusable_allocations&) = delete;

  excusable_allocations& operator=(const excusable_allocations&) = delete;

  ~excusable_allocations();
};

} // namespace tidegate::http
