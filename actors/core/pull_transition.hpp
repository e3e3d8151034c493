// What a pull queue wants done: named values, carried out by somebody else.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "actors/core/transition.hpp"
#include "tidegate/pull_messages.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Number of somebody who waits for messages.
using waiter_id = std::uint64_t;

/// Give these messages to a waiter, who waits no more; none: its time is over.
struct hand_out {
  waiter_id waiter = 0;
  std::vector<message_view> messages;
};

/// Read these messages from the store; they are owed to the queue.
struct load_messages {
  std::vector<job_seq> seqs;
};

/// Find or make the dead-letter queue; its number is owed to the queue.
struct find_dead_letter_queue {};

/// These messages have come to another queue.
struct send_away {
  queue_id to;
  std::vector<live_job> messages;
};

using pull_effect =
  std::variant<hand_out, load_messages, find_dead_letter_queue, send_away,
               start_delivery, take_permits, leave_permits, emit, give_account>;

/// Like `transition`: first the records are committed, then the effects are
/// carried out.
struct pull_transition {
  std::vector<record> records;
  std::vector<pull_effect> effects;

  /// Where among the records the totals are, which are stored once.
  std::optional<std::size_t> totals_at;

  void store(const update_pull_totals& totals) {
    if (!totals_at) {
      totals_at = records.size();
      records.emplace_back(totals);
    } else {
      records[*totals_at] = totals;
    }
  }

  bool empty() const {
    return records.empty() && effects.empty();
  }
};

} // namespace tidegate
