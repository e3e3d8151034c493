// What records may say of jobs, for every store.

#pragma once

#include <optional>

#include "tidegate/error.hpp"
#include "tidegate/job.hpp"

namespace tidegate {

inline bool has_ended(const job& what) {
  return what.status == job_status::completed
         || what.status == job_status::dead;
}

inline error not_live(const job& what) {
  return {errc::storage_unavailable,
          to_string(what.id) + " is not a live job of its queue"};
}

inline error wrong_status(const job& what) {
  return {errc::storage_unavailable,
          to_string(what.id) + " cannot be stored as " + to_string(what.status)
            + " by this record"};
}

/// Returns whether an update of a message may hand it out. It does where the
/// message has had fewer deliveries; else it only extends a lease. When
/// it was handed out says `waits_since`.
inline bool may_be_receive(const job& what,
                           const std::optional<history_entry>& entry) {
  return what.status == job_status::awaiting_ack && !entry;
}

} // namespace tidegate
