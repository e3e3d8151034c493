// How a connection takes its share of what may be in memory.

#include <algorithm>

#include "http/problem.hpp"
#include "http/session.hpp"

namespace tidegate::http {

namespace {

/// A body up to this size is read before it is known whether there is room.
constexpr std::size_t small_body_max = 16 * 1024;

/// What a publish takes beside its body until it is stored.
constexpr std::size_t publish_overhead = 2 * 1024;

} // namespace

bool session::make_room() {
  auto bytes = std::max(reader_.announced(),
                        std::uint64_t{reader_.body_bytes()});
  if (bytes <= small_body_max || bytes <= hold_.bytes())
    return true;
  // A body that comes in chunks grows, and asks the less often the larger it
  // is.
  auto wanted = reader_.announced() > 0 ? bytes : bytes * 2;
  if (hold_.resize(home_->core->bodies, static_cast<std::size_t>(wanted)))
    return true;
  refuse(make_problem(problem::overloaded,
                      "More is being sent than there is room for",
                      frame_.family),
         false);
  return false;
}

bool session::has_room(const route& where, std::size_t bytes) {
  auto publishes = !where.open && where.required == scope::publish;
  auto wanted = publishes                ? bytes + publish_overhead
                : bytes > small_body_max ? bytes
                                         : 0;
  return hold_.resize(home_->core->bodies, wanted);
}

} // namespace tidegate::http
