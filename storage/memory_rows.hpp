// What records change in a job of the memory store.

#pragma once

#include "tidegate/job.hpp"

namespace tidegate {

/// Takes over what deliveries change; the rest stays as it was published.
inline void change(job& stored, const job& what) {
  stored.status = what.status;
  stored.attempts = what.attempts;
  stored.defers = what.defers;
  stored.deliveries = what.deliveries;
  stored.due = what.due;
  stored.waits_for = what.waits_for;
  stored.waits_since = what.waits_since;
  stored.expires_at = what.expires_at;
  stored.started_delivery = what.started_delivery;
  stored.reported = what.reported;
  stored.reported_delivery = what.reported_delivery;
}

/// Adds to the history of a job, which keeps the newest entries.
inline void add(job_record& to, const history_entry& entry) {
  to.history.push_back(entry);
  if (to.history.size() <= history_max)
    return;
  to.history.erase(to.history.begin());
  ++to.history_dropped;
}

/// Takes over where a message came from: nothing, where it was published in its
/// queue.
inline void take_source(job& stored, const job& what) {
  auto moved = !what.source_queue.empty();
  stored.source_queue = what.source_queue;
  stored.source_receives = moved ? what.source_receives : 0;
  stored.dead_lettered_at = moved ? what.dead_lettered_at : std::nullopt;
}

/// Takes over what is set at publish, and again when a job is given another
/// life or another queue.
inline void change_life(job& stored, const job& what) {
  stored.eligible_at = what.eligible_at;
  stored.replays = what.replays;
  stored.background = what.background;
  take_source(stored, what);
}

} // namespace tidegate
