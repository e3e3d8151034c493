// Where exceptions stop: no door of the storage lets one through.

#pragma once

#include <exception>
#include <string>
#include <type_traits>

#include "tidegate/error.hpp"

namespace tidegate {

/// Returns what `f()` returns, and whatever it throws as an error.
template <class F>
std::invoke_result_t<F> guarded(F f) noexcept {
  try {
    return f();
  } catch (const std::exception& reason) {
    return error{errc::storage_unavailable, reason.what()};
  }
}

} // namespace tidegate
