// What a queue wants done: named values, carried out by somebody else.

#pragma once

#include <variant>
#include <vector>

#include "tidegate/event.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/store.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// Send this job out; its outcome is owed to the queue.
struct start_delivery {
  delivery what;
};

/// Read these jobs from the store; they are owed to the queue.
struct load_jobs {
  std::vector<job_seq> seqs;
};

/// Tell whoever listens.
struct emit {
  service_event event;
};

using effect = std::variant<start_delivery, load_jobs, emit>;

/// The answer of a queue to an event: first `records` are committed, then
/// `effects` are carried out, in order. Without records the effects may be
/// carried out at once.
struct transition {
  std::vector<record> records;
  std::vector<effect> effects;

  bool empty() const {
    return records.empty() && effects.empty();
  }
};

} // namespace tidegate
