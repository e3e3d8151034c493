// The PERSISTENCE actor: one commit for everything that is waiting.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/metrics_protocol.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/event.hpp"
#include "tidegate/protocol.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

class persistence_state {
public:
  explicit persistence_state(persistence_actor::pointer self);

  static inline const char* name = "tidegate.persistence";

  void open(std::unique_ptr<store> door, std::function<moment()> now,
            event_listener listener, std::shared_ptr<commit_counters> counters);

  void add(commit_request request, committer sender);
  void commit();
  caf::result<queue_snapshot> attach(queue_id queue);
  caf::result<stored_queues> load();
  caf::result<store_usable> check();
  caf::result<last_operation> find_last_operation();

private:
  struct waiting {
    committer sender;
    queue_id queue;
    std::uint64_t ticket;
    std::size_t records;
  };

  void outdate_snapshots();
  void refuse(const waiting& w, const error& reason,
              std::vector<queue_id> reached = {});
  void fail(const error& reason);
  std::optional<error> mend();
  void tell(event_kind kind, const std::string& detail);

  persistence_actor::pointer self_;
  std::unique_ptr<store> store_;
  std::function<moment()> now_;
  event_listener listener_;
  std::shared_ptr<commit_counters> counters_;
  bool broken_ = false;

  /// The batch: what is waiting, and all of its records in a row.
  std::vector<waiting> waiting_;
  std::vector<record> batch_;

  /// Queues that may not write before they have attached, with what they are
  /// to go on from where that has been read already.
  std::unordered_map<queue_id, std::optional<queue_snapshot>> lost_;
};

persistence_actor::behavior_type
make_persistence(persistence_actor::stateful_pointer<persistence_state> self,
                 std::shared_ptr<std::unique_ptr<store>> door,
                 std::function<moment()> now, event_listener listener,
                 std::shared_ptr<commit_counters> counters);

} // namespace tidegate
