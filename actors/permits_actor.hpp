// The PERMITS actor: shares out what may be in flight over all queues.

#pragma once

#include <cstdint>
#include <unordered_map>

#include <caf/system_messages.hpp>

#include "actors/core/permits.hpp"
#include "actors/queue_upkeep.hpp"

namespace tidegate {

/// Knows its takers by their actor ids. It watches each one, so that the
/// permits of a dead one come back, those on their way to it included.
class permits_state {
public:
  explicit permits_state(permits_actor::pointer self);

  static inline const char* name = "tidegate.permits";

  void open(std::uint64_t max);
  void handle(const ask_permits& request, const permit_taker& taker);

  /// From the taker itself, sent with its own `send`.
  void handle(const return_permits& message);

  void handle(const caf::down_msg& message);

private:
  void share_out();

  permits_actor::pointer self_;
  permits permits_{0};
  std::unordered_map<permits::taker, permit_taker> takers_;
};

/// @param max Most permits that are out at once; at least 1
permits_actor::behavior_type
make_permits(permits_actor::stateful_pointer<permits_state> self,
             std::uint64_t max);

} // namespace tidegate
