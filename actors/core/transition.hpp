// What a queue wants done: named values, carried out by somebody else.

#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "tidegate/delivery_account.hpp"
#include "tidegate/event.hpp"
#include "tidegate/ids.hpp"
#include "tidegate/store.hpp"
#include "tidegate/transport.hpp"

namespace tidegate {

/// Send this job out; its end is owed to the queue.
struct start_delivery {
  delivery what;
};

/// End this delivery early; its end is owed all the same.
struct stop_delivery {
  job_seq job;
  std::uint64_t number = 0;
};

/// Read these jobs from the store; they are owed to the queue.
struct load_jobs {
  std::vector<job_seq> seqs;
};

/// Ask for permits to deliver; they are owed to the queue.
struct take_permits {
  std::uint32_t count = 0;
};

/// Permits that are not needed any more.
struct leave_permits {
  std::uint32_t count = 0;
};

/// Tell whoever listens.
struct emit {
  service_event event;
};

/// Tell whoever keeps account of the deliveries.
struct give_account {
  delivery_account what;
};

using effect = std::variant<start_delivery, stop_delivery, load_jobs,
                            take_permits, leave_permits, emit, give_account>;

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
