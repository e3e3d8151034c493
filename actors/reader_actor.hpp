// The READER actor: looks things up beside the PERSISTENCE actor.

#pragma once

#include <memory>

#include "actors/storage_protocol.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

class reader_state {
public:
  reader_state();

  static inline const char* name = "tidegate.reader";

  std::unique_ptr<store_reader> door;
};

reader_actor::behavior_type
make_reader(reader_actor::stateful_pointer<reader_state> self,
            std::shared_ptr<std::unique_ptr<store_reader>> door);

} // namespace tidegate
