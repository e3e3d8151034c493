// How a connection takes its share of what may be in memory.

#include <algorithm>

#include "http/problem.hpp"
#include "http/session.hpp"

namespace tidegate::http {

namespace {

/// A body up to this size that belongs to no publish takes no room. One that is
/// refused is dropped as it comes, and the connection goes on.
constexpr std::size_t small_body_max = 16 * 1024;

/// What a publish takes beside its body until it is stored.
constexpr std::size_t publish_overhead = 2 * 1024;

/// Returns what a request takes that has a body of so many bytes.
std::size_t room_for(const route& where, std::size_t bytes) {
  if (!where.open && where.required == scope::publish)
    return bytes + publish_overhead;
  return bytes > small_body_max ? bytes : 0;
}

} // namespace

bool session::make_room() {
  auto announced = static_cast<std::size_t>(reader_.announced());
  auto come = reader_.body_bytes();
  auto wanted = room_for(*admitted_.route.route, std::max(announced, come));
  if (wanted <= hold_.bytes())
    return true;
  // A body that comes in chunks grows, and asks the less often the larger it
  // is.
  if (hold_.resize(home_->core->bodies, come > announced ? 2 * wanted : wanted))
    return true;
  auto behind = !reader_.has_body() ? rest::none
                : announced > 0 && announced <= small_body_max
                    && !reader_.expects_continue()
                  ? rest::dropped
                  : rest::unread;
  refuse(make_problem(problem::overloaded,
                      "More is being sent than there is room for",
                      frame_.family),
         behind);
  return false;
}

bool session::has_room(const route& where, std::size_t bytes) {
  return hold_.resize(home_->core->bodies, room_for(where, bytes));
}

} // namespace tidegate::http
